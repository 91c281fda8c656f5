import { asBytes, readVarintAt, varint, varintEnd, type Bytes } from '../base/bytes.js';
import {
  bodyEnd,
  bytesMax,
  checkedCount,
  docsMax,
  headFactor,
  postingsAt,
  type Block,
  type RawPosting,
} from './posting-block.js';

/**
 * A block in which one document has another posting, or none. The others are copied as they stand, not decoded. Undefined
 * where that is not enough: the block would begin with another document, or be too large.
 */
export function editBlock(block: Block, doc: number, posting: RawPosting | undefined): Bytes | undefined {
  const { first, value } = block;
  const count = checkedCount(value);
  if (doc < first || (doc === first && posting === undefined)) return undefined;
  let at = postingsAt(value);
  let before = first;
  for (let left = count; left > 0; left--) {
    const head = readVarintAt(value, at);
    const here = before + Math.floor(head / headFactor);
    if (here > doc) break;
    const flags = head % headFactor;
    const end = bodyEnd(value, varintEnd(value, at), flags);
    if (here === doc) {
      if (posting === undefined) return without(block, count, at, end, before);
      const edited = asBytes(
        value.slice(0, at) + varint(head - flags + posting.flags) + posting.body + value.slice(end),
      );
      return edited.length > bytesMax ? undefined : edited;
    }
    before = here;
    at = end;
  }
  return posting === undefined ? value : withOne(block, count, at, before, posting);
}

/** The posting between two places is left out, which stands behind the one of `before`. */
function without({ first, value }: Block, count: number, at: number, end: number, before: number): Bytes {
  const isLast = end >= value.length;
  const span = isLast ? before - first : spanOf(value);
  return asBytes(
    headOf(count - 1, span) +
      value.slice(postingsAt(value), at) +
      (isLast ? '' : shifted(value, end, distanceAt(value, at))),
  );
}

/** A posting comes in at a place, behind the one of `before`. */
function withOne(
  { first, value }: Block,
  count: number,
  at: number,
  before: number,
  { doc, flags, body }: RawPosting,
): Bytes | undefined {
  const isLast = at >= value.length;
  const span = isLast ? doc - first : spanOf(value);
  const edited = asBytes(
    headOf(count + 1, span) +
      value.slice(postingsAt(value), at) +
      varint((doc - before) * headFactor + flags) +
      body +
      (isLast ? '' : shifted(value, at, before - doc)),
  );
  return count >= docsMax || edited.length > bytesMax ? undefined : edited;
}

/** The postings from a place on, the first of which is farther from the one before by some distance. */
const shifted = (value: Bytes, at: number, by: number): Bytes =>
  asBytes(varint(readVarintAt(value, at) + by * headFactor) + value.slice(varintEnd(value, at)));

const distanceAt = (value: Bytes, at: number): number => Math.floor(readVarintAt(value, at) / headFactor);

const headOf = (count: number, span: number): Bytes => asBytes(varint(count) + varint(span));

const spanOf = (value: Bytes): number => readVarintAt(value, varintEnd(value, 0));
