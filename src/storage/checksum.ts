import type { Bytes } from '../base/bytes.js';

/**
 * The checksum that follows every stored value: MurmurHash3 (32 bits) of the value, with a hash of its key as the seed.
 * So a value under the wrong key is found too. Any change within four bytes at a multiple of four, or of one byte of the
 * key, gives another checksum for certain; of other changes, one in four billion goes unnoticed.
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

/** MurmurHash3_x86_32 of the `length` bytes that begin at `start`, a multiple of four. */
export function murmur3({ octets, words }: ByteViews, start: number, length: number, seed: number): number {
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

/** Views of the buffer that values are read into, which is nearly always the same. */
export class BufferViews {
  #buffer: ArrayBufferLike | undefined;
  #views: ByteViews | undefined;

  /** Of bytes at a multiple of four; others are copied. */
  of(bytes: Uint8Array, length: number): ByteViews {
    const { buffer } = bytes;
    if (this.#buffer === buffer && bytes.byteOffset === 0) return this.#views!;
    if (bytes.byteOffset !== 0) return viewsOf(Uint8Array.prototype.slice.call(bytes, 0, length).buffer);
    this.#buffer = buffer;
    return (this.#views = viewsOf(buffer));
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
