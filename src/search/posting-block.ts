import { asBytes, readVarintAt, varint, varintEnd, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';

/**
 * The postings of a term stand in blocks, each a row of the tree under the number of its first document. All that is needed
 * to put two neighbouring blocks together stands at the beginning, so that this takes no decoding:
 *
 *   count, last - first, { head [frequency] length [boost] position… }…      all varints
 *
 * The head has the distance from the document before, shifted by two bits: whether there is a boost, in thousandths, and whether the
 * term stands once, which is then not said again. Each position is the distance from the one before. Lists of documents
 * without terms (of the documents that have a number, or a field) have the frequency 0 and no positions.
 */
export const docsMax = 128;
/** Longer values have records of their own in the tree. */
export const bytesMax = 1_000;
export const onceBit = 1;
export const boostBit = 2;
export const headFactor = 4;
const scratchBytes = 64 * 1024;
/** Room for the two numbers that a block begins with. */
const blockHeadBytes = 16;

/** Boosts are kept as so many thousandths. */
export const boostUnit = 1_000;

export interface Block {
  /** The number of the first document. */
  first: number;
  value: Bytes;
}

/** Makes blocks of postings that come in the order of their documents. */
export class BlockWriter {
  #bytes: Buffer;
  #end = blockHeadBytes;
  #count = 0;
  #first = 0;
  #last = 0;

  constructor(bytes = scratchBytes) {
    this.#bytes = Buffer.allocUnsafe(bytes);
  }

  /** Adds a posting whose body stands between two places of `bytes`. Gives the block before where it is full. */
  put(doc: number, flags: number, bytes: Uint8Array, from: number, to: number): Block | undefined {
    const full = this.#begin(doc, flags, to - from);
    const own = this.#bytes;
    let end = this.#end;
    for (let at = from; at < to; at++) own[end++] = bytes[at]!;
    this.#end = end;
    return full;
  }

  /** Adds a posting of another block. */
  take({ doc, flags, body }: RawPosting): Block | undefined {
    const full = this.#begin(doc, flags, body.length);
    this.#end += this.#bytes.latin1Write(body, this.#end);
    return full;
  }

  /** Writes the head of a posting, and makes room for its body. */
  #begin(doc: number, flags: number, bodyBytes: number): Block | undefined {
    const isFull =
      this.#count >= docsMax || (this.#count > 0 && this.#end - blockHeadBytes + bodyBytes > bytesMax);
    const full = isFull ? this.finish() : undefined;
    if (this.#count === 0) this.#first = this.#last = doc;
    this.#reserve(bodyBytes + 8);
    let rest = (doc - this.#last) * headFactor + flags;
    while (rest >= 0x80) {
      this.#bytes[this.#end++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#end++] = rest;
    this.#last = doc;
    this.#count++;
    return full;
  }

  /** The last block; undefined where it has nothing. */
  finish(): Block | undefined {
    if (this.#count === 0) return undefined;
    const head = varint(this.#count) + varint(this.#last - this.#first);
    const start = blockHeadBytes - head.length;
    for (let i = 0; i < head.length; i++) this.#bytes[start + i] = head.charCodeAt(i);
    const block = { first: this.#first, value: this.#bytes.latin1Slice(start, this.#end) };
    this.#end = blockHeadBytes;
    this.#count = 0;
    return block;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Documents of a block. */
export const blockCount = (value: Bytes): number => readVarintAt(value, 0);

/** Two neighbouring blocks as one; undefined where that would be too large. */
export function joinBlocks(a: Block, b: Block): Bytes | undefined {
  if (a.value.length + b.value.length > bytesMax) return undefined;
  const counts = blockCount(a.value) + blockCount(b.value);
  if (counts > docsMax) return undefined;
  const spanAt = varintEnd(a.value, 0);
  const span = readVarintAt(a.value, spanAt);
  const bSpanAt = varintEnd(b.value, 0);
  const headAt = varintEnd(b.value, bSpanAt);
  const flags = readVarintAt(b.value, headAt);
  const head = (b.first - a.first - span) * headFactor + flags;
  return asBytes(
    varint(counts) +
      varint(b.first - a.first + readVarintAt(b.value, bSpanAt)) +
      a.value.slice(varintEnd(a.value, spanAt)) +
      varint(head) +
      b.value.slice(varintEnd(b.value, headAt)),
  );
}

/** A posting as it is stored, but for the distance from the one before. */
export interface RawPosting {
  doc: number;
  flags: number;
  body: Bytes;
}

export function rawPostings({ first, value }: Block): RawPosting[] {
  const postings: RawPosting[] = [];
  let doc = first;
  let at = postingsAt(value);
  for (let left = checkedCount(value); left > 0; left--) {
    const head = readVarintAt(value, at);
    const bodyAt = varintEnd(value, at);
    const flags = head % headFactor;
    doc += Math.floor(head / headFactor);
    at = bodyEnd(value, bodyAt, flags);
    postings.push({ doc, flags, body: value.slice(bodyAt, at) });
  }
  return postings;
}

/** Where a posting ends, all of which but its head begins at a place. */
export function bodyEnd(value: Bytes, bodyAt: number, flags: number): number {
  let at = bodyAt;
  const frequency = (flags & onceBit) !== 0 ? 1 : readVarintAt(value, at);
  if ((flags & onceBit) === 0) at = varintEnd(value, at);
  at = varintEnd(value, at);
  if ((flags & boostBit) !== 0) at = varintEnd(value, at);
  return positionsEnd(value, at, frequency);
}

/** Where a posting of a block begins: the document before it, and how many are left. */
export interface PostingPlace {
  doc: number;
  at: number;
  left: number;
}

/** Postings of one term, member by member. */
export class Postings {
  readonly docs: number[] = [];
  readonly frequencies: number[] = [];
  readonly lengths: number[] = [];
  readonly boosts: number[] = [];
  /** Where the positions stand; only there where they were asked for. */
  readonly #places: { value: Bytes; at: number }[] = [];

  constructor(private readonly hasPositions = false) {}

  /**
   * Adds the postings of a block whose documents are in a range. Gives the place of the first that does not stand before it, where a
   * later range of the same block may begin.
   */
  add({ first, value }: Block, from: number, to: number, start?: PostingPlace): PostingPlace {
    let doc = start?.doc ?? first;
    let at = start?.at ?? postingsAt(value);
    let place: PostingPlace | undefined;
    for (let left = start?.left ?? checkedCount(value); left > 0; left--) {
      const before = doc;
      const headAt = at;
      let head = value.charCodeAt(at++);
      if (head >= 0x80) {
        head = readVarintAt(value, at - 1);
        at = varintEnd(value, at);
      }
      doc += head < 0x8000_0000 ? head >>> 2 : Math.floor(head / headFactor);
      if (doc >= from) place ??= { doc: before, at: headAt, left };
      if (doc >= to) return place!;
      let frequency = 1;
      if ((head & onceBit) === 0) {
        frequency = readVarintAt(value, at);
        at = varintEnd(value, at);
      }
      let length = value.charCodeAt(at++);
      if (length >= 0x80) {
        length = readVarintAt(value, at - 1);
        at = varintEnd(value, at);
      }
      let boost = 1;
      if ((head & boostBit) !== 0) {
        boost = readVarintAt(value, at) / boostUnit;
        at = varintEnd(value, at);
      }
      if (doc >= from) {
        this.docs.push(doc);
        this.frequencies.push(frequency);
        this.lengths.push(length);
        this.boosts.push(boost);
        if (this.hasPositions) this.#places.push({ value, at });
      }
      // A document with very many positions has a block of its own: they need not be passed over.
      if (left > 1) at = positionsEnd(value, at, frequency);
      else if (at + frequency > value.length) throw endsTooSoon();
    }
    return place ?? { doc, at, left: 0 };
  }

  positions(i: number): number[] {
    const { value, at: begin } = this.#places[i]!;
    const positions: number[] = [];
    let position = 0;
    for (let at = begin, left = this.frequencies[i]!; left > 0; left--, at = varintEnd(value, at))
      positions.push((position += readVarintAt(value, at)));
    return positions;
  }
}

export function sumOfLengths(value: Bytes): number {
  const postings = new Postings();
  postings.add({ first: 0, value }, 0, Infinity);
  return postings.lengths.reduce((sum, length) => sum + length, 0);
}

const endsTooSoon = (): Error => new CorruptRecord('a block of postings ends too soon');

function positionsEnd(value: Bytes, at: number, frequency: number): number {
  if (at + frequency > value.length) throw endsTooSoon();
  for (let left = frequency; left > 0; left--) while (value.charCodeAt(at++) >= 0x80);
  return at;
}

export const postingsAt = (value: Bytes): number => varintEnd(value, varintEnd(value, 0));

export function checkedCount(value: Bytes): number {
  const count = blockCount(value);
  if (count > value.length) throw new CorruptRecord('a block of postings has no end');
  return count;
}
