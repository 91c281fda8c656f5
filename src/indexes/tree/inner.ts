import { asBytes, varint, type Bytes } from '../../base/bytes.js';
import {
  damaged,
  flatSlice,
  innerKind,
  readFrom,
  readingAt,
  readVarint,
  TreeNode,
  varintBytes,
} from './tree-node.js';

/**
 * What an inner node says of a child: its id, its rows, its reductions, and its separator: a row key that is above all
 * rows before the child and not above any row in it. Only the very first separator of a tree means nothing.
 */
export interface Child {
  readonly node: number;
  readonly count: number;
  readonly key: Bytes;
  readonly id: Bytes;
  readonly n: number;
  reduction(reducer: number): Bytes;
}

/** Numbers kept of each entry before the places of its reductions. */
const stride = 4;
const start = 0;
const keyAt = 1;
const idAt = 2;
const number = 3;

/** A decoded inner node. */
export class Inner extends TreeNode {
  /** The ids of the children. */
  readonly children: number[] = [];
  readonly #before: number[] = [0];
  readonly #table: number[] = [];
  readonly #stride: number;

  constructor(
    text: Bytes,
    readonly reducers = reducersOf(text),
  ) {
    readFrom(2);
    const count = readVarint(text);
    if (text.charCodeAt(0) !== innerKind || count > text.length) throw damaged('it is no inner node');
    super(text, count);
    this.#stride = stride + reducers;
    let rows = 0;
    for (let i = 0; i < count; i++) this.#before.push((rows += this.#readEntry()));
    this.#table.push(readingAt());
    if (readingAt() !== text.length) throw damaged('its entries are longer or shorter than it');
  }

  #readEntry(): number {
    const { text } = this;
    const table = this.#table;
    table.push(readingAt());
    this.children.push(readVarint(text));
    const rows = readVarint(text);
    const n = readVarint(text);
    const keyBytes = readVarint(text);
    const idBytes = readVarint(text);
    const places = table.length + 3;
    table.push(0, 0, n);
    for (let r = 0; r < this.reducers; r++) table.push(readVarint(text));
    let at = readingAt();
    table[places - 3] = at;
    table[places - 2] = at += keyBytes;
    at += idBytes;
    for (let r = 0; r < this.reducers; r++) {
      const bytes = table[places + r]!;
      table[places + r] = at;
      at += bytes;
    }
    readFrom(at);
    return rows;
  }

  rowsBefore(i: number): number {
    return this.#before[i]!;
  }

  /** The child in which the row of that place among all rows of this node stands. */
  childOfRank(rank: number): number {
    let low = 0;
    let high = this.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#before[middle]! <= rank) low = middle;
      else high = middle;
    }
    return low;
  }

  countOf(i: number): number {
    return this.#before[i + 1]! - this.#before[i]!;
  }

  protected cutKey(i: number): Bytes {
    return flatSlice(
      this.text,
      this.#table[i * this.#stride + keyAt]!,
      this.#table[i * this.#stride + idAt]!,
    );
  }

  id(i: number): Bytes {
    const base = i * this.#stride;
    return this.text.slice(this.#table[base + idAt]!, this.#table[base + stride]!);
  }

  n(i: number): number {
    return this.#table[i * this.#stride + number]!;
  }

  reduction(i: number, reducer: number): Bytes {
    const at = i * this.#stride + stride + reducer;
    return this.text.slice(this.#table[at]!, this.#table[at + 1]!);
  }

  startOf(i: number): number {
    return this.#table[i * this.#stride + start]!;
  }
}

const reducersOf = (text: Bytes): number => text.charCodeAt(1);

/** A child of a stored node, cut from it when it is looked at. */
export class InnerChild implements Child {
  constructor(
    readonly parent: Inner,
    readonly at: number,
  ) {}

  get node(): number {
    return this.parent.children[this.at]!;
  }

  get count(): number {
    return this.parent.countOf(this.at);
  }

  get key(): Bytes {
    return this.parent.key(this.at);
  }

  get id(): Bytes {
    return this.parent.id(this.at);
  }

  get n(): number {
    return this.parent.n(this.at);
  }

  reduction(reducer: number): Bytes {
    return this.parent.reduction(this.at, reducer);
  }
}

/** A child whose node an update has made. */
export class MadeChild implements Child {
  /** One for each reducer, filled when they have answered. */
  readonly reductions: Bytes[] = [];

  constructor(
    readonly node: number,
    readonly count: number,
    readonly key: Bytes,
    readonly id: Bytes,
    readonly n: number,
    /** The only child of the node, if it has but one. */
    readonly only: Child | undefined,
  ) {}

  reduction(reducer: number): Bytes {
    return this.reductions[reducer]!;
  }
}

/** Bytes before the first entry, at most. */
export const innerHeadBytes = 6;

export function childBytes(child: Child): number {
  if (child instanceof InnerChild) return child.parent.startOf(child.at + 1) - child.parent.startOf(child.at);
  const { node, count, n, key, id, reductions } = child as MadeChild;
  let bytes = varintBytes(node) + varintBytes(count) + varintBytes(n);
  bytes += varintBytes(key.length) + varintBytes(id.length) + key.length + id.length;
  for (const reduction of reductions) bytes += varintBytes(reduction.length) + reduction.length;
  return bytes;
}

function encodeChild({ node, count, key, id, n, reductions }: MadeChild): Bytes {
  let text = varint(node) + varint(count) + varint(n) + varint(key.length) + varint(id.length);
  for (const reduction of reductions) text += varint(reduction.length);
  text += key + id;
  for (const reduction of reductions) text += reduction;
  return asBytes(text);
}

export function encodeInner(children: readonly Child[], from: number, to: number, reducers: number): Bytes {
  let text = String.fromCharCode(innerKind, reducers) + varint(to - from);
  for (let i = from; i < to;) {
    const child = children[i]!;
    if (!(child instanceof InnerChild)) {
      text += encodeChild(child as MadeChild);
      i++;
      continue;
    }
    // Neighbours that stay neighbours are copied together.
    let end = i + 1;
    for (let next; end < to && (next = children[end]) instanceof InnerChild; end++)
      if (next.parent !== child.parent || next.at !== child.at + end - i) break;
    text += child.parent.text.slice(child.parent.startOf(child.at), child.parent.startOf(child.at + end - i));
    i = end;
  }
  return asBytes(text);
}
