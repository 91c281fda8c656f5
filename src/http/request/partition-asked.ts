import type { TimeSlice } from '../../base/turns.js';
import type { ListingKind } from '../../documents/list-docs.js';
import type { Database } from '../../node/database.js';
import { checkHasPartition } from '../../shard/partitions.js';
import type { ListingRequest } from './listing-query.js';
import { parseError } from './parameters.js';

/** Keys that are checked before the time is looked at. */
const keysAtOnce = 2_000;

/**
 * Checks that the partition can be there, and the documents that the keys name. To be called before anything is sent. Gives a
 * promise where there are many keys.
 */
export function checkPartitionAsked(
  database: Pick<Database, 'isPartitioned' | 'runtime'>,
  kind: ListingKind,
  { partition, keys = [] }: Pick<ListingRequest, 'partition' | 'keys'>,
): void | Promise<void> {
  if (partition !== undefined && (kind !== 'all' || !database.isPartitioned))
    throw parseError('`partition` parameter is not supported on this db');
  if (kind !== 'all' || !database.isPartitioned) return;
  if (keys.length > keysAtOnce) return checkInSlices(keys, database.runtime.slice());
  checkKeys(keys, 0, keys.length);
}

async function checkInSlices(keys: readonly unknown[], slice: TimeSlice): Promise<void> {
  for (let at = 0; at < keys.length; at += keysAtOnce) {
    checkKeys(keys, at, Math.min(keys.length, at + keysAtOnce));
    if (slice.isOver) await slice.next();
  }
}

function checkKeys(keys: readonly unknown[], start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const key = keys[at];
    checkHasPartition(typeof key === 'string' ? key : '');
  }
}
