import { asBytes, ByteReader, type Bytes } from '../base/bytes.js';
import { decoding } from './index-damage.js';
import type { PostingLog } from './posting-log.js';
import type { TermKeys } from './term-keys.js';

/**
 * What is remembered of a document in a search index, so that all can be found that the index has of it: its number there, 4
 * bytes, and the keys of its postings, each as the number of bytes that it has in common with the one before, and the rest.
 */
const numberBytes = 4;

let scratch = Buffer.allocUnsafe(64 * 1024);

/** The note of a document whose terms stand in a list between two places. */
export function encodeNote(
  number: Bytes,
  { list, from, to }: ReturnType<PostingLog['terms']>,
  keys: TermKeys,
): Bytes {
  const { all, ends } = keys.bytes;
  let end = 0;
  let bytes = scratch;
  let before = 0;
  let beforeEnd = 0;
  for (let i = from; i < to; i++) {
    const term = list[i]!;
    const start = ends[term]!;
    const keyEnd = ends[term + 1]!;
    const length = keyEnd - start;
    if (end + length + 16 > bytes.length)
      bytes = scratch = Buffer.concat([bytes], (bytes.length + length) * 2);
    const most = Math.min(beforeEnd - before, length);
    let shared = 0;
    while (shared < most && all[before + shared] === all[start + shared]) shared++;
    end = putVarint(bytes, end, shared);
    end = putVarint(bytes, end, length - shared);
    for (let at = start + shared; at < keyEnd; at++) bytes[end++] = all[at]!;
    before = start;
    beforeEnd = keyEnd;
  }
  return asBytes(number + bytes.latin1Slice(0, end));
}

/** Gives where the next byte goes. */
function putVarint(bytes: Buffer, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

export function decodeNote(note: Bytes): { number: Bytes; keys: Bytes[] } {
  return decoding(() => {
    const reader = new ByteReader(note);
    const number = reader.take(numberBytes);
    const keys: Bytes[] = [];
    let before = '';
    while (!reader.done) {
      const shared = reader.varint();
      before = before.slice(0, shared) + reader.take(reader.varint());
      keys.push(asBytes(before));
    }
    return { number, keys };
  });
}
