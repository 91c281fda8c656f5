/**
 * The tokens of JSON without structure: each function takes the offset where a token begins and gives the offset
 * behind it, or throws. They look no further than `end`, since the bytes may go on behind the text.
 */
import { invalidJson } from '../base/errors.js';
import { stopsIn } from './words.js';

/** The value of each hexadecimal digit, 255 for every other byte. */
const hexDigits = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16);
  hexDigits[text.charCodeAt(0)] = digit;
  hexDigits[text.toUpperCase().charCodeAt(0)] = digit;
}

/** 1 for the bytes that may follow a backslash, except `u`. */
const shortEscapes = new Uint8Array(256);
for (const letter of '"\\/bfnrt') shortEscapes[letter.charCodeAt(0)] = 1;

const highSurrogate = 0xd800;
const lowSurrogate = 0xdc00;

/** A shorter number with an exponent of less than three digits fits a double. */
const plainNumberBytes = 200;

/**
 * `[-]int[.frac][e[+-]exp]`. Throws for a fraction or exponent beyond the range of a double, which no JSON reader could
 * give back. Integers may have any length.
 */
export function numberEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  if (bytes[at] === 0x2d) at++;
  if (at < end && bytes[at] === 0x30) at++;
  else at = digitsEnd(bytes, at, end);
  const integerEnd = at;
  let exponentDigits = 0;
  if (at < end && bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1, end);
  if (at < end && (bytes[at]! | 0x20) === 0x65) {
    at++;
    if (at < end && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++;
    const exponentStart = at;
    at = digitsEnd(bytes, at, end);
    exponentDigits = at - exponentStart;
  }
  if (at > integerEnd && (exponentDigits > 2 || at - start > plainNumberBytes)) checkRange(bytes, start, at);
  return at;
}

function checkRange(bytes: Buffer, start: number, end: number): void {
  if (!Number.isFinite(Number(bytes.latin1Slice(start, end)))) throw invalidJson();
}

/** One digit or more. */
function digitsEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at]! - 0x30) >>> 0 < 10) at++;
  if (at === start) throw invalidJson();
  return at;
}

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** `true`, `false` or `null`; the caller checks what follows. */
export function literalEnd(bytes: Buffer, start: number, end: number): number {
  for (const word of literals) {
    if (bytes[start] !== word[0] || end - start < word.length) continue;
    for (let index = 1; index < word.length; index++) {
      if (bytes[start + index] !== word[index]) throw invalidJson();
    }
    return start + word.length;
  }
  throw invalidJson();
}

/** One escape, or two that make a surrogate pair. Throws for half a pair: no UTF-8 text can hold it. */
export function escapeEnd(bytes: Buffer, start: number, end: number): number {
  if (start + 1 >= end) throw invalidJson();
  const letter = bytes[start + 1]!;
  if (shortEscapes[letter] === 1) return start + 2;
  if (letter !== 0x75) throw invalidJson();
  const unit = codeUnit(bytes, start + 2, end);
  const after = start + 6;
  const half = unit & 0xfc00;
  if (half !== highSurrogate && half !== lowSurrogate) return after;
  if (half === lowSurrogate) throw invalidJson();
  if (after + 1 >= end || bytes[after] !== 0x5c || bytes[after + 1] !== 0x75) throw invalidJson();
  if ((codeUnit(bytes, after + 2, end) & 0xfc00) !== lowSurrogate) throw invalidJson();
  return after + 6;
}

function codeUnit(bytes: Buffer, start: number, end: number): number {
  if (start + 4 > end) throw invalidJson();
  let unit = 0;
  for (let at = start; at < start + 4; at++) {
    const digit = hexDigits[bytes[at]!]!;
    if (digit === 255) throw invalidJson();
    unit = (unit << 4) | digit;
  }
  return unit;
}

/** From anywhere within a string to behind its closing quote; the complement of where it is once that is `stopAt` or more. */
export function stringPartEnd(
  { bytes, view, end }: { bytes: Buffer; view: DataView; end: number },
  start: number,
  stopAt: number,
): number {
  const lastWord = Math.min(end, stopAt) - 4;
  let at = start;
  while (at < stopAt) {
    while (at <= lastWord && stopsIn(view.getInt32(at, true)) === 0) at += 4;
    if (at >= end) throw invalidJson();
    const byte = bytes[at]!;
    if (byte === 0x22) return at + 1;
    if (byte === 0x5c) at = escapeEnd(bytes, at, end);
    else if (byte < 0x20) throw invalidJson();
    else at++;
  }
  return ~at;
}
