import { asBytes, type Bytes } from '../base/bytes.js';

/**
 * The checksum that follows every stored value: xxHash (32 bits) of the value, with a hash of its key as the seed. So a
 * value under the wrong key is found too. Any change within four bytes at a multiple of four, or of one byte of the key,
 * gives another checksum for certain; of other changes, one in four billion goes unnoticed.
 *
 * Not `zlib.crc32`: a call into native code takes longer than this for values of up to 1 KB, which most are.
 */
export const checksumBytes = 4;

const fnvPrime = 0x01000193;
const fnvStart = 0x811c9dc5 | 0;

export function hashKey(key: Bytes): number {
  let hash = fnvStart;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), fnvPrime);
  return hash;
}

export function hashKeyBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = fnvStart;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, fnvPrime);
  return hash;
}

/** The same bytes, one by one and by fours. */
export interface ByteViews {
  octets: Uint8Array;
  words: Int32Array;
}

/** A hash of the `length` bytes that begin at `start`, a multiple of four. */
type Hash = (views: ByteViews, start: number, length: number, seed: number) => number;

const prime1 = 0x9e3779b1 | 0;
const prime2 = 0x85ebca77 | 0;
const prime3 = 0xc2b2ae3d | 0;
const prime4 = 0x27d4eb2f;
const prime5 = 0x165667b1;

/**
 * XXH32. Four words at a time go into four sums that don't depend on each other, which the processor computes side by side:
 * half the time of a hash with one sum.
 */
function xxHash32({ octets, words }: ByteViews, start: number, length: number, seed: number): number {
  const end = start + length;
  const wordsEnd = end >> 2;
  let at = start >> 2;
  let hash = (seed + prime5) | 0;
  if (length >= 16) {
    let a = (seed + prime1 + prime2) | 0;
    let b = (seed + prime2) | 0;
    let c = seed | 0;
    let d = (seed - prime1) | 0;
    for (const last = wordsEnd - 4; at <= last; at += 4) {
      a = (a + Math.imul(words[at]!, prime2)) | 0;
      a = Math.imul((a << 13) | (a >>> 19), prime1);
      b = (b + Math.imul(words[at + 1]!, prime2)) | 0;
      b = Math.imul((b << 13) | (b >>> 19), prime1);
      c = (c + Math.imul(words[at + 2]!, prime2)) | 0;
      c = Math.imul((c << 13) | (c >>> 19), prime1);
      d = (d + Math.imul(words[at + 3]!, prime2)) | 0;
      d = Math.imul((d << 13) | (d >>> 19), prime1);
    }
    hash = ((a << 1) | (a >>> 31)) + ((b << 7) | (b >>> 25));
    hash = (hash + ((c << 12) | (c >>> 20)) + ((d << 18) | (d >>> 14))) | 0;
  }
  hash = (hash + length) | 0;
  for (; at < wordsEnd; at++) {
    hash = (hash + Math.imul(words[at]!, prime3)) | 0;
    hash = Math.imul((hash << 17) | (hash >>> 15), prime4);
  }
  for (let i = at << 2; i < end; i++) {
    hash = (hash + Math.imul(octets[i]!, prime5)) | 0;
    hash = Math.imul((hash << 11) | (hash >>> 21), prime1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2);
  hash = Math.imul(hash ^ (hash >>> 13), prime3);
  return hash ^ (hash >>> 16);
}

/** Of stores that an earlier version has written. MurmurHash3_x86_32 of the `length` bytes that begin at `start`, a multiple of four. */
function murmur3({ octets, words }: ByteViews, start: number, length: number, seed: number): number {
  let hash = seed;
  let at = start >> 2;
  const end = at + (length >> 2);
  for (; at < end; at++) {
    hash ^= mixWord(words[at]!);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let i = start + length - 1; i >= end << 2; i--) rest = (rest << 8) | octets[i]!;
  hash ^= mixWord(rest) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function mixWord(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** Views of the bytes that values are read into, which are nearly always the same. */
export class BufferViews {
  #bytes: Uint8Array | undefined;
  #views!: ByteViews;

  /** Of bytes at a multiple of four; others are copied. */
  of(bytes: Uint8Array, length: number): ByteViews {
    if (bytes === this.#bytes) return this.#views;
    if (bytes.byteOffset !== 0) return viewsOf(Uint8Array.prototype.slice.call(bytes, 0, length).buffer);
    this.#views = viewsOf(bytes.buffer);
    this.#bytes = bytes;
    return this.#views;
  }
}

export function viewsOf(buffer: ArrayBufferLike): ByteViews {
  return { octets: new Uint8Array(buffer), words: new Int32Array(buffer, 0, buffer.byteLength >> 2) };
}

export function readChecksum({ octets }: ByteViews, at: number): number {
  return octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24);
}

export function writeChecksum({ octets }: ByteViews, at: number, sum: number): void {
  octets[at] = sum;
  octets[at + 1] = sum >>> 8;
  octets[at + 2] = sum >>> 16;
  octets[at + 3] = sum >>> 24;
}

/** How the values of a store are protected, and what the store says of that. */
export interface Sums {
  readonly hash: Hash;
  /** All values have such checksums. */
  readonly complete: Bytes;
  /** Before the key where adding them goes on. */
  readonly upgrading: Bytes;
}

/** Of every store that is new. */
export const currentSums: Sums = { hash: xxHash32, complete: asBytes('v2'), upgrading: asBytes('w') };
/** Those first, whose record is looked for first. */
export const knownSums: readonly Sums[] = [
  currentSums,
  { hash: murmur3, complete: asBytes('v1'), upgrading: asBytes('u') },
];
