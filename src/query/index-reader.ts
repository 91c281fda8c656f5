import type { Bytes } from '../base/bytes.js';
import type { KeyRange } from './key-ranges.js';

export interface IndexRow {
  readonly id: Bytes;
  /** The values of the index' columns as a JSON list, as they stand in the document. */
  readonly keyText: Bytes;
  /** Where the row remembers under which key its document stands: gives that key. */
  docKey?(keyOf: (id: Bytes) => Bytes): Bytes;
  /** The document's record, where the index is made of them. */
  readonly record?: Bytes;
}

/** A row that was read. */
export interface Place {
  readonly id: Bytes;
  readonly key: readonly unknown[];
}

/** How far an index has come in each shard: it shows the documents that have not changed since. */
export class Seen {
  readonly #least: number;

  constructor(private readonly seqs: readonly number[]) {
    this.#least = Math.min(...seqs);
  }

  /** By the sequence of a document's last change, and its shard where that is needed. */
  has(seq: number, shard: () => number): boolean {
    return seq <= this.#least || seq <= this.seqs[shard()]!;
  }
}

/** What a query reads: rows in the order of their keys, and of their ids where those are equal. */
export interface IndexReader {
  /**
   * The rows of a range that stand behind a place in the direction of reading, as they are at this moment. They must be
   * read, or left, within the same turn.
   */
  rows(range: KeyRange, descending: boolean, behind: Place | undefined): Iterable<IndexRow>;
  /** Which documents the index shows as they are now. Undefined where that can't be told. */
  readonly seen?: Seen | undefined;
  /** Where rows can be counted without reading them: how many a range has. */
  count?(range: KeyRange): number;
}
