import { isUtf8 } from 'node:buffer';
import { invalidJson } from '../base/errors.js';
import { memberName } from './names.js';
import { lastOfEach, specialName, type Member, type ScannedValue } from './scan.js';
import { paused, Walker } from './walker.js';

const stepMembers = 256;
const stepBytesDefault = 256 * 1024;

/**
 * Scans a large document as `scanDocument` does, in small steps: a few members, or a part of a large value. A value of more than
 * `valueBytesMax` is refused by `tooLarge` as soon as that is known; the member called `unbounded` may have any size. Of a
 * text that is no object nothing else is looked at.
 */
export function* scanInSteps(
  bytes: Buffer,
  valueBytesMax: number,
  unbounded: string,
  tooLarge: () => Error,
  stepBytes = stepBytesDefault,
): Generator<void, ScannedValue> {
  const { walker, start } = yield* begin(bytes);
  if (start === undefined) return { kind: 'other', start: 0, end: bytes.length };
  const boundOf = (name: string | undefined, valueStart: number): number =>
    name === unbounded ? bytes.length : Math.min(bytes.length, valueStart + valueBytesMax);
  const { special, end } = yield* membersFrom(walker, start, {
    nameOf: specialName,
    boundOf,
    tooLarge,
    stepBytes,
  });
  const { view, flags } = walker;
  return { kind: 'object', bytes, view, start, end, special: lastOfEach(special, flags), flags };
}

/** All members of the object in the text, each name once, with its last value. Undefined where the text is no object. */
export function* membersInSteps(bytes: Buffer): Generator<void, readonly Member[] | undefined> {
  const { walker, start } = yield* begin(bytes);
  if (start === undefined) return undefined;
  const { special } = yield* membersFrom(walker, start, {
    nameOf: ({ escapedName }, keyStart, keyEnd) => escapedName ?? memberName(bytes, keyStart, keyEnd),
    boundOf: () => bytes.length,
    tooLarge: invalidJson,
    stepBytes: stepBytesDefault,
  });
  return lastOfEach(special, walker.flags);
}

/** `start` is undefined where no object begins. */
function* begin(bytes: Buffer): Generator<void, { walker: Walker; start: number | undefined }> {
  if (!isUtf8(bytes)) throw invalidJson();
  yield;
  // A walker of its own: the shared one is for callers that don't yield before they are done.
  const walker = new Walker();
  const start = walker.begin(bytes, 0, bytes.length);
  return { walker, start: walker.peek(start) === 0x7b ? start : undefined };
}

interface MemberSteps {
  /** Undefined for members that are passed over. */
  nameOf(walker: Walker, keyStart: number, keyEnd: number): string | undefined;
  /** Where the value of a member has to end. */
  boundOf(name: string | undefined, valueStart: number): number;
  tooLarge(): Error;
  stepBytes: number;
}

/** Walks through the object that begins at `start`, behind which nothing may follow. */
function* membersFrom(
  walker: Walker,
  start: number,
  { nameOf, boundOf, tooLarge, stepBytes }: MemberSteps,
): Generator<void, { special: Member[]; end: number }> {
  const { bytes } = walker;
  // White space around the object does not count as inside it.
  walker.flags = 0;
  walker.pausesInside = true;
  const special: Member[] = [];
  const base = walker.openObject();
  let members = 0;
  let at = walker.space(start + 1);
  let isEnd = walker.peek(at) === 0x7d;
  while (!isEnd) {
    const keyStart = at;
    const keyEnd = walker.key(keyStart, base);
    const name = nameOf(walker, keyStart, keyEnd);
    const valueStart = walker.colon(keyEnd);
    const bound = boundOf(name, valueStart);
    walker.pauseAt = valueStart + stepBytes;
    let valueEnd = bounded(walker, bound, tooLarge, valueStart);
    while (valueEnd === paused) {
      yield;
      yield* walker.untilResume();
      walker.pauseAt += stepBytes;
      valueEnd = bounded(walker, bound, tooLarge);
    }
    if (name !== undefined) special.push({ name, keyStart, keyEnd, valueStart, valueEnd });
    at = walker.space(valueEnd);
    isEnd = walker.peek(at) === 0x7d;
    if (!isEnd) {
      if (bytes[at] !== 0x2c) throw invalidJson();
      at = walker.space(at + 1);
    }
    if (++members % stepMembers === 0 || valueEnd - valueStart > stepBytes) yield;
  }
  yield;
  yield* walker.closeInSteps(base);
  yield;
  const { flags } = walker;
  if (walker.space(at + 1) !== bytes.length) throw invalidJson();
  walker.flags = flags;
  return { special, end: at + 1 };
}

/** Walks through a value up to `bound`, from `start` on or, where there is none, from where it has paused. */
function bounded(walker: Walker, bound: number, tooLarge: () => Error, start?: number): number {
  const { end } = walker;
  walker.end = bound;
  try {
    const valueEnd = start === undefined ? walker.resume(1) : walker.value(start, 1);
    if (valueEnd < bound || bound === end) return valueEnd;
  } catch (error) {
    if (bound === end) throw error;
  } finally {
    walker.end = end;
  }
  throw tooLarge();
}
