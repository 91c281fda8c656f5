/** One function for each condition, made once for a selector and called once for each document. */
import type { Bytes } from '../base/bytes.js';
import { compareJson, compareRaw, compareStrings } from '../json/collation.js';
import { compareKeys } from '../json/compare-keys.js';
import { encodeKey } from '../json/order-key.js';
import type { ComparisonOperator, ConditionOperator } from './node.js';
import { compileRegex } from './regex/regex.js';

/** Whether a value, which is there, meets a condition. */
export type Test = (value: unknown) => boolean;

type Order = (value: unknown, argument: unknown) => number;

/** `raw` is for document ids, which are in the order of their bytes. */
export function conditionTest(operator: ConditionOperator, argument: unknown, raw: boolean): Test {
  switch (operator) {
    case '$in':
      return oneOf(argument as unknown[], raw);
    case '$nin': {
      const found = oneOf(argument as unknown[], raw);
      return (value) => !found(value);
    }
    case '$all':
      return holdsAll(argument as unknown[]);
    case '$exists':
      return () => argument === true;
    case '$type':
      return (value) => typeName(value) === argument;
    case '$size':
      return (value) => Array.isArray(value) && value.length === argument;
    case '$mod': {
      const [divisor, remainder] = argument as [number, number];
      return (value) => typeof value === 'number' && Number.isInteger(value) && value % divisor === remainder;
    }
    case '$regex': {
      const matches = compileRegex(argument as string);
      return (value) => typeof value === 'string' && matches(value);
    }
    case '$beginsWith':
      return beginsWith(argument as string);
    case '$lt':
    case '$lte':
    case '$eq':
    case '$ne':
    case '$gte':
    case '$gt':
      return comparison(operator, argument, raw);
  }
}

function comparison(operator: ComparisonOperator, argument: unknown, raw: boolean): Test {
  if (typeof argument === 'number') return numberComparison(operator, argument);
  if (typeof argument === 'string') {
    if (!raw && (operator === '$eq' || operator === '$ne')) return textEquality(operator, argument);
    const order = raw ? compareRawText : compareStrings;
    const holds = holdsFor[operator];
    return (value) =>
      holds(typeof value === 'string' ? order(value, argument) : compareJson(value, argument));
  }
  const order: Order = raw ? compareIds : compareJson;
  const holds = holdsFor[operator];
  return (value) => holds(order(value, argument));
}

const holdsFor: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
  $eq: (order) => order === 0,
  $ne: (order) => order !== 0,
  $gte: (order) => order >= 0,
  $gt: (order) => order > 0,
};

function numberComparison(operator: ComparisonOperator, argument: number): Test {
  switch (operator) {
    case '$eq':
      return (value) => value === argument;
    case '$ne':
      return (value) => value !== argument;
    case '$lt':
      return (value) => (typeof value === 'number' ? value < argument : compareJson(value, argument) < 0);
    case '$lte':
      return (value) => (typeof value === 'number' ? value <= argument : compareJson(value, argument) < 0);
    case '$gte':
      return (value) => (typeof value === 'number' ? value >= argument : compareJson(value, argument) > 0);
    case '$gt':
      return (value) => (typeof value === 'number' ? value > argument : compareJson(value, argument) > 0);
  }
}

/** Texts are equal when the collation says so: `é` written with one character or with two. */
function textEquality(operator: '$eq' | '$ne', argument: string): Test {
  const wanted = operator === '$eq';
  if (isPlain(argument))
    return (value) =>
      (value === argument ||
        (typeof value === 'string' && !isPlain(value) && compareStrings(value, argument) === 0)) === wanted;
  return (value) => (typeof value === 'string' && compareStrings(value, argument) === 0) === wanted;
}

/** Only printable ASCII: such texts are equal when they are the same. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** The order of document ids: whatever is no text, arrays and objects too, stands before them all. */
export const compareIds: Order = (a, b) =>
  typeof a === 'string' && typeof b === 'string' ? compareRawText(a, b) : compareRaw(a, b);

/** The order of UTF-8 bytes, which is the order of code points, not of JavaScript's units. */
function compareRawText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const unit = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (unit !== other) return byCodePoint(unit) - byCodePoint(other);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs stand for code points above all other units. */
const byCodePoint = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

/** An array holds one of the choices, or the value is one. */
function oneOf(choices: readonly unknown[], raw: boolean): Test {
  const same = new Set(choices.filter((choice) => typeof choice !== 'object' || choice === null));
  const plain = choices.every((choice) => typeof choice !== 'string' || isPlain(choice));
  // Only texts that collate as equal without being the same, arrays and objects need more than a look into the set.
  let sorted: readonly Bytes[] | undefined;
  const isChoice = (value: unknown): boolean => {
    if (same.has(value)) return true;
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return false;
    if (typeof value === 'string' && (raw || (plain && isPlain(value)))) return false;
    sorted ??= choices.map(encodeKey).sort(compareKeys);
    return search(sorted, encodeKey(value));
  };
  return (value) => (Array.isArray(value) ? value.some(isChoice) : isChoice(value));
}

function search(sorted: readonly Bytes[], key: Bytes): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = compareKeys(key, sorted[middle]!);
    if (found === 0) return true;
    if (found < 0) high = middle - 1;
    else low = middle + 1;
  }
  return false;
}

/** Elements must be the same to the last character here, not only equal by collation. */
function holdsAll(wanted: readonly unknown[]): Test {
  if (wanted.length === 0) return () => false;
  const texts = wanted.map((each) => JSON.stringify(each));
  const simple = wanted.every((each) => typeof each !== 'object' || each === null);
  const whole = wanted.length === 1 && Array.isArray(wanted[0]) ? texts[0] : undefined;
  return (value) => {
    if (!Array.isArray(value)) return false;
    if (simple) return wanted.every((each) => value.includes(each));
    const held = new Set(value.map((each) => JSON.stringify(each)));
    return texts.every((text) => held.has(text)) || (whole !== undefined && JSON.stringify(value) === whole);
  };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** A beginning ends where a character ends for its reader: `e` is no beginning of `e` with an accent behind it. */
function beginsWith(prefix: string): Test {
  const end = prefix.length;
  if (end === 0) return (value) => typeof value === 'string';
  const last = prefix.charCodeAt(end - 1);
  const simple = last >= 0x20 && last < 0x300;
  return (value) => {
    if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
    if (value.length === end || (simple && value.charCodeAt(end) < 0x300)) return true;
    return graphemes.segment(value).containing(end)?.index === end;
  };
}
