import { LeafRow } from './leaf.js';
import type { Row } from './row.js';

/** One row in place of two neighbours of the same key; undefined where they stay as they are. */
export type JoinRows = (a: Row, b: Row) => Row | undefined;

const isStored = (row: Row): row is LeafRow => row instanceof LeafRow;

/** Rows in their order, of which those that an update has brought are joined with their neighbours where that is wanted. */
export function joinNeighbours(rows: readonly Row[], join: JoinRows): Row[] {
  const joined: Row[] = [];
  for (const row of rows) {
    const before = joined.at(-1);
    const one = before !== undefined && mayJoin(before, row) ? join(before, row) : undefined;
    if (one === undefined) joined.push(row);
    else joined[joined.length - 1] = one;
  }
  return joined;
}

/** Values with records of their own are large; they stay where they are. */
function mayJoin(a: Row, b: Row): boolean {
  if (isStored(a) && (isStored(b) || a.leaf.hasOwnRecord(a.at))) return false;
  if (isStored(b) && b.leaf.hasOwnRecord(b.at)) return false;
  return a.key === b.key;
}
