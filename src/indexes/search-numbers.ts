import { noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { counterKey, docNumber } from '../search/postings.js';
import type { Row } from './tree/row.js';
import type { TreeReader } from './tree/tree-reader.js';

/** Gives the documents of a search index their numbers. A document keeps its number for as long as it is in the index. */
export class DocNumbers {
  #next: number;

  constructor(tree: TreeReader) {
    const at = { key: counterKey, after: false };
    const [counter] = tree.rows(at, { ...at, after: true });
    this.#next = counter === undefined ? 1 : Number(counter.value);
  }

  get following(): number {
    return this.#next;
  }

  next(): Bytes {
    return docNumber(this.#next++);
  }

  /** The row that remembers the next number. */
  get row(): Row {
    return {
      key: counterKey,
      id: noBytes,
      n: 0,
      keyText: noBytes,
      value: toBytes(String(this.#next)),
    };
  }
}
