import { u16, u32, varint } from '../base/bytes.js';
import type { ShardState } from '../shard/shard-state.js';
import { rangeOf } from './shard-ranges.js';

/**
 * An update sequence for clients: `N-` and an opaque text. `N` is the sum of the shards' sequences; the text holds, for
 * each shard, its hash range, number, epoch and own sequence, so that it stays usable when shards are split or a shard
 * was put back to an earlier state. `docs/formats/sequences.md` describes it.
 */
export function encodeSequence(states: readonly Pick<ShardState, 'epoch' | 'seq'>[]): string {
  const q = states.length;
  let total = 0;
  let bytes = '\x01' + varint(q);
  for (const [shard, { epoch, seq }] of states.entries()) {
    const { first, last } = rangeOf(shard, q);
    bytes += u32(first) + u32(last) + u16(shard) + varint(epoch) + varint(seq);
    total += seq;
  }
  return `${total}-g1${Buffer.from(bytes, 'latin1').toString('base64url')}`;
}
