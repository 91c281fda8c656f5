import { fromBytes, type Bytes } from '../base/bytes.js';
import { capitals, weights } from './ascii-weights.js';

/**
 * Keys of views as byte strings in the order of the keys: comparing two JSON values costs one comparison of two strings.
 *
 *     null 02, false 03, true 04
 *     number 05, then eight bytes: the double with its sign turned round, all bits turned where it is negative
 *     ASCII string 06, weights, [01, capitals], 00
 *     other string 07, its UTF-16 units as one to three bytes each, 00
 *     array 08, elements, 00
 *     object 09, name and value of each member, 00
 *
 * The weights of an ASCII string are those of ICU's root collation (`ascii-weights.ts`). Where capital letters are in
 * it, a bit for each character follows, seven to a byte, the highest first, with the eighth bit set; zeros at the end
 * are left away. So the order is that of the collation: the characters first, then their case.
 *
 * No such weights can be had for other strings. A key that holds one has the highest bit of its first byte set;
 * comparing it takes the way round by `Intl.Collator` (`compare-keys.ts`).
 *
 * In the raw order strings compare by their bytes, so byte order is always enough: number 11, false 12, null 13, true 14,
 * object 15, array 16, string 17 and its UTF-8 with 00 as 01 01 and 01 as 01 02, 00.
 *
 * A beginning of a key that ends with an element is a bound too: it stands before all keys that begin like it, and with
 * the byte ff added behind all of them.
 */
export const tags = { number: 0x05, ascii: 0x06, text: 0x07, array: 0x08, object: 0x09 } as const;
export const rawTags = { number: 0x11, object: 0x15, array: 0x16, string: 0x17 } as const;

/** Set in the first byte of a key that holds a string with other characters than ASCII. */
export const wideFlag = 0x80;

export const numberBytes = 8;

/** Keys are put together here; it grows with the longest key, up to `keptBytesMax`. */
let scratch = Buffer.allocUnsafeSlow(4096);
let at = 0;
let isWide = false;
const keptBytesMax = 1 << 20;

const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

/** The key of a value in the default order, which `compareKeys` compares. */
export function encodeKey(value: unknown): Bytes {
  at = 0;
  isWide = false;
  put(value);
  if (isWide) scratch[0]! |= wideFlag;
  return taken();
}

/** The same of a value's JSON text, which has no white space. Most keys are so plain that they need not be parsed. */
export function encodeKeyText(text: Bytes): Bytes {
  at = 0;
  next = 0;
  isWide = false;
  if (text.length <= plainTextMax) {
    room(bytesPerCharacter * text.length);
    if (putPlain(text) && next === text.length) return taken();
  }
  return encodeKey(JSON.parse(fromBytes(text)));
}

/** The key of a value in the raw order; `<` compares such keys. */
export function encodeRawKey(value: unknown): Bytes {
  at = 0;
  putRaw(value);
  return taken();
}

function taken(): Bytes {
  const key = scratch.latin1Slice(0, at);
  if (scratch.length > keptBytesMax) scratch = Buffer.allocUnsafeSlow(4096);
  return key;
}

function room(bytes: number): void {
  if (at + bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow((at + bytes) * 2);
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}

function put(value: unknown): void {
  room(2 + numberBytes);
  if (typeof value === 'string') putString(value);
  else if (typeof value === 'number') putNumber(tags.number, value);
  else if (typeof value === 'boolean') scratch[at++] = value ? 0x04 : 0x03;
  else if (typeof value !== 'object' || value === null) scratch[at++] = 0x02;
  else if (Array.isArray(value)) {
    scratch[at++] = tags.array;
    for (const element of value as unknown[]) put(element);
    end();
  } else {
    scratch[at++] = tags.object;
    for (const [name, member] of Object.entries(value)) {
      putString(name);
      put(member);
    }
    end();
  }
}

const plainTextMax = 4_096;
/** A digit and a comma become nine bytes; what is shorter has its ends. */
const bytesPerCharacter = 10;
/** Where `putPlain` reads next. */
let next = 0;

/** Puts what has neither escapes nor other characters than ASCII, nor members; gives false for all else. */
function putPlain(text: Bytes): boolean {
  const code = text.charCodeAt(next);
  if (code === 0x22) return putPlainString(text);
  if (code === 0x5b) return putPlainArray(text);
  const start = next;
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
    while (isNumberPart(text.charCodeAt(++next)));
    putNumber(tags.number, Number(text.slice(start, next)));
    return true;
  }
  // null 02, false 03, true 04
  const literal = text.startsWith('null', start) ? 2 : text.startsWith('false', start) ? 3 : 4;
  if (literal === 4 && !text.startsWith('true', start)) return false;
  next += literal === 3 ? 5 : 4;
  scratch[at++] = literal;
  return true;
}

