/**
 * A second way to say what a selector means, for tests: it walks the selector as it was written, with no normal form and
 * nothing prepared, and carries negations down as it goes.
 */
import { compareJson, compareRaw } from '../../src/json/collation.js';

type Json = Record<string, unknown>;

/** Where a field leads: to a value, to nothing, or through something that has no members. */
type Found = { readonly value: unknown } | 'absent' | 'no way';

export function naiveMatches(selector: Json, doc: unknown): boolean {
  return Object.keys(selector).length === 0 || meets(selector, { value: doc }, { doc, path: [], not: false });
}

interface Place {
  readonly doc: unknown;
  /** Names as they were written, with their dots and backslashes. */
  readonly path: readonly string[];
  readonly not: boolean;
  /** Below `$elemMatch` and its like a negation turns the answer around instead of the condition. */
  readonly inParts?: boolean;
}

function meets(selector: unknown, found: Found, at: Place): boolean {
  if (typeof selector !== 'object' || selector === null || Array.isArray(selector))
    return condition('$eq', selector, found, at);
  const members = Object.entries(selector);
  if (members.length === 0) return condition('$eq', selector, found, at);
  const answers = members.map(([name, argument]) => member(name, argument, found, at));
  return at.not ? answers.includes(true) : !answers.includes(false);
}

function member(name: string, argument: unknown, found: Found, at: Place): boolean {
  const each = (not: boolean): boolean[] =>
    (argument as unknown[]).map((selector) => meets(selector, found, { ...at, not }));
  if (!name.startsWith('$')) {
    const path = [...at.path, name];
    return meets(argument, lookUp(at.doc, path.join('.')), { ...at, path });
  }
  if (name === '$and') return at.not ? anyOf(each(true)) : !each(false).includes(false);
  if (name === '$or') return at.not ? !each(true).includes(false) : anyOf(each(false));
  if (name === '$nor' && at.inParts) return !each(false).includes(true);
  if (name === '$nor') return at.not ? anyOf(each(false)) : !each(true).includes(false);
  if (name === '$not' && at.inParts) return !meets(argument, found, at);
  if (name === '$not') return meets(argument, found, { ...at, not: !at.not });
  return condition(name, argument, found, at);
}

const anyOf = (answers: readonly boolean[]): boolean => answers.length === 0 || answers.includes(true);

function lookUp(doc: unknown, field: string): Found {
  if (field === '') return { value: doc };
  let value = doc;
  const names = field.replaceAll('\\.', '\0').split('.');
  for (const name of names.map((each) => each.replaceAll('\0', '.'))) {
    if (Array.isArray(value)) {
      if (!/^\d+$/.test(name) || Number(name) >= value.length) return 'no way';
      value = value[Number(name)];
    } else if (typeof value !== 'object' || value === null) return 'no way';
    else if (!Object.keys(value).includes(name)) return 'absent';
    else value = (value as Json)[name];
  }
  return { value };
}

function condition(operator: string, argument: unknown, found: Found, at: Place): boolean {
  if (operator === '$exists') {
    if (found === 'no way') return false;
    return (argument === at.not) === (found === 'absent');
  }
  if (typeof found === 'string') return false;
  const raw = at.path.join('.') === '_id';
  const holds = holdsFor(operator, argument, found.value, raw);
  return at.not ? !holds : holds;
}

function holdsFor(operator: string, argument: unknown, value: unknown, raw: boolean): boolean {
  const order = (a: unknown, b: unknown): number => (raw ? compareRaw(a, b) : compareJson(a, b));
  const isOneOf = (): boolean =>
    [value].flat().some((each) => (argument as unknown[]).some((choice) => order(each, choice) === 0));
  switch (operator) {
    case '$lt':
      return order(value, argument) < 0;
    case '$lte':
      return order(value, argument) <= 0;
    case '$eq':
      return order(value, argument) === 0;
    case '$ne':
      return order(value, argument) !== 0;
    case '$gte':
      return order(value, argument) >= 0;
    case '$gt':
      return order(value, argument) > 0;
    case '$in':
      return isOneOf();
    case '$nin':
      return !isOneOf();
    case '$type':
      return argument === (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
    default:
      if (typeof value === 'string') return holdsForText(operator, argument as string, value);
      if (typeof value === 'number') return operator === '$mod' && leaves(value, argument as number[]);
      return holdsForParts(operator, argument, value);
  }
}

const leaves = (value: number, [divisor, remainder]: number[]): boolean =>
  Number.isInteger(value) && value % divisor! === remainder;

function holdsForText(operator: string, argument: string, value: string): boolean {
  if (operator === '$beginsWith') return startsWithCharacters(value, argument);
  if (operator !== '$regex') return false;
  const flags = argument.startsWith('(?i)') ? 'iu' : 'u';
  return new RegExp(argument.replace('(?i)', ''), flags).test(value);
}

function holdsForParts(operator: string, argument: unknown, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const meetsAll = (part: unknown): boolean =>
    meets(argument, { value: part }, { doc: part, path: [], not: false, inParts: true });
  if (operator === '$keyMapMatch') return !Array.isArray(value) && Object.keys(value).some(meetsAll);
  if (!Array.isArray(value)) return false;
  if (operator === '$size') return value.length === argument;
  if (operator === '$elemMatch') return value.some(meetsAll);
  if (operator === '$allMatch') return value.length > 0 && value.every(meetsAll);
  return operator === '$all' && holdsAll(argument as unknown[], value);
}

function holdsAll(wanted: readonly unknown[], value: readonly unknown[]): boolean {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  if (wanted.length === 1 && Array.isArray(wanted[0]) && same(wanted[0], value)) return true;
  return wanted.length > 0 && wanted.every((each) => value.some((held) => same(held, each)));
}

function startsWithCharacters(text: string, prefix: string): boolean {
  const characters = (from: string): string[] =>
    [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(from)].map(({ segment }) => segment);
  const wanted = characters(prefix);
  return characters(text).slice(0, wanted.length).join('') === prefix;
}
