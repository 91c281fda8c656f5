/**
 * Partitions: the documents of a partitioned database have ids of the form `partition:rest`, and those of one partition
 * are neighbours in the order of ids and live in one shard.
 */
import { asBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { prefixEnd } from '../storage/store.js';
import { designPrefix, legalId, localPrefix, partitionOf, type LegalId } from './doc-id.js';

/** With a colon behind it, it must fit into the key of a document whose id is longer than that. */
const partitionBytesMax = 1_024;

const illegalPartition = (reason: string): RequestError => new RequestError('illegal_partition', reason);

export function checkPartition(partition: Bytes): void {
  if (partition === '') throw illegalPartition('Partition must not be empty');
  if (partition.startsWith('_')) throw illegalPartition('Partition must not start with an underscore');
  if (partition.includes(':')) throw illegalPartition('Partition must not contain a colon');
  if (partition.length > partitionBytesMax)
    throw illegalPartition(`Partition must not be longer than ${partitionBytesMax} bytes`);
}

/** Refuses ids that no document of a partitioned database may have. Design and local documents are exempt. */
export function checkPartitionedId(id: LegalId): void {
  if (id.startsWith(designPrefix) || id.startsWith(localPrefix)) return;
  const partition = partitionOf(id);
  if (partition === undefined) throw withoutPartition();
  checkPartition(partition);
  legalId(id.slice(partition.length + 1), Infinity);
}

/** Refuses ids by which no document can be looked for, because nothing says in which partition it would be. */
export function checkHasPartition(id: Bytes | string): void {
  if (!id.startsWith('_') && !id.includes(':')) throw withoutPartition();
}

const withoutPartition = (): RequestError =>
  new RequestError('illegal_docid', 'Doc id must be of form partition:id');

/** The ids of a partition: from the first, and up to what is no longer one. */
export function partitionRange(partition: Bytes): { start: Bytes; end: Bytes } {
  return { start: asBytes(`${partition}:`), end: prefixEnd(asBytes(`${partition}:`)) };
}
