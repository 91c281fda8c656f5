import { ByteReader, fromBytes, lengthPrefixed, varint, type Bytes } from '../base/bytes.js';
import { compareRaw } from '../json/collation.js';
import { partitionOf } from '../shard/partition-counts.js';
import { decoding } from './index-damage.js';
import { encodeIn, partitionKey, sortRows, type KeyOrder } from './key-order.js';
import type { Row, RowKey } from './tree/row.js';

/** A row as a map function emits it, both parts as JSON text. */
export interface Emitted {
  key: Bytes;
  value: Bytes;
}

/**
 * The rows of one document, numbered where keys are equal. Such rows stand in the raw order of their keys, which may differ
 * in what the collation ignores, then in that of their values, and of their emission where all is equal.
 */
export function rowsOf(id: Bytes, emitted: readonly Emitted[], order: KeyOrder, partitioned: boolean): Row[] {
  const partition = partitioned ? partitionKey(partitionOf(id) ?? '') : undefined;
  const rows = emitted.map(({ key, value }) => ({
    key:
      partition === undefined
        ? order.encodeText(key)
        : encodeIn(partition, order, JSON.parse(fromBytes(key)) as unknown),
    id,
    n: 0,
    keyText: key,
    value,
  }));
  if (rows.length < 2) return rows;
  sortRows(rows, order);
  for (let from = 0, to = 1; to <= rows.length; to++) {
    if (to < rows.length && order.compare(rows[from]!.key, rows[to]!.key) === 0) continue;
    if (to - from > 1) numberEqual(rows, from, to);
    from = to;
  }
  return rows;
}

/** Brings rows of equal keys into their order, which their texts decide, and numbers them. */
function numberEqual(rows: NumberedRow[], from: number, to: number): void {
  const first = rows[from]!;
  const equal = rows.slice(from, to);
  if (equal.some(({ keyText, value }) => keyText !== first.keyText || value !== first.value)) {
    const parsed = new Map(
      equal.map((row) => [
        row,
        [JSON.parse(fromBytes(row.keyText)) as unknown, JSON.parse(fromBytes(row.value)) as unknown] as const,
      ]),
    );
    equal.sort((a, b) => {
      const [keyA, valueA] = parsed.get(a)!;
      const [keyB, valueB] = parsed.get(b)!;
      return compareRaw(keyA, keyB) || compareRaw(valueA, valueB);
    });
  }
  for (const [n, row] of equal.entries()) {
    row.n = n;
    rows[from + n] = row;
  }
}

type NumberedRow = Row & { n: number };

/** What is remembered of a document's rows, so that they can be found when it changes: `{ key n }…` */
export function encodeRowKeys(rows: readonly RowKey[]): Bytes {
  let bytes = '';
  for (const { key, n } of rows) bytes += lengthPrefixed(key) + varint(n);
  return bytes;
}

export function decodeRowKeys(id: Bytes, bytes: Bytes): RowKey[] {
  return decoding(() => {
    const reader = new ByteReader(bytes);
    const keys: RowKey[] = [];
    while (!reader.done) keys.push({ key: reader.take(reader.varint()), id, n: reader.varint() });
    return keys;
  });
}
