import { isUtf8 } from 'node:buffer';
import { invalidJson } from '../base/errors.js';
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
  if (!isUtf8(bytes)) throw invalidJson();
  yield;
  // A walker of its own: the shared one is for callers that don't yield before they are done.
  const walker = new Walker();
  const start = walker.begin(bytes, 0, bytes.length);
  if (walker.peek(start) !== 0x7b) return { kind: 'other', start, end: bytes.length };
  // White space around the object does not count as inside it.
  walker.flags = 0;
  const special: Member[] = [];
  const base = walker.openObject();
  let members = 0;
  let at = walker.space(start + 1);
  let isEnd = walker.peek(at) === 0x7d;
  while (!isEnd) {
    const keyStart = at;
    const keyEnd = walker.key(keyStart, base);
    const name = specialName(walker, keyStart, keyEnd);
    const valueStart = walker.colon(keyEnd);
    const bound = name === unbounded ? bytes.length : Math.min(bytes.length, valueStart + valueBytesMax);
    walker.pauseAt = valueStart + stepBytes;
    let valueEnd = bounded(walker, bound, tooLarge, valueStart);
    while (valueEnd === paused) {
      yield;
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
  walker.closeObject(base);
  yield;
  const { view, flags } = walker;
  if (walker.space(at + 1) !== bytes.length) throw invalidJson();
  return { kind: 'object', bytes, view, start, end: at + 1, special: lastOfEach(special, flags), flags };
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
