import type { Runtime } from '../base/runtime.js';
import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  noBytes,
  varint,
  type Bytes,
} from '../base/bytes.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import { compareRaw } from '../json/collation.js';
import { partitionOf } from '../shard/doc-id.js';
import { decoding } from './index-damage.js';
import { encodeIn, partitionKey, sortRows, sortRowsInSlices, type KeyOrder } from './key-order.js';
import type { Row, RowKey } from './tree/row.js';

/** A row as a map function emits it, both parts as JSON text. */
export interface Emitted {
  key: Bytes;
  value: Bytes;
}

/** A document with more rows than these is worked on in slices. */
const rowsAtOnce = 500;

/**
 * The rows of one document, numbered where keys are equal. Such rows stand in the raw order of their keys, which may differ
 * in what the collation ignores, then in that of their values, and of their emission where all is equal.
 */
export function rowsOf(
  id: Bytes,
  emitted: readonly Emitted[],
  order: KeyOrder,
  partitioned: boolean,
  runtime: Runtime,
): Row[] | Promise<Row[]> {
  const partition = partitioned ? partitionKey(partitionOf(id) ?? noBytes) : undefined;
  const rowOf = ({ key, value }: Emitted): NumberedRow => ({
    key:
      partition === undefined
        ? order.encodeText(key)
        : encodeIn(partition, order, JSON.parse(fromBytes(key)) as unknown),
    id,
    n: 0,
    keyText: key,
    value,
  });
  if (emitted.length > rowsAtOnce) return manyRows(emitted, rowOf, order, runtime);
  const rows = emitted.map(rowOf);
  if (rows.length > 1) {
    sortRows(rows, order);
    for (const [from, to] of equalRuns(rows, order)) number(rows, from, equalSorted(rows.slice(from, to)));
  }
  return rows;
}

async function manyRows(
  emitted: readonly Emitted[],
  rowOf: (one: Emitted) => NumberedRow,
  order: KeyOrder,
  runtime: Runtime,
): Promise<Row[]> {
  const slice = runtime.slice();
  const unsorted: NumberedRow[] = [];
  for (const one of emitted) {
    if ((unsorted.push(rowOf(one)) & 63) === 0 && slice.isOver) await slice.next();
  }
  const rows = await sortRowsInSlices(unsorted, order, runtime);
  for (const [from, to] of equalRuns(rows, order)) {
    const equal = rows.slice(from, to);
    const isLong = equal.length > rowsAtOnce;
    number(rows, from, isLong ? await equalSortedInSlices(equal, runtime) : equalSorted(equal));
    if (slice.isOver) await slice.next();
  }
  return rows;
}

/** Where several rows of equal keys begin and end. */
function* equalRuns(rows: readonly NumberedRow[], { compare }: KeyOrder): Generator<[number, number]> {
  for (let from = 0, to = 1; to <= rows.length; to++) {
    if (to < rows.length && compare(rows[from]!.key, rows[to]!.key) === 0) continue;
    if (to - from > 1) yield [from, to];
    from = to;
  }
}

const areAlike = (rows: readonly NumberedRow[]): boolean =>
  rows.every(({ keyText, value }) => keyText === rows[0]!.keyText && value === rows[0]!.value);

interface Parsed {
  row: NumberedRow;
  key: unknown;
  value: unknown;
}

const parsed = (row: NumberedRow): Parsed => ({
  row,
  key: JSON.parse(fromBytes(row.keyText)),
  value: JSON.parse(fromBytes(row.value)),
});

const compareParsed = (a: Parsed, b: Parsed): number =>
  compareRaw(a.key, b.key) || compareRaw(a.value, b.value);

/** Rows of equal keys in their order, which their texts decide. */
function equalSorted(rows: readonly NumberedRow[]): readonly NumberedRow[] {
  if (areAlike(rows)) return rows;
  return rows
    .map(parsed)
    .sort(compareParsed)
    .map(({ row }) => row);
}

async function equalSortedInSlices(
  rows: readonly NumberedRow[],
  runtime: Runtime,
): Promise<readonly NumberedRow[]> {
  if (areAlike(rows)) return rows;
  const slice = runtime.slice();
  const list: Parsed[] = [];
  for (const row of rows) if ((list.push(parsed(row)) & 63) === 0 && slice.isOver) await slice.next();
  return (await sortInSlices(list, compareParsed, runtime)).map(({ row }) => row);
}

function number(rows: NumberedRow[], from: number, equal: readonly NumberedRow[]): void {
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
  return asBytes(bytes);
}

export function decodeRowKeys(id: Bytes, bytes: Bytes): RowKey[] {
  return decoding(() => {
    const reader = new ByteReader(bytes);
    const keys: RowKey[] = [];
    while (!reader.done) keys.push({ key: reader.take(reader.varint()), id, n: reader.varint() });
    return keys;
  });
}
