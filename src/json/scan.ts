/**
 * What a request's text holds, found in one pass without building values (`walker.ts` says how). Nothing is copied:
 * what is scanned keeps a reference to the buffer, which must not change while it is in use.
 */
import { isUtf8 } from 'node:buffer';
import { invalidJson } from '../base/errors.js';
import { memberName } from './names.js';
import { unsettled, Walker } from './walker.js';

/** One member of an object; offsets are into the scanned buffer, those of the key include its quotes. */
export interface Member {
  readonly name: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface ScannedObject {
  readonly kind: 'object';
  readonly bytes: Buffer;
  /** The same bytes, to be read four at a time. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
  /** The members whose names begin with an underscore, in order, each name once, with its last value. */
  readonly special: readonly Member[];
  /** `spaced`, `unsettled`. */
  readonly flags: number;
}

/** JSON, but not an object. */
export interface ScannedOther {
  readonly kind: 'other';
  readonly start: number;
  readonly end: number;
}

export type ScannedValue = ScannedObject | ScannedOther;

export interface ScannedBulk {
  /** All members, in order, each name once, with its last value. */
  readonly members: readonly Member[];
  /** The elements of the member that was asked for; none when it is missing or is not an array. */
  readonly elements: readonly ScannedValue[] | undefined;
}

const walker = new Walker();
const noMembers: readonly Member[] = Object.freeze([]);

/** The one JSON value in `bytes[start, end)`; refuses whatever is not JSON in UTF-8 from end to end. */
export function scanDocument(bytes: Buffer, start = 0, end = bytes.length): ScannedValue {
  try {
    const scanned = walkDocument(beginText(bytes, start, end));
    expectEnd(scanned.end);
    return scanned;
  } finally {
    walker.finish();
  }
}

/**
 * The members of the one JSON object in `bytes`, and of its array called `arrayMember` each element as `scanDocument`
 * would give it, all in one pass. Gives undefined when the text is JSON, but not an object.
 */
export function scanBulk(bytes: Buffer, arrayMember: string): ScannedBulk | undefined {
  try {
    const at = beginText(bytes, 0, bytes.length);
    if (walker.peek(at) !== 0x7b) {
      expectEnd(walker.value(at, 0));
      return undefined;
    }
    return walkBulk(at, arrayMember);
  } finally {
    walker.finish();
  }
}

/** Refuses what is not JSON in UTF-8, or is nested too deep for code that recurses over values. */
export function parseJson(bytes: Buffer): unknown {
  try {
    expectEnd(walker.value(beginText(bytes, 0, bytes.length), 0));
  } finally {
    walker.finish();
  }
  return parseValue(bytes, 0, bytes.length);
}

/**
 * The value of text that has been scanned. `JSON.parse` makes a member `__proto__` an ordinary one; code that copies
 * members by assignment would not.
 */
export function parseValue(bytes: Buffer, start: number, end: number): unknown {
  return JSON.parse(bytes.toString('utf8', start, end));
}

function beginText(bytes: Buffer, start: number, end: number): number {
  const text = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
  if (!isUtf8(text)) throw invalidJson();
  return walker.begin(bytes, start, end);
}

/** Nothing but white space may follow the one value of a text. */
function expectEnd(at: number): void {
  if (walker.space(at) !== walker.end) throw invalidJson();
}

function walkDocument(start: number): ScannedValue {
  if (walker.peek(start) !== 0x7b) return { kind: 'other', start, end: walker.value(start, 0) };
  const outerFlags = walker.flags;
  walker.flags = 0;
  let special: Member[] | undefined;
  const base = walker.openObject();
  let at = firstKey(start);
  while (at >= 0) {
    const keyStart = at;
    const keyEnd = walker.key(keyStart, base);
    const name = specialName(walker, keyStart, keyEnd);
    const valueStart = walker.colon(keyEnd);
    const valueEnd = walker.value(valueStart, 1);
    if (name !== undefined) (special ??= []).push({ name, keyStart, keyEnd, valueStart, valueEnd });
    at = nextKey(valueEnd);
  }
  walker.closeObject(base);
  const { bytes, view, flags } = walker;
  walker.flags = outerFlags;
  return { kind: 'object', bytes, view, start, end: ~at, special: lastOfEach(special, flags), flags };
}

function walkBulk(start: number, arrayMember: string): ScannedBulk {
  const members: Member[] = [];
  let elements: ScannedValue[] | undefined;
  const base = walker.openObject();
  let at = firstKey(start);
  while (at >= 0) {
    const keyStart = at;
    const keyEnd = walker.key(keyStart, base);
    const name = walker.escapedName ?? memberName(walker.bytes, keyStart, keyEnd);
    const valueStart = walker.colon(keyEnd);
    let valueEnd: number;
    if (name === arrayMember) {
      elements = walker.peek(valueStart) === 0x5b ? [] : undefined;
      valueEnd = elements ? walkElements(valueStart, elements) : walker.value(valueStart, 1);
    } else {
      valueEnd = walker.value(valueStart, 1);
    }
    members.push({ name, keyStart, keyEnd, valueStart, valueEnd });
    at = nextKey(valueEnd);
  }
  walker.closeObject(base);
  expectEnd(~at);
  return { members: lastOfEach(members, walker.flags), elements };
}

/** An element may nest as deep as a document that comes alone: its depth is counted afresh. */
function walkElements(start: number, into: ScannedValue[]): number {
  let at = walker.space(start + 1);
  if (walker.peek(at) === 0x5d) return at + 1;
  for (;;) {
    const scanned = walkDocument(at);
    into.push(scanned);
    at = walker.space(scanned.end);
    const byte = walker.peek(at);
    if (byte === 0x5d) return at + 1;
    if (byte !== 0x2c) throw invalidJson();
    at = walker.space(at + 1);
  }
}

/** The first key of an object, or the complement of the offset behind the object when it is empty. */
function firstKey(objectStart: number): number {
  const at = walker.space(objectStart + 1);
  return walker.peek(at) === 0x7d ? ~(at + 1) : at;
}

/** The key that follows a member, or the complement of the offset behind the object when there is none. */
function nextKey(valueEnd: number): number {
  const at = walker.space(valueEnd);
  const byte = walker.peek(at);
  if (byte === 0x7d) return ~(at + 1);
  if (byte !== 0x2c) throw invalidJson();
  return walker.space(at + 1);
}

/** The name of the key that was walked over last, if it begins with an underscore. */
export function specialName(
  { bytes, escapedName }: Walker,
  keyStart: number,
  keyEnd: number,
): string | undefined {
  if (escapedName !== undefined) return escapedName.startsWith('_') ? escapedName : undefined;
  return bytes[keyStart + 1] === 0x5f ? memberName(bytes, keyStart, keyEnd) : undefined;
}

/** Of members with one name the first gives the place and the last gives the value, as in `JSON.parse`. */
export function lastOfEach(members: readonly Member[] | undefined, flags: number): readonly Member[] {
  if (members === undefined) return noMembers;
  if ((flags & unsettled) === 0) return members;
  return [...new Map(members.map((member) => [member.name, member])).values()];
}
