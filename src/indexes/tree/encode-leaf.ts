import { asBytes, u48, varint, type Bytes } from '../../base/bytes.js';
import type { Sizes } from './divide.js';
import { headShift, lasting, LeafRow, ownRecordBit, sameKeyBit, type ValueSource } from './leaf.js';
import type { Row } from './row.js';
import { leafKind, varintBytes } from './tree-node.js';

/** Longer values stand in records of their own. */
const valueBytesMax = 1_024;

/** Bytes before the first entry, at most. */
const leafHeadBytes = 5;

/** Puts a value beside the tree and gives the id of its record. */
export type StoreValue = (value: Bytes) => number;

/** A row that doesn't stand in this tree yet, whatever tree it was read from. */
export const newRow = (row: Row): Row => (row instanceof LeafRow ? lasting(row) : row);

export function pushRows(
  rows: Row[],
  from: number,
  to: number,
  leaf: LeafRow['leaf'],
  source: ValueSource,
): void {
  for (let at = from; at < to; at++) rows.push(new LeafRow(leaf, at, source));
}

/** Bytes of each row behind the one before it, and how many more they are where it begins a leaf. */
export function measureRows(rows: readonly Row[]): Sizes {
  const sizes: number[] = [];
  const extras: number[] = [];
  let total = 0;
  let previous: Row | undefined;
  for (const row of rows) {
    const isShared = previous !== undefined && sharesKey(previous, row);
    let size: number;
    let extra = 0;
    if (row instanceof LeafRow) {
      const { leaf, at } = row;
      size = leaf.startOf(at + 1) - leaf.startOf(at);
      if (leaf.sharesKey(at)) extra = keyBytes(leaf.keyLength(at), leaf.keyTextLength(at));
    } else {
      const valueBytes = storedValueBytes(row.value);
      size = varintBytes(row.n << headShift) + varintBytes(row.id.length) + row.id.length;
      size += varintBytes(valueBytes) + valueBytes;
      extra = keyBytes(row.key.length, row.keyText.length);
    }
    if (!isShared) size += extra;
    sizes.push(size);
    extras.push(isShared ? extra : 0);
    total += size;
    previous = row;
  }
  return { sizes, extras, total, headBytes: leafHeadBytes };
}

const keyBytes = (key: number, keyText: number): number =>
  varintBytes(key) + varintBytes(keyText) + key + keyText;

const storedValueBytes = (value: Bytes): number =>
  value.length > valueBytesMax ? 6 + varintBytes(value.length) : value.length;

/** Whether `row`, right behind `previous`, is stored without its key. A stored row that has its own keeps it. */
function sharesKey(previous: Row, row: Row): boolean {
  if (row instanceof LeafRow) {
    if (!row.leaf.sharesKey(row.at)) return false;
    if (isBehind(previous, row)) return true;
  }
  return previous.key === row.key && previous.keyText === row.keyText;
}

const isBehind = (previous: Row, row: LeafRow): boolean =>
  previous instanceof LeafRow && previous.leaf === row.leaf && previous.at + 1 === row.at;

export function encodeLeaf(rows: readonly Row[], from: number, to: number, storeValue: StoreValue): Bytes {
  let text = String.fromCharCode(leafKind) + varint(to - from);
  for (let i = from; i < to;) {
    const row = rows[i]!;
    const isShared = i > from && sharesKey(rows[i - 1]!, row);
    if (!(row instanceof LeafRow)) {
      text += encodeRow(row, isShared, storeValue);
      i++;
      continue;
    }
    const { leaf, at } = row;
    let end = i + 1;
    while (end < to && isNext(rows[end]!, row, end - i)) end++;
    if (isShared === leaf.sharesKey(at)) {
      text += leaf.text.slice(leaf.startOf(at), leaf.startOf(at + end - i));
    } else {
      // Its key stood with a row that is no longer before it.
      text += leaf.withKey(at) + leaf.text.slice(leaf.startOf(at + 1), leaf.startOf(at + end - i));
    }
    i = end;
  }
  return asBytes(text);
}

const isNext = (row: Row, first: LeafRow, distance: number): boolean =>
  row instanceof LeafRow && row.leaf === first.leaf && row.at === first.at + distance;

function encodeRow({ key, id, n, keyText, value }: Row, isShared: boolean, storeValue: StoreValue): Bytes {
  const isOwn = value.length > valueBytesMax;
  const stored = isOwn ? u48(storeValue(value)) + varint(value.length) : value;
  const head = (n << headShift) | (isOwn ? ownRecordBit : 0) | (isShared ? sameKeyBit : 0);
  if (isShared) return asBytes(varint(head) + varint(id.length) + varint(stored.length) + id + stored);
  if ((head | key.length | keyText.length | id.length | stored.length) < 0x80) {
    const lengths = String.fromCharCode(head, key.length, keyText.length, id.length, stored.length);
    return asBytes(lengths + key + keyText + id + stored);
  }
  const lengths = varint(key.length) + varint(keyText.length) + varint(id.length) + varint(stored.length);
  return asBytes(varint(head) + lengths + key + keyText + id + stored);
}
