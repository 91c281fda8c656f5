import type { Bytes } from '../../base/bytes.js';
import type { ShardMap } from '../../shard/shard-map.js';
import { decodeState, type ShardState } from '../../shard/shard-state.js';

/** The counters of a shard that follow from what it holds. */
export type ShardFigures = Pick<
  ShardState,
  | 'doc_count'
  | 'doc_del_count'
  | 'tombstones'
  | 'stored_bytes'
  | 'attachment_bytes'
  | 'obsolete_bytes'
  | 'external_bytes'
>;

export const noFigures = (): ShardFigures => ({
  doc_count: 0,
  doc_del_count: 0,
  tombstones: 0,
  stored_bytes: 0,
  attachment_bytes: 0,
  obsolete_bytes: 0,
  external_bytes: 0,
});

const byteFields = ['stored_bytes', 'attachment_bytes', 'obsolete_bytes', 'external_bytes'] as const;

/**
 * Shards that come from the same one share its bytes, and only the sum tells something. What the counters have is taken
 * as right for all but the first of them.
 */
export function shareBytes(
  figures: readonly ShardFigures[],
  shards: ShardMap,
  stateOf: (shard: number) => Bytes | undefined,
): void {
  if (shards.splits.length === 0) return;
  const firsts = new Map<number, number>();
  for (const shard of shards.shards) {
    const home = shards.blobHome(shard);
    if (!firsts.has(home)) firsts.set(home, shard);
  }
  for (const [shard, found] of figures.entries()) {
    const first = firsts.get(shards.blobHome(shard));
    // A number that has no shard in this group has no first.
    if (shard === first || first === undefined) continue;
    for (const field of byteFields) {
      const counted = shards.isGone(shard) ? 0 : readCounter(stateOf(shard), field);
      figures[first]![field] += found[field] - counted;
      found[field] = counted;
    }
  }
}

/** A state that can't be read is reported as such. */
function readCounter(bytes: Bytes | undefined, field: (typeof byteFields)[number]): number {
  try {
    return decodeState(bytes)[field];
  } catch {
    return 0;
  }
}
