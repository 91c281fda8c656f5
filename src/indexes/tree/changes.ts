import type { TimeSlice } from '../../base/turns.js';
import { newRow } from './encode-leaf.js';
import { compareRows, type Compare, type Row, type RowKey } from './row.js';

/** Removals and inserts in one order, each row at most once: an insert takes the place of a removal. */
export interface Changes {
  readonly rows: readonly RowKey[];
  /** The row to be put at this place; undefined where it is only to be removed. */
  inserted(at: number): Row | undefined;
}

export async function mergeChanges(
  removals: readonly RowKey[],
  inserts: readonly Row[],
  compare: Compare,
  slice: TimeSlice,
): Promise<Changes> {
  const added = (await sorted(inserts, compare, slice)).map(newRow);
  if (removals.length === 0) return { rows: added, inserted: (at) => added[at] };
  const removed = await sorted(removals, compare, slice);
  const rows: RowKey[] = [];
  const news: (Row | undefined)[] = [];
  let r = 0;
  for (const row of added) {
    for (; r < removed.length; r++) {
      const order = compareRows(compare, removed[r]!, row);
      if (order > 0) break;
      if (order < 0) news[rows.push(removed[r]!) - 1] = undefined;
    }
    news[rows.push(row) - 1] = row;
    if ((rows.length & 1_023) === 0 && slice.isOver) await slice.next();
  }
  for (; r < removed.length; r++) news[rows.push(removed[r]!) - 1] = undefined;
  return { rows, inserted: (at) => news[at] };
}

/** Of rows that are equal the last. Rows out of order would ruin the tree, so they are refused. */
async function sorted<R extends RowKey>(
  rows: readonly R[],
  compare: Compare,
  slice: TimeSlice,
): Promise<readonly R[]> {
  let isUnique = true;
  for (let i = 1; i < rows.length; i++) {
    if ((i & 1_023) === 0 && slice.isOver) await slice.next();
    const order = compareRows(compare, rows[i - 1]!, rows[i]!);
    if (order > 0) throw new Error(`rows for a view's tree are not in order: number ${i}`);
    if (order === 0) isUnique = false;
  }
  if (isUnique) return rows;
  return rows.filter((row, i) => i === rows.length - 1 || compareRows(compare, row, rows[i + 1]!) < 0);
}
