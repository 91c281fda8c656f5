/**
 * How the values of documents stand in the text indexes of declarative queries. Each path of a document, such as `a.b`, has
 * terms of its own, which are in the order of the values as far as that can be said in bytes:
 *
 *   (empty)          the document has something at the path
 *   02 03 04 05      null, false, true, numbers, as keys of views have them
 *   06               ASCII strings, in the order of the collation
 *   08, 08 length    an array, and how many elements it has
 *   09               an object
 *   87               other strings that are equal only where their characters are (in NFC)
 *   88               all other strings: some of them are equal to strings that look different
 *
 * Long terms are cut. An array index is written `[]`, and so is a name that could be one. So a term finds all documents that
 * have the value, and may find others: the selector is still evaluated on what is found.
 */
import { asBytes, lengthPrefixed, noBytes, toBytes, u32, type Bytes } from '../base/bytes.js';
import { encodeKey } from '../json/order-key.js';

const valuesLetter = 'v';
const pathCharactersMax = 500;
const termBytesMax = 200;
/** Enough to encode, of a longer string, for a term that is cut. */
const headCharacters = 1_000;
/** Longer strings are not normalized. */
const normalizedCharactersMax = 10_000;

export const anyValue: Bytes = noBytes;
export const arrayTerm: Bytes = asBytes('\x08');
export const objectTerm: Bytes = asBytes('\x09');
const wideTag = asBytes('\x87');
const otherTag = asBytes('\x88');

export const arrayLengthTerm = (length: number): Bytes => asBytes(arrayTerm + u32(length));

/** What stands for the elements of an array in a path. */
export const elementName = '[]';

const isIndex = /^[+-]?\d+$/;

/** The path to a member, or to an element of an array. */
export function memberPath(path: string, name: string): string {
  const part = isIndex.test(name) ? elementName : name;
  return (path === '' ? part : `${path}.${part}`).slice(0, pathCharactersMax);
}

export const pathOf = (names: readonly string[]): string => names.reduce(memberPath, '');

/** Path and term, as they stand in keys behind the partition. */
export const valueKey = (path: string, term: Bytes): Bytes =>
  asBytes(valuesLetter + lengthPrefixed(toBytes(path)) + term);

/** The term of a value that is neither array nor object. */
export function termOf(value: unknown): Bytes {
  return typeof value === 'string' ? stringTerm(value) : encodeKey(value);
}

const ascii = /^[\0-\x7f]*$/;
/** Characters none of which the collation ignores or takes for another one, or for a sequence of others. */
const plainCharacters =
  /^[ -~\xa1-\xac\xae-\u013e\u0141-\u024f\u0391-\u03a1\u03a3-\u03c9\u0400-\u045f\u0490-\u04ff\u05d0-\u05ea\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u2013\u2014\u2018-\u201e\u2026\u20ac]*$/;

function stringTerm(value: string): Bytes {
  if (ascii.test(value)) return asciiTerm(value);
  if (value.length > normalizedCharactersMax) return otherTag;
  const normal = value.normalize('NFC');
  if (ascii.test(normal)) return asciiTerm(normal);
  return plainCharacters.test(normal) ? cut(asBytes(wideTag + toBytes(normal))) : otherTag;
}

function asciiTerm(value: string): Bytes {
  const isLong = value.length > headCharacters;
  // Of a long string the beginning is enough, unless the collation ignores most of it.
  const head = isLong ? cut(encodeKey(value.slice(0, headCharacters).toLowerCase())) : noBytes;
  return head.length === termBytesMax && !head.includes('\0') ? head : cut(encodeKey(value));
}

const cut = (term: Bytes): Bytes => term.slice(0, termBytesMax);

/** Terms from one to another, both included; an upper bound that ends with `\xff` includes all that begin so. */
export interface TermRange {
  low: Bytes;
  high: Bytes;
}

const otherStrings: TermRange = { low: wideTag, high: asBytes(`${otherTag}\xff`) };
const only = (term: Bytes): TermRange => ({ low: term, high: term });
const startingWith = (start: Bytes): TermRange => ({ low: start, high: asBytes(`${start}\xff`) });

/** Terms of the values that are equal to this one. */
export function termsEqualTo(value: unknown): readonly TermRange[] {
  if (Array.isArray(value)) return [only(arrayTerm)];
  if (typeof value === 'object' && value !== null) return [only(objectTerm)];
  const term = termOf(value);
  if (typeof value !== 'string') return [only(term)];
  return term === otherTag ? stringTerms : [only(term), only(otherTag)];
}

export const stringTerms: readonly TermRange[] = [startingWith(asBytes('\x06')), otherStrings];
export const numberTerms: readonly TermRange[] = [startingWith(asBytes('\x05'))];

/** Terms of the values that come before this one, or are equal to it. */
export function termsUpTo(value: unknown): readonly TermRange[] {
  const upTo = (high: Bytes): TermRange => ({ low: asBytes('\x02'), high });
  if (Array.isArray(value)) return [upTo(asBytes(`${arrayTerm}\xff`)), otherStrings];
  if (typeof value === 'object' && value !== null) return [upTo(asBytes(`${objectTerm}\xff`)), otherStrings];
  if (typeof value !== 'string') return [upTo(asBytes(`${termOf(value)}\xff`))];
  return [upTo(ascii.test(value) ? asBytes(`${termOf(value)}\xff`) : asBytes('\x06\xff')), otherStrings];
}

/** Terms of the values that come after this one, or are equal to it. */
export function termsFrom(value: unknown): readonly TermRange[] {
  const from = (low: Bytes): TermRange => ({ low, high: asBytes('\xff') });
  if (Array.isArray(value)) return [{ low: arrayTerm, high: asBytes(`${objectTerm}\xff`) }];
  if (typeof value === 'object' && value !== null) return [startingWith(objectTerm)];
  return [from(typeof value === 'string' && !ascii.test(value) ? asBytes('\x06') : termOf(value))];
}

/** Terms of the strings that begin so. */
export function termsBeginning(start: string): readonly TermRange[] {
  if (!ascii.test(start)) return stringTerms;
  // Behind the characters stands which of them are capitals, and the end.
  const characters = cut(encodeKey(start.toLowerCase()).slice(0, -1));
  return [startingWith(characters), otherStrings];
}
