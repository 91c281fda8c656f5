import { asBytes, type Bytes } from '../../base/bytes.js';
import type { Bound, Compare, RowKey } from './row.js';

/** A node of at most so many bytes costs LMDB one page; one byte too many costs two. */
export const nodeBytesMax = 4_060;

/** The first byte of a node. */
export const leafKind = 1;
export const innerKind = 2;

/** Results of reductions that a node remembers for its readers. */
const memosMax = 32;

/** Counts the bytes that nodes memoize: implemented by the cache that holds the nodes. */
export interface MemoBudget {
  charge(bytes: number): void;
}

/**
 * What leaves and inner nodes have in common: entries in the order of their row keys (of an inner node: the separators of
 * its children), cut from the stored text when they are asked for. Nodes never change.
 */
export abstract class TreeNode {
  readonly #keys: (Bytes | undefined)[];
  #memos: Map<number, unknown> | undefined;
  /** What is remembered takes about so much. */
  memoBytes = 0;
  budget: MemoBudget | undefined;

  constructor(
    readonly text: Bytes,
    /** Entries. */
    readonly length: number,
  ) {
    this.#keys = new Array<Bytes | undefined>(length).fill(undefined);
  }

  /** Rows in and below the first `i` entries. */
  abstract rowsBefore(i: number): number;
  abstract id(i: number): Bytes;
  abstract n(i: number): number;
  protected abstract cutKey(i: number): Bytes;

  key(i: number): Bytes {
    return (this.#keys[i] ??= this.cutKey(i));
  }

  /** The first entry from `from` on that is not before the bound. The very first is tried first: it often is. */
  seek(from: number, bound: Bound, compare: Compare): number {
    if (from >= this.length || !this.isBefore(from, bound, compare)) return from;
    return this.seekIn(from + 1, this.length, bound, compare);
  }

  /** The same among the entries from `low` to below `high`. */
  seekIn(low: number, high: number, bound: Bound, compare: Compare): number {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.isBefore(middle, bound, compare)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether the entry stands before the bound. */
  isBefore(i: number, bound: Bound, compare: Compare): boolean {
    const difference = compare(this.key(i), bound.key);
    if (difference !== 0) return difference < 0;
    if (bound.id === undefined) return bound.after;
    const id = this.id(i);
    return id === bound.id ? bound.after : id < bound.id;
  }

  /** The first entry from `low` on that is not below the row. */
  firstNotBelow(row: RowKey, low: number, compare: Compare): number {
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compareRow(middle, row, compare) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first entry from `low` on that is above the row. */
  firstAbove(row: RowKey, low: number, compare: Compare): number {
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compareRow(middle, row, compare) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Compares the entry with the row, as `compareRows` does. */
  compareRow(i: number, row: RowKey, compare: Compare): number {
    const difference = compare(this.key(i), row.key);
    if (difference !== 0) return difference;
    const id = this.id(i);
    if (id !== row.id) return id < row.id ? -1 : 1;
    return this.n(i) - row.n;
  }

  /** What was remembered of the entries from `from` to below `to`, for one of the reducers. */
  memo(from: number, to: number, reducer: number): unknown {
    return this.#memos?.get(memoKey(from, to, reducer));
  }

  remember(from: number, to: number, reducer: number, value: unknown): void {
    this.#memos ??= new Map();
    if (this.#memos.size >= memosMax) {
      this.#memos.clear();
      this.memoBytes = 0;
    }
    this.#memos.set(memoKey(from, to, reducer), value);
    const bytes = roughBytes(value);
    this.memoBytes += bytes;
    this.budget?.charge(bytes);
  }
}

/** About what a value takes in memory. */
function roughBytes(value: unknown): number {
  const base = 100;
  if (typeof value === 'string') return base + value.length;
  if (typeof value !== 'object' || value === null) return base;
  if (ArrayBuffer.isView(value)) return base + value.byteLength;
  return base * (1 + Object.keys(value).length);
}

/** Entries of a node are far fewer than 2^22, reducers of a view than 2^9. */
const memoKey = (from: number, to: number, reducer: number): number =>
  (reducer * 0x40_0000 + from) * 0x40_0000 + to;

/**
 * A part of a text as a string of its own: a slice of more than 12 characters would stay a slice, which is compared four
 * times slower. A sum of two is made plain by the first comparison.
 */
export const flatSlice = (text: Bytes, start: number, end: number): Bytes =>
  end - start < 13 ? text.slice(start, end) : asBytes(text.charAt(start) + text.slice(start + 1, end));

/** Where `readVarint` reads next. A variable beside the function spares an object for each number. */
let cursor = 0;

export const readFrom = (at: number): void => void (cursor = at);
export const readingAt = (): number => cursor;

export function readVarint(text: Bytes): number {
  const first = text.charCodeAt(cursor++);
  if (first < 0x80) return first;
  let value = first - 0x80;
  for (let factor = 0x80; ; factor *= 0x80) {
    const byte = text.charCodeAt(cursor++);
    if (byte < 0x80) return value + byte * factor;
    // Also where the node ends too soon, and the byte is no number.
    if (!(factor <= 2 ** 49)) throw damaged('a number has no end');
    value += (byte - 0x80) * factor;
  }
}

export const damaged = (what: string): Error => new Error(`a node of a view's tree is damaged: ${what}`);

/** Bytes of a varint. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
