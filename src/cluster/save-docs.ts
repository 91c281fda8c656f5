import { attach, type Follower } from './attach.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { NewBlobs } from './new-blobs.js';
import { discardUnneeded } from './sweep-blobs.js';
import { updateDocs, type NamedInput, type SavedRev } from './update-docs.js';

/** Saves documents with whatever attachments they bring. */
export async function saveDocs(
  cluster: Cluster,
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
  follower?: Follower,
): Promise<SavedRev[]> {
  if (!inputs.some(({ attachments }) => attachments !== undefined))
    return await updateDocs(database, inputs, newEdits);
  const blobs = new NewBlobs();
  try {
    const attached = await attach(cluster, database, inputs, newEdits, blobs, follower);
    return await updateDocs(database, attached, newEdits, blobs);
  } finally {
    blobs.release();
    await discardUnneeded(cluster, blobs.stored);
  }
}