/** Digits, signs, points and exponents. */
const isNumberPart = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2e ||
  code === 0x65 ||
  code === 0x45 ||
  code === 0x2b ||
  code === 0x2d;

function putPlainArray(text: Bytes): boolean {
  scratch[at++] = tags.array;
  if (text.charCodeAt(++next) === 0x5d) next++;
  else
    for (;;) {
      if (!putPlain(text)) return false;
      const code = text.charCodeAt(next++);
      if (code === 0x5d) break;
      if (code !== 0x2c) return false;
    }
  scratch[at++] = 0;
  return true;
}

function putPlainString(text: Bytes): boolean {
  const first = next + 1;
  const start = at;
  let lastCapital = -1;
  scratch[at++] = tags.ascii;
  for (let i = first; ; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      if (lastCapital >= 0) putCapitals(text.slice(first, i), lastCapital);
      scratch[at++] = 0;
      next = i + 1;
      return true;
    }
    // Also where the text ends too soon.
    if (!(code >= 0x20 && code < 0x7f) || code === 0x5c) return false;
    if (capitals[code] === 1) lastCapital = at - start - 1;
    scratch[at++] = weights[code]!;
  }
}

function end(): void {
  room(1);
  scratch[at++] = 0;
}

function putNumber(tag: number, value: number): void {
  // Adding zero turns -0 into 0.
  double[0] = value + 0;
  const flip = doubleBytes[7]! & 0x80 ? 0xff : 0;
  scratch[at++] = tag;
  scratch[at++] = doubleBytes[7]! ^ (flip | 0x80);
  for (let i = 6; i >= 0; i--) scratch[at++] = doubleBytes[i]! ^ flip;
}

function putString(value: string): void {
  // A weight for each character, the bits of capitals, and three bytes around them.
  room(value.length + (value.length >> 2) + 8);
  const start = at;
  const bytes = scratch;
  let to = at;
  let lastCapital = -1;
  bytes[to++] = tags.ascii;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) return putText(value);
    const weight = weights[code]!;
    if (weight === 0) continue;
    if (capitals[code] === 1) lastCapital = to - start - 1;
    bytes[to++] = weight;
  }
  at = to;
  if (lastCapital >= 0) putCapitals(value, lastCapital);
  scratch[at++] = 0;
}

function putCapitals(value: string, lastCapital: number): void {
  scratch[at++] = 0x01;
  let bits = 0x80;
  let n = 0;
  for (let i = 0; n <= lastCapital; i++) {
    const code = value.charCodeAt(i);
    if (weights[code] === 0) continue;
    if (capitals[code] === 1) bits |= 0x40 >> (n % 7);
    n++;
    if (n % 7 !== 0) continue;
    scratch[at++] = bits;
    bits = 0x80;
  }
  if (bits !== 0x80) scratch[at++] = bits;
}

/** Unit by unit, so that halves of surrogate pairs survive; two bytes for U+0000, which would end the string. */
function putText(value: string): void {
  isWide = true;
  room(value.length * 3 + 2);
  scratch[at++] = tags.text;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit !== 0 && unit < 0x80) {
      scratch[at++] = unit;
    } else if (unit < 0x800) {
      scratch[at++] = 0xc0 | (unit >> 6);
      scratch[at++] = 0x80 | (unit & 0x3f);
    } else {
      scratch[at++] = 0xe0 | (unit >> 12);
      scratch[at++] = 0x80 | ((unit >> 6) & 0x3f);
      scratch[at++] = 0x80 | (unit & 0x3f);
    }
  }
  scratch[at++] = 0;
}

function putRaw(value: unknown): void {
  room(2 + numberBytes);
  if (typeof value === 'string') putRawString(value);
  else if (typeof value === 'number') putNumber(rawTags.number, value);
  else if (typeof value === 'boolean') scratch[at++] = value ? 0x14 : 0x12;
  else if (typeof value !== 'object' || value === null) scratch[at++] = 0x13;
  else if (Array.isArray(value)) {
    scratch[at++] = rawTags.array;
    for (const element of value as unknown[]) putRaw(element);
    end();
  } else {
    scratch[at++] = rawTags.object;
    for (const [name, member] of Object.entries(value)) {
      putRawString(name);
      putRaw(member);
    }
    end();
  }
}

function putRawString(value: string): void {
  const utf8 = Buffer.from(value);
  room(utf8.length * 2 + 2);
  scratch[at++] = rawTags.string;
  for (const byte of utf8) {
    if (byte > 1) {
      scratch[at++] = byte;
    } else {
      scratch[at++] = 1;
      scratch[at++] = byte + 1;
    }
  }
  scratch[at++] = 0;
}
