import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { StartupError } from '../../base/startup-error.js';
import { inspectFolder } from '../../node/data-folder.js';
import type { CheckFinding, CheckSummary } from '../../operations/check/finding.js';
import { defaultDataDir } from '../command-options.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments } from './command-arguments.js';

const usage = `Usage: tuffet check [--data DIR] [--repair] [--json]

Reads everything in a data folder that no server uses, and compares what should agree: pages of the stores, records,
revision trees, changes, counters, attachments and their digests. To check a folder in use, check a backup of it.

  --data DIR    the data folder (default ./data, or TUFFET_DATA)
  --repair      put right what follows from the rest: counters, entries of the changes feed, counts of references,
                indexes. Documents and attachments that are damaged stay as they are; take a backup first
  --json        print the result as JSON

Exit code: 0 when the folder is sound, or everything was put right; 1 otherwise.
`;

type Event = { at: string } | { finding: CheckFinding } | { summary: CheckSummary } | { refused: string };

export async function check(args: string[]): Promise<number> {
  const given = readArguments('check', usage, args, {
    data: { type: 'string' },
    repair: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { data, repair = false, json } = given.values;
  const folder = path.resolve(data ?? process.env['TUFFET_DATA'] ?? defaultDataDir);
  requireUnused(folder);
  const { findings, summary } = await runChild(folder, repair);
  const left = findings.filter(({ repaired }) => !repaired);
  if (json)
    process.stdout.write(`${JSON.stringify({ ok: left.length === 0, ...summary, findings }, null, 2)}\n`);
  else process.stdout.write(report(findings, summary, repair));
  return left.length === 0 ? 0 : 1;
}

function requireUnused(folder: string): void {
  if (!fs.existsSync(path.join(folder, 'tuffet.json')))
    throw new StartupError(`${folder} is no data folder: it has no tuffet.json.`);
  const { problem, holder } = inspectFolder(folder);
  if (problem !== undefined) throw new StartupError(problem);
  if (holder !== undefined)
    throw new StartupError(
      `The data folder ${folder} is in use by process ${holder}. Stop the server, or make a backup, restore it to another folder and check that.`,
    );
}

/** Damage that LMDB stumbles over ends the child; what it was looking at then is the finding. */
async function runChild(
  folder: string,
  repair: boolean,
): Promise<{ findings: CheckFinding[]; summary: CheckSummary | undefined }> {
  const program = path.join(import.meta.dirname, 'check-child.js');
  const child = spawn(process.execPath, [program, folder, String(repair)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const bar = new ProgressBar(process.stderr);
  const findings: CheckFinding[] = [];
  let summary: CheckSummary | undefined;
  let at = folder;
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as Event;
    if ('refused' in event) throw new StartupError(event.refused);
    if ('at' in event) bar.begin((at = event.at), 0);
    else if ('finding' in event) findings.push(event.finding);
    else summary = event.summary;
  }
  const [code, signal] = await ended;
  bar.end();
  if (summary === undefined) {
    const message = `The process that read it was ended (${signal ?? `exit code ${code}`}): it is damaged. Restore the data folder from a backup.`;
    findings.push({ about: at, message, repairable: false, repaired: false });
  }
  return { findings, summary };
}

function report(
  findings: readonly CheckFinding[],
  summary: CheckSummary | undefined,
  repair: boolean,
): string {
  const lines = findings.map(
    ({ about, message, repaired }) => `${repaired ? 'repaired' : 'damaged'}: ${about}\n    ${message}\n`,
  );
  const left = findings.filter(({ repaired }) => !repaired);
  const read =
    summary === undefined
      ? ''
      : `Read ${summary.databases} databases, ${summary.documents} documents, ${summary.attachments} attachments. `;
  const outcome =
    left.length === 0
      ? findings.length === 0
        ? 'All is sound.'
        : 'Everything that was wrong is repaired.'
      : `${left.length} findings${!repair && left.some(({ repairable }) => repairable) ? '; --repair puts some of them right' : ''}.`;
  return `${lines.join('')}${read}${outcome}\n`;
}
