import { checkFolder } from '../../src/operations/check/folder-check.js';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';

/** Checks folders and serves them, one after the other, in a process that damage may end. */
export type Task = { check: string } | { serve: string; expected: Record<string, string> };

export interface Report {
  /** What the check has found. */
  found: string[];
  /** Answers that were not as they should be, and how many were not given. */
  wrong: string[];
  refused: number;
}

process.on('message', (task: Task) => {
  const report = 'check' in task ? check(task.check) : serve(task.serve, task.expected);
  void report.then((done) => process.send!({ found: [], wrong: [], refused: 0, ...done }));
});

async function check(folder: string): Promise<Partial<Report>> {
  const found: string[] = [];
  try {
    await checkFolder(folder, false, {
      at: () => {},
      found: ({ about, message }) => found.push(`${about}: ${message}`),
    });
  } catch (error) {
    found.push((error as Error).message);
  }
  return { found };
}

/** An answer with an error is one that is not given; what is given must be right. */
async function serve(dataDir: string, expected: Record<string, string>): Promise<Partial<Report>> {
  const wrong: string[] = [];
  let refused = 0;
  let server;
  try {
    const config = { chttpd_auth: { iterations: '10', min_iterations: '10' } };
    server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none', config });
  } catch {
    return { refused: Object.keys(expected).length };
  }
  const client = new HttpClient(server.url);
  for (const [at, text] of Object.entries(expected)) {
    // A listing that meets damage after it has begun is cut off.
    const answer = await client.get(at).catch(() => undefined);
    if (answer?.status !== 200) refused++;
    else if (answer.text !== text) wrong.push(`${at}: ${answer.text.slice(0, 200)}`);
  }
  await server.close();
  return { wrong, refused };
}
