import { StartupError } from '../../base/startup-error.js';
import type { Progress } from '../progress.js';
import { allChanges, type Change } from './changes.js';
import { isCheckpoint, localDocs } from './local-docs.js';
import { pathOf, type Doc, type RemoteServer } from './remote-server.js';

interface BulkGetAnswer {
  results: { id: string; docs: { ok?: Doc; error?: { reason: string } }[] }[];
}

/** Documents fetched in one request; attachments come with them. */
const batchDocs = 50;

/** The `_id` of the line that holds the security object. */
export const securityId = '_security';

/**
 * A database as lines of JSON, one document each: every leaf revision with its history and attachments, then local
 * documents, then the security object.
 */
export async function* exportLines(
  server: RemoteServer,
  db: string,
  { attachments, progress }: { attachments: boolean; progress: Progress },
): AsyncIterable<string> {
  const { doc_count = 0, doc_del_count = 0 } = await server.get<Record<string, number>>(pathOf(db));
  progress.begin(db, doc_count + doc_del_count);
  for await (const page of allChanges(server, db)) {
    for (let at = 0; at < page.length; at += batchDocs) {
      const batch = page.slice(at, at + batchDocs);
      for (const doc of await fetchDocs(server, db, batch, attachments)) yield `${JSON.stringify(doc)}\n`;
      progress.advance(batch.length);
    }
  }
  for await (const doc of localDocs(server, db)) if (!isCheckpoint(doc)) yield `${JSON.stringify(doc)}\n`;
  const security = await server.get<object>(`${pathOf(db)}/_security`);
  if (Object.keys(security).length > 0) yield `${JSON.stringify({ _id: securityId, ...security })}\n`;
}

async function fetchDocs(
  server: RemoteServer,
  db: string,
  batch: readonly Change[],
  attachments: boolean,
): Promise<Doc[]> {
  const docs = batch.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })));
  const answer = await server.post<BulkGetAnswer>(
    `${pathOf(db)}/_bulk_get?revs=true&attachments=${attachments}`,
    { docs },
  );
  return answer.results.flatMap(({ id, docs: found }) =>
    found.map(({ ok, error }) => {
      if (ok === undefined) throw new StartupError(`The document ${id} can't be read: ${error?.reason}.`);
      return ok;
    }),
  );
}
