/** From ranges of values to ranges of an index' keys, which are arrays with a value for each column. */
import { compareJson } from '../json/collation.js';
import { isPoint, type Alternative, type ValueBound } from './value-ranges.js';

/** A place among keys: before or behind all those that begin with these values. */
export interface KeyBound {
  readonly values: readonly unknown[];
  readonly after: boolean;
  /** Of an upper bound: the last value stands for all texts that begin so. */
  readonly beginning?: string | undefined;
}

/** Keys between bounds; one that is absent is open. */
export interface KeyRange {
  readonly low: KeyBound | undefined;
  readonly high: KeyBound | undefined;
}

export type CompareValues = (a: unknown, b: unknown) => number;

/** The ranges in ascending order, none touching another. */
export function keyRanges(
  alternatives: readonly Alternative[],
  columns: readonly string[],
  order: CompareValues = compareJson,
): KeyRange[] {
  const ranges = alternatives.map((alternative) => keyRange(alternative, columns));
  ranges.sort((a, b) => compareLows(a.low, b.low, order));
  const merged: KeyRange[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last === undefined || isApart(last.high, range.low, order)) merged.push(range);
    else merged[merged.length - 1] = { low: last.low, high: higher(last.high, range.high, order) };
  }
  return merged;
}

/** Equal values for the first columns, and a range of the next. */
function keyRange(alternative: Alternative, columns: readonly string[]): KeyRange {
  const values: unknown[] = [];
  for (const column of columns) {
    const range = alternative.get(column);
    if (range === undefined) break;
    if (isPoint(range)) {
      values.push(range.low!.value);
      continue;
    }
    const { low, high } = range;
    return {
      low: low === undefined ? start(values) : { values: [...values, low.value], after: !low.inclusive },
      high: high === undefined ? end(values) : bound(values, high),
    };
  }
  return { low: start(values), high: end(values) };
}

const bound = (values: readonly unknown[], { value, inclusive, beginning }: ValueBound): KeyBound => ({
  values: [...values, value],
  after: inclusive,
  beginning,
});

const start = (values: readonly unknown[]): KeyBound | undefined =>
  values.length === 0 ? undefined : { values, after: false };
const end = (values: readonly unknown[]): KeyBound | undefined =>
  values.length === 0 ? undefined : { values, after: true };

/** Where one begins like the other, the shorter stands outside of all that begins like it. */
export function compareBounds(a: KeyBound, b: KeyBound, order: CompareValues = compareJson): number {
  const length = Math.min(a.values.length, b.values.length);
  for (let at = 0; at < length; at++) {
    const difference = order(a.values[at], b.values[at]);
    if (difference !== 0) return difference;
  }
  if (a.values.length < b.values.length) return a.after ? 1 : -1;
  if (a.values.length > b.values.length) return b.after ? -1 : 1;
  return Number(a.after) - Number(b.after);
}

function compareLows(a: KeyBound | undefined, b: KeyBound | undefined, order: CompareValues): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return compareBounds(a, b, order);
}

const isApart = (high: KeyBound | undefined, low: KeyBound | undefined, order: CompareValues): boolean =>
  high !== undefined && low !== undefined && compareBounds(high, low, order) < 0;

function higher(
  a: KeyBound | undefined,
  b: KeyBound | undefined,
  order: CompareValues,
): KeyBound | undefined {
  if (a === undefined || b === undefined) return undefined;
  return compareBounds(a, b, order) >= 0 ? a : b;
}
