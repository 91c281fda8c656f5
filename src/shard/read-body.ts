import type { Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { decodeChange } from './change-record.js';
import type { DatabaseKeys } from './keys.js';
import type { ShardMap } from './shard-map.js';

/**
 * Reads a body that stands apart from its document. Where it is damaged, the error says whose it is, as long as the change
 * that brought it is the last of its document.
 */
export function readBody(
  keys: DatabaseKeys,
  shards: ShardMap,
  shard: number,
  ref: number,
  read: (key: Bytes) => Bytes | undefined,
): Bytes | undefined {
  try {
    return read(keys.body(shards.bodyHome(shard, ref), ref));
  } catch (error) {
    const change = error instanceof CorruptRecord ? read(keys.change(shard, ref)) : undefined;
    if (change === undefined) throw error;
    throw new CorruptRecord('the checksum of its body is wrong', keys.live(decodeChange(change).id));
  }
}
