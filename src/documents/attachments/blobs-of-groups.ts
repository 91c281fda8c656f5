import { attachmentsOf } from '../../shard/content.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { isLocalId } from '../../shard/doc-id.js';
import type { NamedInput } from '../../shard/document-input.js';
import { NewBlobs } from './new-blobs.js';

/**
 * Adds, to the blobs that documents bring with them, those that only another group of the database has: a copy of a
 * document may be stored in another group. To be called in the turn in which the original was read; the blobs are held
 * until they are released.
 */
export async function blobsOfGroups(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  brought: NewBlobs | undefined,
): Promise<NewBlobs> {
  const blobs = new NewBlobs(brought);
  const files = new Set<string>();
  for (const { id, body } of inputs) {
    if (isLocalId(id)) continue;
    const group = database.groups.groupOf(database.shardOf(id));
    for (const { blob } of attachmentsOf(body)) {
      if (blobs.has(blob) || group.hasBlob(blob)) continue;
      const small = database.collection.smallBlob(blob);
      if (small === '') files.add(blob);
      else if (small !== undefined) blobs.small.set(blob, small);
    }
  }
  const holds = Array.from(files, async (blob) => blobs.hold(blob, await registry.blobs.hold(blob)));
  await Promise.all(holds);
  return blobs;
}
