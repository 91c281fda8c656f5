import type { Bytes } from '../base/bytes.js';
import type { ViewReader } from '../indexes/view-reader.js';
import type { Block, PostingPlace } from '../search/posting-block.js';

/** What a key has between two documents: at most one block. */
export interface BlockCursor {
  from: number;
  /** Where the next block begins. */
  end: number;
  block: Block | undefined;
  /** Where the range that was read last begins in the block: most ranges are small, and come in their order. */
  place?: { from: number; posting: PostingPlace };
}

/**
 * Where a search has come to in the blocks of each key. A search goes through the documents in ranges: without this, each range
 * would look for the block of every term in the tree, though most terms of a long query have none there.
 */
export class BlockCursors {
  #reader: ViewReader | undefined;
  #cursors = new Map<Bytes, BlockCursor>();

  /** Those of an index as it is at one moment. Nothing is known of any other. */
  of(reader: ViewReader): Map<Bytes, BlockCursor> {
    if (reader !== this.#reader) {
      this.#reader = reader;
      this.#cursors = new Map();
    }
    return this.#cursors;
  }
}
