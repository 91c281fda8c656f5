import type { Runtime } from '../base/runtime.js';
import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import { compareBytes, compareKeys } from '../json/compare-keys.js';
import { keyPrefix } from '../json/key-prefix.js';
import { encodeKey, encodeKeyText, encodeRawKey, wideFlag } from '../json/order-key.js';
import { compareRows, type RowKey } from './tree/row.js';

/** The order of a view's keys: how they are encoded, and how encoded ones compare. */
export interface KeyOrder {
  encode(key: unknown): Bytes;
  /** The same of a key's JSON text. */
  encodeText(text: Bytes): Bytes;
  compare(a: Bytes, b: Bytes): number;
}

const collated: KeyOrder = { encode: encodeKey, encodeText: encodeKeyText, compare: compareKeys };

const raw: KeyOrder = {
  encode: encodeRawKey,
  encodeText: (text) => encodeRawKey(JSON.parse(fromBytes(text))),
  compare: compareBytes,
};

export const keyOrder = (isRaw: boolean): KeyOrder => (isRaw ? raw : collated);

/** Stands for a partition in keys: such texts are equal only where the names are the same to the last byte. */
export const partitionKey = (partition: Bytes): string => Buffer.from(partition, 'latin1').toString('hex');

/**
 * The key of a row. In a view with partitions that is a list of the partition and the key, so that the rows of a partition
 * stand together.
 */
export function encodeIn(partition: string | undefined, order: KeyOrder, key: unknown): Bytes {
  return order.encode(partition === undefined ? key : [partition, key]);
}

/** Rows that are sorted at a stretch where their keys compare by their bytes; that takes some 10 ms. */
const plainRunLength = 16_384;

/** Sorts rows. Nearly always their keys compare by their bytes, which is much faster to be told at once. */
export function sortRows<R extends RowKey>(rows: R[], order: KeyOrder): R[] {
  return rows.sort(comparisonOf(rows, order));
}

/** The same for long lists; it may give another list. */
export function sortRowsInSlices<R extends RowKey>(
  rows: R[],
  order: KeyOrder,
  runtime: Runtime,
): Promise<R[]> {
  const comparison = comparisonOf(rows, order);
  return sortInSlices(rows, comparison, runtime, comparison === comparePlain ? plainRunLength : undefined);
}

function comparisonOf(rows: readonly RowKey[], order: KeyOrder): (a: RowKey, b: RowKey) => number {
  const isPlain = rows.every(({ key }) => key.charCodeAt(0) < wideFlag);
  return isPlain ? comparePlain : (a, b) => compareRows(order.compare, a, b);
}

function comparePlain(a: RowKey, b: RowKey): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.id === b.id ? a.n - b.n : a.id < b.id ? -1 : 1;
}

/** The bounds of a partition's rows. */
export function partitionBounds(partition: string, order: KeyOrder): { low: Bytes; high: Bytes } {
  const low = keyPrefix(order.encode([partition]), 1)!;
  return { low, high: asBytes(`${low}\xff`) };
}

/** As `keyPrefix`, of the key that stands behind a partition. */
export function keyPrefixIn(partition: string | undefined, key: Bytes, level: number): Bytes | undefined {
  if (partition === undefined) return keyPrefix(key, level);
  const head = keyPrefix(key, 1)!;
  // Only the very first byte of a key tells whether it holds more than ASCII.
  const prefix = keyPrefix(key.slice(head.length), level);
  return prefix === undefined ? undefined : asBytes(head + prefix);
}
