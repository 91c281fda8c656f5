import { isDeepStrictEqual } from 'node:util';
import { docPath, pathOf, type Doc, type RemoteServer } from './remote-server.js';

interface Listing {
  rows: { id: string; doc?: Doc }[];
}

const pageRows = 500;

export async function* localDocs(server: RemoteServer, db: string): AsyncIterable<Doc> {
  let start = '';
  for (;;) {
    const query = `include_docs=true&limit=${pageRows}${start}`;
    const page = await server.find<Listing>(`${pathOf(db)}/_local_docs?${query}`);
    for (const { doc } of page?.rows ?? []) if (doc !== undefined) yield doc;
    if (page === undefined || page.rows.length < pageRows) return;
    start = `&skip=1&startkey=${encodeURIComponent(JSON.stringify(page.rows.at(-1)!.id))}`;
  }
}

/** Whether it is where a replication has come to. Its sequences mean nothing to another server. */
export const isCheckpoint = (doc: Doc): boolean =>
  'session_id' in doc || 'source_last_seq' in doc || ('last_seq' in doc && 'replicator' in doc);

/** Writes a local document over whatever is there, unless that is the same. */
export async function putLocalDoc(server: RemoteServer, db: string, doc: Doc): Promise<void> {
  const path = docPath(db, doc._id);
  const known = await server.find<Doc>(path);
  const rev = known?.['_rev'];
  const next: Doc = { ...doc, _rev: rev };
  if (known === undefined || !isDeepStrictEqual(known, next)) await server.put(path, next);
}
