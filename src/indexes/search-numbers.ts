import type { Bytes } from '../base/bytes.js';
import { compareBytes } from '../json/compare-keys.js';
import { counterKey, docNumber } from '../search/postings.js';
import type { Store } from '../storage/store.js';
import type { OpenIndex } from './open-index.js';
import type { Reducer } from './tree/reducer.js';
import type { Row } from './tree/row.js';
import { TreeReader } from './tree/tree-reader.js';

/** Gives the documents of a search index their numbers. A document keeps its number for as long as it is in the index. */
export class DocNumbers {
  #next: number;

  constructor(index: OpenIndex, store: Pick<Store, 'get'>) {
    const tree = new TreeReader(store, index.keys.tree, index.state.tree, compareBytes);
    const at = { key: counterKey, after: false };
    const [counter] = tree.rows(at, { ...at, after: true });
    this.#next = counter === undefined ? 1 : Number(counter.value);
  }

  next(): Bytes {
    return docNumber(this.#next++);
  }

  /** The row that remembers the next number. */
  get row(): Row {
    return { key: counterKey, id: '', n: 0, keyText: '', value: String(this.#next) };
  }
}

/** Adds up the lengths of fields, for which the average is asked. Other rows count as nothing. */
export const lengthsReducer: Reducer = {
  reduce: (groups) => groups.map((rows) => String(rows.reduce((sum, row) => sum + lengthOf(row), 0))),
  rereduce: (groups) => groups.map((values) => String(values.reduce((sum, value) => sum + Number(value), 0))),
};

const lengthRow = /^(?:p[0-9a-f]*\/)?l/;

export const lengthOf = ({ key, value }: Row): number => (lengthRow.test(key) ? Number(value) : 0);
