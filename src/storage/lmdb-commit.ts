import { checksumBytes } from './checksum.js';
import { checkKey, type Lmdb } from './lmdb-environment.js';
import { hasRoom, makeRoom } from './lmdb-reading.js';
import type { BatchBytes } from './lmdb-records.js';
import type { Write } from './store.js';

/** Commits all of the writes or none, and resolves when they are on disk. `values` has room for theirs. */
export async function commitBatch(db: Lmdb, writes: readonly Write[], values: BatchBytes): Promise<void> {
  // The library would commit what comes before a key that it refuses.
  for (const { key } of writes) checkKey(key);
  try {
    await db.batch(() => {
      for (const { key, value } of writes) {
        if (value !== undefined && !hasRoom(value.length + checksumBytes))
          makeRoom(db, value.length + checksumBytes);
        // One await for the batch stands for all of them: the library commits it as a whole.
        if (value === undefined) void db.remove(key);
        else void db.put(key, values.add(key, value) as never);
      }
    });
  } catch (error) {
    // The cause comes by a promise of its own, which rejects.
    throw await Promise.resolve((error as { commitError?: Promise<never> }).commitError).then(
      () => error,
      (cause: unknown) => cause,
    );
  }
}
