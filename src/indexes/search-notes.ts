import { asBytes, ByteReader, type Bytes } from '../base/bytes.js';
import { decoding } from './index-damage.js';

/**
 * What is remembered of a document in a search index, so that all can be found that the index has of it: its number there, 4
 * bytes, and the keys of its postings, each as the number of bytes that it has in common with the one before, and the rest.
 */
const numberBytes = 4;

let scratch = Buffer.allocUnsafe(64 * 1024);

export function encodeNote(number: Bytes, terms: Uint32Array, keyOf: readonly Bytes[]): Bytes {
  let end = 0;
  let bytes = scratch;
  let before = '';
  for (let i = 0; i < terms.length; i++) {
    const key = keyOf[terms[i]!]!;
    if (end + key.length + 16 > bytes.length)
      bytes = scratch = Buffer.concat([bytes], (bytes.length + key.length) * 2);
    const most = Math.min(before.length, key.length);
    let shared = 0;
    while (shared < most && before.charCodeAt(shared) === key.charCodeAt(shared)) shared++;
    end = putVarint(bytes, end, shared);
    end = putVarint(bytes, end, key.length - shared);
    for (let at = shared; at < key.length; at++) bytes[end++] = key.charCodeAt(at);
    before = key;
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
