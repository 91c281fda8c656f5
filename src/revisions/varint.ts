import { CorruptRecord } from '../base/corrupt-record.js';
import { revHashBytesMax } from './rev.js';

/**
 * Numbers and hashes as bytes: the two pieces that records are made of. Both sides work on a cursor that moves as it
 * goes, which spares an allocation for each number read. Writers rely on the caller for room (`varintBytesMax`,
 * `hashBytesBound`); readers never look past `end`, since what they read may be damaged.
 */
export type WriteCursor = { bytes: Buffer; at: number };
export type ReadCursor = { readonly bytes: Buffer; at: number; readonly end: number };

/** Little-endian groups of seven bits: 2^53 takes eight. */
export const varintBytesMax = 8;
export const varintMax = Number.MAX_SAFE_INTEGER;
const rawHashBytes = 16;

/** Writes an integer from 0 to `varintMax`. */
export function writeVarint(cursor: WriteCursor, value: number): void {
  const { bytes } = cursor;
  let rest = value;
  // Bit operators see 32 bits only, so the part above 2^31 is divided down first.
  while (rest >= 0x8000_0000) {
    bytes[cursor.at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 0x80) {
    bytes[cursor.at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[cursor.at++] = rest;
}

export function readVarint(cursor: ReadCursor): number {
  const { bytes, end } = cursor;
  let at = cursor.at;
  let value = 0;
  let scale = 1;
  for (let i = 0; i < varintBytesMax && at < end; i++) {
    const byte = bytes[at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      if (value > varintMax) break;
      cursor.at = at;
      return value;
    }
    scale *= 128;
  }
  throw new CorruptRecord('a number is cut short or too large');
}

/** At least as many bytes as `writeHash` takes: a character of UTF-16 is never more than three bytes. */
export const hashBytesBound = (hash: string): number => varintBytesMax + hash.length * 3;

/** 0 and 16 bytes for a raw hash, otherwise the length plus one and the UTF-8. */
export function writeHash(cursor: WriteCursor, hash: string): void {
  const start = cursor.at;
  cursor.bytes[cursor.at++] = 0;
  if (writeRawHash(cursor, hash)) return;
  cursor.at = start;
  writeVarint(cursor, Buffer.byteLength(hash) + 1);
  cursor.at += cursor.bytes.write(hash, cursor.at, 'utf8');
}

export function readHash(cursor: ReadCursor): string {
  const head = readVarint(cursor);
  const length = head === 0 ? rawHashBytes : head - 1;
  const start = cursor.at;
  if (length > revHashBytesMax || start + length > cursor.end) throw new CorruptRecord('a hash is cut short');
  cursor.at = start + length;
  return cursor.bytes.toString(head === 0 ? 'hex' : 'utf8', start, cursor.at);
}

const nibbles = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  nibbles[digit.charCodeAt(0)] = nibbles[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Writes the 16 bytes of a raw hash and answers true; anything else leaves the cursor where it was. By hand, since
 * checking and converting in one pass costs less than the call into `Buffer.write` alone.
 */
export function writeRawHash(cursor: WriteCursor, hash: string): boolean {
  if (hash.length !== rawHashBytes * 2) return false;
  const { bytes, at } = cursor;
  let beyond = 0;
  for (let i = 0; i < rawHashBytes; i++) {
    const high = hash.charCodeAt(2 * i);
    const low = hash.charCodeAt(2 * i + 1);
    const byte = (nibbles[high & 127]! << 4) | nibbles[low & 127]!;
    // Negative when either is no hex digit, above 127 when either is no ASCII.
    beyond |= (byte & ~0xff) | ((high | low) & ~127);
    bytes[at + i] = byte;
  }
  if (beyond !== 0) return false;
  cursor.at = at + rawHashBytes;
  return true;
}

/** The same for several hashes, their digits in one text: from two on, one call into `Buffer.write` is faster. */
export function writeRawHashes(cursor: WriteCursor, digits: string): boolean {
  // `write` takes a character by its low byte, so that U+0161 would pass for an `a`.
  if (Buffer.byteLength(digits) !== digits.length) return false;
  const length = digits.length / 2;
  if (cursor.bytes.write(digits, cursor.at, length, 'hex') !== length) return false;
  cursor.at += length;
  return true;
}

/** The digits of `count` raw hashes that follow each other: one conversion for all, of which the caller cuts slices. */
export function readRawHashes(cursor: ReadCursor, count: number): string {
  const start = cursor.at;
  if (start + count * rawHashBytes > cursor.end) throw new CorruptRecord('a hash is cut short');
  cursor.at = start + count * rawHashBytes;
  return cursor.bytes.toString('hex', start, cursor.at);
}
