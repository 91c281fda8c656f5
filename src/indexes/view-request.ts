import type { Bytes } from '../base/bytes.js';

/** A query of a view, checked. */
export interface ViewRequest {
  /** Absent bounds are open. For `descending`, `start` is the upper one. */
  start?: KeyBound;
  end?: KeyBound;
  inclusiveEnd: boolean;
  keys: readonly unknown[] | undefined;
  /** Between which document ids the rows of each of `keys` are. */
  keyDocids?: { start: string | undefined; end: string | undefined };
  descending: boolean;
  skip: number;
  limit: number;
  /** The rows themselves, one value for all of them, or one for each group of keys. */
  shape: 'rows' | 'one' | 'groups';
  /** How many elements of array keys make a group; Infinity for whole keys. */
  groupLevel: number;
  includeDocs: boolean;
  conflicts: boolean;
  attachments: boolean;
  encodingInfo: boolean;
  updateSeq: boolean;
  /** Rows are always in order; what was asked for decides whether they are counted. */
  sorted: boolean;
  /** The partition that is asked for, where the view has them. */
  partition?: Bytes | undefined;
  /** Whether the index is brought up to date before the answer, after it, or not at all. */
  update: 'true' | 'lazy' | 'false';
}

export interface KeyBound {
  key: unknown;
  /** A document id, among rows of the same key. */
  docid: string | undefined;
}
