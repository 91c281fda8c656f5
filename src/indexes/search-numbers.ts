import type { Bytes } from '../base/bytes.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import { TimeSlice } from '../base/turns.js';
import { compareBytes } from '../json/compare-keys.js';
import { counterKey, docNumber } from '../search/postings.js';
import type { Store } from '../storage/store.js';
import type { OpenIndex } from './open-index.js';
import type { Reducer } from './tree/reducer.js';
import type { Row, RowKey } from './tree/row.js';
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

export function lengthOf(row: Row): number {
  const { key } = row;
  const kind = key[0] === 'p' ? key[key.indexOf('/') + 1] : key[0];
  return kind === 'l' ? Number(row.value) : 0;
}

/**
 * Rows in the order of the tree. Most terms stand in many documents: it is faster to gather the rows of each, which come in
 * the order of their documents' numbers nearly always, and to sort the terms.
 */
export async function sortSearchRows<R extends RowKey>(rows: readonly R[]): Promise<R[]> {
  const slice = new TimeSlice();
  const byKey = new Map<Bytes, R[]>();
  for (const [i, row] of rows.entries()) {
    const same = byKey.get(row.key);
    if (same === undefined) byKey.set(row.key, [row]);
    else same.push(row);
    if ((i & 1_023) === 0 && slice.isOver) await slice.next();
  }
  const keys = await sortInSlices([...byKey.keys()], compareBytes);
  const sorted: R[] = [];
  for (const key of keys) {
    const same = byKey.get(key)!;
    if (!same.every((row, i) => i === 0 || same[i - 1]!.id < row.id))
      same.sort((a, b) => compareBytes(a.id, b.id));
    for (const row of same) sorted.push(row);
    if (slice.isOver) await slice.next();
  }
  return sorted;
}
