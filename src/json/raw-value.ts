/**
 * Parts of a JSON text as they stand there, digit for digit: what is taken out of a document looks as it did in the document.
 * The text must be sound and without white space, as stored documents are.
 */
import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';

/** The text of the value that a path of names leads to; numbers pick elements of arrays. */
export function rawValue(text: Bytes, path: readonly RawName[]): Bytes | undefined {
  let at = 0;
  for (const name of path) {
    const found =
      text[at] === '{'
        ? member(text, at, name)
        : text[at] === '[' && name.index !== undefined
          ? element(text, at, name.index)
          : undefined;
    if (found === undefined) return undefined;
    at = found;
  }
  return text.slice(at, valueEnd(text, at));
}

/** An array of the first elements of one; the same text where it has no more of them. */
export function firstElements(array: Bytes, count: number): Bytes {
  let at = 1;
  for (let i = 0; i < count; i++) {
    if (i > 0) at++;
    at = valueEnd(array, at);
    if (array.charCodeAt(at) !== comma) return array;
  }
  return asBytes(`${array.slice(0, at)}]`);
}

/** A name on a path, made ready to be looked for. */
export interface RawName {
  /** As JSON, without escapes where it can do without. */
  readonly quoted: Bytes;
  readonly name: string;
  readonly index: number | undefined;
}

export const rawName = (name: string, index: number | undefined): RawName => ({
  quoted: toBytes(JSON.stringify(name)),
  name,
  index,
});

function member(text: Bytes, open: number, { quoted, name }: RawName): number | undefined {
  let at = open + 1;
  while (text.charCodeAt(at) === quote) {
    const keyEnd = stringEnd(text, at);
    if (isKey(text, at, keyEnd, quoted, name)) return keyEnd + 1;
    at = valueEnd(text, keyEnd + 1);
    if (text.charCodeAt(at) === comma) at++;
  }
  return undefined;
}

function isKey(text: Bytes, start: number, end: number, quoted: Bytes, name: string): boolean {
  if (end - start === quoted.length && text.startsWith(quoted, start)) return true;
  const key = text.slice(start, end);
  return key.includes('\\') && JSON.parse(fromBytes(key)) === name;
}

function element(text: Bytes, open: number, index: number): number | undefined {
  let at = open + 1;
  if (text.charCodeAt(at) === closeBracket) return undefined;
  for (let left = index; left > 0; left--) {
    at = valueEnd(text, at);
    if (text.charCodeAt(at) !== comma) return undefined;
    at++;
  }
  return at;
}

export const quote = 0x22;
export const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Characters of a string that are looked at one by one before a quote is searched for. */
const shortString = 32;

/** Behind the string that begins here. */
export function stringEnd(text: Bytes, start: number): number {
  let at = start + 1;
  for (const shortEnd = at + shortString; at < shortEnd;) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    at += code === backslash ? 2 : 1;
  }
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) throw new Error('a stored text is damaged: a string has no end');
    let escapes = end;
    while (escapes > at && text.charCodeAt(escapes - 1) === backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** Behind the value that begins here. */
export function valueEnd(text: Bytes, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return stringEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at) - 1;
    else if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (code === comma && depth === 0) return at;
  }
  return text.length;
}
