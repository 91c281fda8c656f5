import { asBytes, type Bytes } from '../base/bytes.js';
import { idKey } from './keys.js';

/** A bound of a listing: an id or a name, or null for a key that is no text, which stands before every one. */
export type Bound = Bytes | null;

export interface Bounds {
  start?: Bound | undefined;
  end?: Bound | undefined;
  inclusiveEnd: boolean;
  descending: boolean;
}

export interface KeyRange {
  start: Bytes;
  end: Bytes;
}

/** The keys between bounds, in a space whose keys are the ids behind a prefix. Descending, `start` is the upper end. */
export function keyRange(
  prefix: Bytes,
  space: KeyRange,
  { start, end, inclusiveEnd, descending }: Bounds,
): KeyRange {
  const at = (bound: Bound, after: boolean): Bytes =>
    clamp(bound === null ? space.start : asBytes(prefix + idKey(bound) + (after ? '\0' : '')), space);
  if (!descending) {
    return {
      start: start === undefined ? space.start : at(start, false),
      end: end === undefined ? space.end : at(end, inclusiveEnd),
    };
  }
  return {
    start: end === undefined ? space.start : at(end, !inclusiveEnd),
    end: start === undefined ? space.end : at(start, true),
  };
}

function clamp(key: Bytes, { start, end }: KeyRange): Bytes {
  if (key < start) return start;
  return key > end ? end : key;
}
