import { asBytes, type Bytes } from '../base/bytes.js';
import { termsKey } from '../search/postings.js';
import type { TermField } from './posting-log.js';
import { WordTable } from './word-table.js';

/** A field of a batch's documents, and what the document under way has in it. */
export class BatchField implements TermField {
  readonly key: Bytes;
  /** The terms that words have become. */
  readonly words: WordTable;
  /** The document that the rest tells of. */
  doc = -1;
  length = 0;
  boost = 1;
  /** The next position. */
  next = 0;
  numbers: number[] = [];

  constructor(
    readonly name: string,
    readonly prefix: Bytes,
    readonly ofWord: ((word: string) => string) | undefined,
    seed: number,
  ) {
    this.words = new WordTable(seed);
    this.key = asBytes(prefix + termsKey(name));
  }
}
