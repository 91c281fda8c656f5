import { toBytes } from '../base/bytes.js';

/**
 * The orders of JSON values that a view may have.
 *
 * `compareJson` is the default: null, false, true, numbers, strings, arrays, objects; strings as ICU's root collation
 * has them, arrays element by element, objects member by member in the order of their appearance, the shorter first.
 * `compareRaw` is `"collation": "raw"`, the order of Erlang's terms: numbers, false, null, true, objects, arrays,
 * strings by their UTF-8 bytes.
 *
 * English has no rules of its own, so it is the root order on every machine; a locale that is not known would silently
 * become the one of the environment.
 */
const collator = new Intl.Collator('en', {
  usage: 'sort',
  sensitivity: 'variant',
  ignorePunctuation: false,
  numeric: false,
  caseFirst: 'false',
});

/** Strings that differ only in what the collation ignores (most control characters, forms of composition) are equal. */
export const compareStrings: (a: string, b: string) => number = collator.compare;

export const compareJson = (a: unknown, b: unknown): number =>
  compareValues(a, b, defaultRank, compareStrings);

export const compareRaw = (a: unknown, b: unknown): number => compareValues(a, b, rawRank, compareUtf8);

type Rank = (value: unknown) => number;
type StringOrder = (a: string, b: string) => number;

const numbers = 3;
const strings = 4;
const arrays = 5;
const objects = 6;

/** What is no JSON stands as null, as it does in a JSON text of an array. */
function kindOf(value: unknown): number {
  if (typeof value === 'string') return strings;
  if (typeof value === 'number') return numbers;
  if (typeof value === 'boolean') return value ? 2 : 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? arrays : objects;
}

const defaultRank: Rank = kindOf;
/** By kind: null, false, true, numbers, strings, arrays, objects. */
const rawRanks = [2, 1, 3, 0, 6, 5, 4];
const rawRank: Rank = (value) => rawRanks[kindOf(value)]!;

function compareValues(a: unknown, b: unknown, rank: Rank, order: StringOrder): number {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  switch (kindOf(a)) {
    case numbers:
      return (a as number) < (b as number) ? -1 : a === b ? 0 : 1;
    case strings:
      return order(a as string, b as string);
    case arrays:
      return compareArrays(a as unknown[], b as unknown[], rank, order);
    case objects:
      return compareObjects(a as object, b as object, rank, order);
    default:
      return 0;
  }
}

function compareArrays(a: unknown[], b: unknown[], rank: Rank, order: StringOrder): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const difference = compareValues(a[i], b[i], rank, order);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareObjects(a: object, b: object, rank: Rank, order: StringOrder): number {
  const left = Object.entries(a) as [string, unknown][];
  const right = Object.entries(b) as [string, unknown][];
  const shorter = Math.min(left.length, right.length);
  for (let i = 0; i < shorter; i++) {
    const [name, value] = left[i]!;
    const [otherName, otherValue] = right[i]!;
    const difference = order(name, otherName) || compareValues(value, otherValue, rank, order);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function compareUtf8(a: string, b: string): number {
  const left = toBytes(a);
  const right = toBytes(b);
  return left < right ? -1 : left === right ? 0 : 1;
}
