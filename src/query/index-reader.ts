import type { Bytes } from '../base/bytes.js';
import type { KeyRange } from './key-ranges.js';

export interface IndexRow {
  readonly id: Bytes;
  /** The values of the index' columns as a JSON list, as they stand in the document. */
  readonly keyText: Bytes;
  /** The document's record, where the index is made of them. */
  readonly record?: Bytes;
}

/** A row that was read. */
export interface Place {
  readonly id: Bytes;
  readonly key: readonly unknown[];
}

/** What a query reads: rows in the order of their keys, and of their ids where those are equal. */
export interface IndexReader {
  /**
   * The rows of a range that stand behind a place in the direction of reading, as they are at this moment. They must be
   * read, or left, within the same turn.
   */
  rows(range: KeyRange, descending: boolean, behind: Place | undefined): Iterable<IndexRow>;
  /**
   * How far the index has come in each shard: the row of a document that has not changed since is all there is to say of
   * it. Undefined where rows are to be held against their documents.
   */
  readonly seen?: readonly number[] | undefined;
  /** Where rows can be counted without reading them: how many a range has. */
  count?(range: KeyRange): number;
}
