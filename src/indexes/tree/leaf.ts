import { asBytes, readU48, varint, type Bytes } from '../../base/bytes.js';
import type { Row } from './row.js';
import { damaged, flatSlice, leafKind, readFrom, readingAt, readVarint, TreeNode } from './tree-node.js';

/** Bits of the number an entry begins with; `n` stands above them. */
export const sameKeyBit = 1;
export const ownRecordBit = 2;
export const headShift = 2;

/** Numbers kept of each entry: where its parts begin, and what it begins with. */
const stride = 7;
const start = 0;
const keyAt = 1;
const textAt = 2;
const textEnd = 3;
const idAt = 4;
const valueAt = 5;
const head = 6;

/** Where values that don't stand in leaves are read. */
export interface ValueSource {
  value(record: number): Bytes;
}

/** A decoded leaf: a table of positions in its text. Strings are cut when they are asked for. */
export class Leaf extends TreeNode {
  readonly #table: Uint32Array;
  #docKeys: Bytes[] | undefined;

  constructor(text: Bytes) {
    readFrom(1);
    const count = readVarint(text);
    if (text.charCodeAt(0) !== leafKind || count > text.length) throw damaged('it is no leaf');
    super(text, count);
    this.#table = readTable(text, count);
  }

  rowsBefore(i: number): number {
    return i;
  }

  protected cutKey(i: number): Bytes {
    return flatSlice(this.text, this.#table[i * stride + keyAt]!, this.#table[i * stride + textAt]!);
  }

  keyText(i: number): Bytes {
    return this.text.slice(this.#table[i * stride + textAt]!, this.#table[i * stride + textEnd]!);
  }

  id(i: number): Bytes {
    return this.text.slice(this.#table[i * stride + idAt]!, this.#table[i * stride + valueAt]!);
  }

  /** The key of a row's document, made once: a string that was looked up before is looked up several times faster. */
  docKey(i: number, keyOf: (id: Bytes) => Bytes): Bytes {
    this.#docKeys ??= [];
    return (this.#docKeys[i] ??= keyOf(this.id(i)));
  }

  n(i: number): number {
    const number = this.#table[i * stride + head]!;
    return number >>> headShift;
  }

  /** Whether the entry has the key of the one before, and none of its own. */
  sharesKey(i: number): boolean {
    return (this.#table[i * stride + head]! & sameKeyBit) !== 0;
  }

  /** Whether the value stands in a record of its own. */
  hasOwnRecord(i: number): boolean {
    return (this.#table[i * stride + head]! & ownRecordBit) !== 0;
  }

  /** The record that has the value and its length, where it doesn't stand here. */
  ownRecord(i: number): { record: number; bytes: number } | undefined {
    if (!this.hasOwnRecord(i)) return undefined;
    const at = this.#table[i * stride + valueAt]!;
    readFrom(at + 6);
    return { record: readU48(this.text, at), bytes: readVarint(this.text) };
  }

  value(i: number, source: ValueSource): Bytes {
    const at = this.#table[i * stride + valueAt]!;
    if (this.hasOwnRecord(i)) return source.value(readU48(this.text, at));
    return this.text.slice(at, this.startOf(i + 1));
  }

  startOf(i: number): number {
    return this.#table[i * stride + start]!;
  }

  keyLength(i: number): number {
    return this.#table[i * stride + textAt]! - this.#table[i * stride + keyAt]!;
  }

  keyTextLength(i: number): number {
    return this.#table[i * stride + textEnd]! - this.#table[i * stride + textAt]!;
  }

  /** The entry as it is stored where the one before has another key. */
  withKey(i: number): Bytes {
    const base = i * stride;
    const table = this.#table;
    const idBytes = table[base + valueAt]! - table[base + idAt]!;
    const valueBytes = this.startOf(i + 1) - table[base + valueAt]!;
    return asBytes(
      varint(table[base + head]! & ~sameKeyBit) +
        varint(this.keyLength(i)) +
        varint(this.keyTextLength(i)) +
        varint(idBytes) +
        varint(valueBytes) +
        this.text.slice(table[base + keyAt]!, table[base + textEnd]!) +
        this.text.slice(table[base + idAt]!, this.startOf(i + 1)),
    );
  }
}

function readTable(text: Bytes, count: number): Uint32Array {
  const table = new Uint32Array(count * stride + 1);
  let key = 0;
  let keyText = 0;
  let keyEnd = 0;
  for (let base = 0; base < count * stride; base += stride) {
    table[base + start] = readingAt();
    const number = readVarint(text);
    const isSame = (number & sameKeyBit) !== 0;
    const keyBytes = isSame ? 0 : readVarint(text);
    const textBytes = isSame ? 0 : readVarint(text);
    const idBytes = readVarint(text);
    const valueBytes = readVarint(text);
    const at = readingAt();
    if (!isSame) {
      key = at;
      keyText = at + keyBytes;
      keyEnd = keyText + textBytes;
    }
    table[base + keyAt] = key;
    table[base + textAt] = keyText;
    table[base + textEnd] = keyEnd;
    table[base + idAt] = at + keyBytes + textBytes;
    table[base + valueAt] = at + keyBytes + textBytes + idBytes;
    table[base + head] = number;
    readFrom(at + keyBytes + textBytes + idBytes + valueBytes);
  }
  table[count * stride] = readingAt();
  if (readingAt() !== text.length) throw damaged('its entries are longer or shorter than it');
  return table;
}

/**
 * A row of a leaf, cut from it when it is looked at. A value that has a record of its own is read then too, so who keeps
 * rows for later has to make them `lasting`.
 */
export class LeafRow implements Row {
  constructor(
    readonly leaf: Leaf,
    readonly at: number,
    readonly source: ValueSource,
  ) {}

  get key(): Bytes {
    return this.leaf.key(this.at);
  }

  get id(): Bytes {
    return this.leaf.id(this.at);
  }

  get n(): number {
    return this.leaf.n(this.at);
  }

  get keyText(): Bytes {
    return this.leaf.keyText(this.at);
  }

  get value(): Bytes {
    return this.leaf.value(this.at, this.source);
  }

  docKey(keyOf: (id: Bytes) => Bytes): Bytes {
    return this.leaf.docKey(this.at, keyOf);
  }
}

/** The row with all that belongs to it. */
export const lasting = ({ key, id, n, keyText, value }: Row): Row => ({ key, id, n, keyText, value });
