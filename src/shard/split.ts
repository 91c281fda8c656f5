import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { partitionOf } from './doc-id.js';
import { hashOf } from './shard-ranges.js';

/** What is copied from a shard to the two that it is split into. */
export type CopiedTable = 'changes' | 'purges';

/**
 * A split under way. The targets are filled with what the source had when it began, in the order of sequences, and from
 * then on whatever is written to the source is written to them too; so they lack nothing when the last copy is made.
 *
 * - `copying`: the source counts.
 * - `cleaning`: the targets count; what the source had is being removed.
 * - `aborting`: the source counts; what the targets have is being removed.
 */
export interface Split {
  phase: 'copying' | 'cleaning' | 'aborting';
  source: number;
  /** The number of the first target; the second has the next. */
  target: number;
  /** The last hash of the first target. */
  middle: number;
  /** Set where documents are placed by their partitions. */
  partitioned?: true;
  changes: Copied;
  purges: Copied;
}

/** How far a table is copied. */
export interface Copied {
  /** The last number there was when the split began. */
  until: number;
  /** All up to here are copied. */
  at: number;
}

/** Whether the targets have what stands under a number. */
export const isCopied = ({ until, at }: Copied, number: number): boolean => number <= at || number > until;

export const targetsOf = ({ target }: Split): [number, number] => [target, target + 1];

export function targetOf({ target, middle, partitioned }: Split, id: Bytes): number {
  return hashOf(placedBy(id, partitioned)) <= middle ? target : target + 1;
}

/** The part of a document's id that decides on its shard. Design documents have no partition. */
export const placedBy = (id: Bytes, partitioned: boolean | undefined): Bytes =>
  (partitioned ? partitionOf(id) : undefined) ?? id;

export const encodeSplit = (split: Split): Bytes => toBytes(JSON.stringify(split));

export const decodeSplit = (bytes: Bytes | undefined): Split | undefined =>
  bytes === undefined ? undefined : (JSON.parse(fromBytes(bytes)) as Split);
