import type { Bytes } from '../../base/bytes.js';

/** The order of encoded keys: `compareKeys`, or `compareBytes` for the raw collation. */
export type Compare = (a: Bytes, b: Bytes) => number;

/** What a row is found by. Rows stand in the order of `key`, then of the bytes of `id`, then of `n`. */
export interface RowKey {
  /** Made by `encodeKey` or `encodeRawKey`. */
  readonly key: Bytes;
  /** The id of the document. */
  readonly id: Bytes;
  /** Tells rows of equal key and id apart. */
  readonly n: number;
}

export interface Row extends RowKey {
  /** The key as JSON. */
  readonly keyText: Bytes;
  /** The value as JSON. */
  readonly value: Bytes;
}

/** An end of some rows in the order of the tree. */
export type RowEnd = 'first' | 'last';

/** A place between rows: before or behind all rows of a key, or of a key and an id. */
export interface Bound {
  readonly key: Bytes;
  readonly id?: Bytes | undefined;
  readonly after: boolean;
}

export function compareRows(compare: Compare, a: RowKey, b: RowKey): number {
  const difference = compare(a.key, b.key);
  if (difference !== 0) return difference;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  return a.n - b.n;
}
