import type { HttpClient } from '../support/http-client.js';

/** Puts two revisions of the document `twice`, in conflict, into a database given by its path. */
export async function putConflict(client: HttpClient, database: string): Promise<void> {
  for (const hash of ['a', 'b'])
    await client.post(`${database}/_bulk_docs`, {
      docs: [{ _id: 'twice', _rev: `1-${hash}`, hash }],
      new_edits: false,
    });
}
