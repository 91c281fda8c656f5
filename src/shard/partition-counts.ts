import { asBytes, ByteReader, u48, type Bytes } from '../base/bytes.js';
import { partitionOf } from './doc-id.js';
import type { DatabaseKeys } from './keys.js';
import type { ShardState } from './shard-state.js';
import type { GroupView } from './write-view.js';

/** What one partition of a database holds. All its documents are in one shard, so its counters are of that shard's. */
export interface PartitionCounts {
  doc_count: number;
  doc_del_count: number;
  active_bytes: number;
  external_bytes: number;
}

const recordBytes = 4 * 6;

export function decodePartition(bytes: Bytes | undefined): PartitionCounts {
  if (bytes === undefined) return { doc_count: 0, doc_del_count: 0, active_bytes: 0, external_bytes: 0 };
  const reader = new ByteReader(bytes);
  return {
    doc_count: reader.u48(),
    doc_del_count: reader.u48(),
    active_bytes: reader.u48(),
    external_bytes: reader.u48(),
  };
}

const encodePartition = (counts: PartitionCounts): Bytes =>
  asBytes(
    u48(counts.doc_count) +
      u48(counts.doc_del_count) +
      u48(Math.max(0, counts.active_bytes)) +
      u48(Math.max(0, counts.external_bytes)),
  );

/** The same numbers of the whole shard. */
const countsOf = (state: ShardState): PartitionCounts => ({
  doc_count: state.doc_count,
  doc_del_count: state.doc_del_count,
  active_bytes: state.stored_bytes - state.obsolete_bytes,
  external_bytes: state.external_bytes,
});

/** Changes one document, and lets its partition's counters follow what that does to the shard's. */
export function inPartition<T>(
  partitioned: true | undefined,
  keys: DatabaseKeys,
  view: GroupView,
  state: ShardState,
  id: Bytes,
  change: () => T,
): T {
  const partition = partitioned ? partitionOf(id) : undefined;
  if (partition === undefined) return change();
  const before = countsOf(state);
  const result = change();
  const after = countsOf(state);
  const key = keys.partition(partition);
  const old = view.get(key);
  const counts = decodePartition(old);
  for (const name of Object.keys(counts) as (keyof PartitionCounts)[])
    counts[name] += after[name] - before[name];
  const isEmpty = counts.doc_count <= 0 && counts.doc_del_count <= 0;
  if (!isEmpty) view.put(key, encodePartition(counts));
  else if (old !== undefined) view.remove(key);
  state.stored_bytes += ((isEmpty ? 0 : 1) - (old === undefined ? 0 : 1)) * (key.length + recordBytes);
  return result;
}
