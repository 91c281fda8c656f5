import type { Database } from '../node/database.js';
import { followPositions, type Positions } from '../node/sequence.js';

/** So many keys are counted by walking over them; for more, the counts of a rank are asked. */
const walkedMax = 4_096;

/**
 * How many changes lie behind a place. `passed` has, for shards that were read from their beginning, how many changes
 * lie before it.
 */
export async function countPending(
  database: Database,
  place: Positions,
  passed: readonly (number | undefined)[],
): Promise<number> {
  const after = followPositions(database, place);
  const { collection } = database;
  const slow: number[] = [];
  let count = 0;
  for (const [shard, { seq, doc_count, doc_del_count }] of collection.states.entries()) {
    const from = after[shard]!;
    const before = from === 0 ? 0 : passed[shard];
    if (from >= seq) continue;
    // Every document has one change, its last.
    if (before !== undefined) count += Math.max(0, doc_count + doc_del_count - before);
    else if (seq - from <= walkedMax) count += collection.countChanges(shard, from);
    else slow.push(shard);
  }
  if (slow.length === 0) return count;
  await collection.changesRanked();
  // A shard that was split while the ranks were made has no changes any more; its targets have them.
  if (after.length !== collection.shards.size) return await countPending(database, after, []);
  for (const shard of slow) count += collection.rankedChanges(shard, after[shard]!);
  return count;
}
