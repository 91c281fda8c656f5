import { pathOf, type RemoteServer } from './remote-server.js';

export interface Change {
  id: string;
  changes: { rev: string }[];
  deleted?: boolean;
}

interface ChangesPage {
  results: Change[];
  last_seq: string | number;
}

const pageRows = 2_000;

/** Every document of a database with all its leaf revisions, as the changes feed has them. */
export async function* allChanges(server: RemoteServer, db: string): AsyncIterable<Change[]> {
  let since: string | number = 0;
  for (;;) {
    const query = `style=all_docs&limit=${pageRows}&since=${encodeURIComponent(JSON.stringify(since).replace(/^"|"$/g, ''))}`;
    const page: ChangesPage = await server.get<ChangesPage>(`${pathOf(db)}/_changes?${query}`);
    if (page.results.length > 0) yield page.results;
    if (page.results.length < pageRows) return;
    since = page.last_seq;
  }
}
