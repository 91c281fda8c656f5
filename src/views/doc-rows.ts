import { ByteReader, fromBytes, lengthPrefixed, varint, type Bytes } from '../base/bytes.js';
import { compareRaw } from '../json/collation.js';
import { partitionOf } from '../shard/partition-counts.js';
import { encodeIn, partitionKey, type KeyOrder } from './key-order.js';
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
  rows.sort(
    (a, b) =>
      order.compare(a.key, b.key) || compareTexts(a.keyText, b.keyText) || compareTexts(a.value, b.value),
  );
  for (let i = 1; i < rows.length; i++) {
    if (order.compare(rows[i - 1]!.key, rows[i]!.key) === 0) rows[i]!.n = rows[i - 1]!.n + 1;
  }
  return rows;
}

function compareTexts(a: Bytes, b: Bytes): number {
  return a === b ? 0 : compareRaw(JSON.parse(fromBytes(a)), JSON.parse(fromBytes(b)));
}

/** What is remembered of a document's rows, so that they can be found when it changes: `{ key n }…` */
export function encodeRowKeys(rows: readonly RowKey[]): Bytes {
  let bytes = '';
  for (const { key, n } of rows) bytes += lengthPrefixed(key) + varint(n);
  return bytes;
}

export function decodeRowKeys(id: Bytes, bytes: Bytes): RowKey[] {
  const reader = new ByteReader(bytes);
  const keys: RowKey[] = [];
  while (!reader.done) keys.push({ key: reader.take(reader.varint()), id, n: reader.varint() });
  return keys;
}
