import { CorruptRecord } from './corrupt-record.js';

/**
 * Byte strings: JavaScript strings whose character codes are bytes. `storage/store.ts` says why keys and values have
 * this form. Numbers in keys are big-endian and of fixed width, so that byte order is number order.
 */
declare global {
  interface Buffer {
    /** Node's own fast path of `toString('latin1', start, end)`. */
    latin1Slice(start: number, end: number): Bytes;
    toString(encoding: 'latin1', start?: number, end?: number): Bytes;
    /** Node's own fast path of `write(text, offset, 'latin1')`. */
    latin1Write(text: string, offset: number): number;
  }
}

declare const bytesBrand: unique symbol;

/** Texts become bytes by `toBytes`, so that the compiler refuses a text where bytes belong. Parts of bytes are bytes. */
export type Bytes = {
  readonly [bytesBrand]: true;
  slice(start?: number, end?: number): Bytes;
  substring(start: number, end?: number): Bytes;
  repeat(count: number): Bytes;
  split(separator: string): Bytes[];
} & string;

/** What is made of bytes and ASCII alone: the compiler takes each sum of byte strings for a text. */
export const asBytes = (bytes: string): Bytes => bytes as Bytes;

export const noBytes = asBytes('');

/** The same in one piece, to be kept: of a sum, each use would go through all parts again. */
export const inOnePiece = (bytes: Bytes): Bytes => Buffer.from(bytes, 'latin1').latin1Slice(0, bytes.length);

const { fromCharCode } = String;

export const u8 = (value: number): Bytes => asBytes(fromCharCode(value));

export const u16 = (value: number): Bytes => asBytes(fromCharCode(value >> 8, value & 0xff));

export const u32 = (value: number): Bytes =>
  asBytes(fromCharCode((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff));

/** Six bytes: enough for one write a microsecond for nine years. */
export function u48(value: number): Bytes {
  const high = Math.floor(value / 0x1_0000_0000);
  return asBytes(
    fromCharCode(
      (high >>> 8) & 0xff,
      high & 0xff,
      (value >>> 24) & 0xff,
      (value >>> 16) & 0xff,
      (value >>> 8) & 0xff,
      value & 0xff,
    ),
  );
}

export const readU16 = (bytes: Bytes, at: number): number =>
  (bytes.charCodeAt(at) << 8) | bytes.charCodeAt(at + 1);

const readU32 = (bytes: Bytes, at: number): number => readU16(bytes, at) * 0x1_0000 + readU16(bytes, at + 2);

export const readU48 = (bytes: Bytes, at: number): number =>
  readU16(bytes, at) * 0x1_0000_0000 + readU32(bytes, at + 2);

/** Seven bits a byte, the lowest first; the eighth says that more follow. */
export function varint(value: number): Bytes {
  if (value < 0x80) return u8(value);
  let bytes = '';
  let rest = value;
  while (rest >= 0x80) {
    bytes += fromCharCode((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return asBytes(bytes + fromCharCode(rest));
}

/** The varint that stands at a place. */
export function readVarintAt(bytes: Bytes, at: number): number {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return first;
  let value = first - 0x80;
  for (let factor = 0x80; ; factor *= 0x80) {
    const byte = bytes.charCodeAt(++at);
    if (byte < 0x80) return value + byte * factor;
    // Also where the record ends too soon, and the byte is no number.
    if (!(factor <= 2 ** 49)) throw new CorruptRecord('a number has no end');
    value += (byte - 0x80) * factor;
  }
}

/** Where a varint ends that begins at a place. */
export function varintEnd(bytes: Bytes, at: number): number {
  while (bytes.charCodeAt(at) >= 0x80) at++;
  return at + 1;
}

/** Reads the parts of a record one after the other. */
export class ByteReader {
  at = 0;

  constructor(readonly bytes: Bytes) {}

  u8(): number {
    return this.bytes.charCodeAt(this.at++);
  }

  u48(): number {
    this.at += 6;
    return readU48(this.bytes, this.at - 6);
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.bytes.charCodeAt(this.at++);
      if (byte < 0x80) return value + byte * factor;
      // Also where the record ends too soon, and the byte is no number.
      if (!(factor <= 2 ** 49)) throw new CorruptRecord('a number has no end');
      value += (byte - 0x80) * factor;
    }
  }

  take(length: number): Bytes {
    this.at += length;
    if (this.at > this.bytes.length) throw new CorruptRecord('it ends too soon');
    return this.bytes.slice(this.at - length, this.at);
  }

  rest(): Bytes {
    return this.take(this.bytes.length - this.at);
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }
}

/** A text with its length before it. */
export const lengthPrefixed = (bytes: Bytes): Bytes => asBytes(varint(bytes.length) + bytes);

/** The UTF-8 of a text. */
export function toBytes(text: string): Bytes {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) {
      const utf8 = Buffer.from(text);
      return utf8.latin1Slice(0, utf8.length);
    }
  }
  return asBytes(text);
}

/** The text of UTF-8 bytes. */
export function fromBytes(bytes: Bytes): string {
  for (let i = 0; i < bytes.length; i++) {
    if (bytes.charCodeAt(i) > 0x7f) return Buffer.from(bytes, 'latin1').toString();
  }
  return bytes;
}
