/**
 * Paths of fields. A dot divides them, a backslash before the dot makes it a part of the name: `a\.b.c` is the member `c`
 * of the member `a.b`. A number picks an element of an array, and is a plain name for an object.
 */
import { RequestError } from '../base/errors.js';

/** No document is nested deeper. */
const partsMax = 1_000;

const plainDots = /(?<!\\)\./;

/** The names on the way to a field. */
export function parseField(field: string): string[] {
  // One part more than there may be is enough to tell that there are too many.
  const most = partsMax + 1;
  const parts = field.includes('\\')
    ? field.split(plainDots, most).map((part) => part.replaceAll('\\', ''))
    : field.split('.', most);
  if (parts.includes('') || parts.length > partsMax)
    throw new RequestError('invalid_field_name', `Invalid field name: ${field.slice(0, 200)}`);
  return parts;
}

/** Reads one field of a document; undefined where the document has none. */
export type FieldReader = (value: unknown) => unknown;

export function fieldReader(field: string): FieldReader {
  if (field === '') return (value) => value;
  const [first, second, ...rest] = parseField(field).map(memberReader);
  if (second === undefined) return first!;
  if (rest.length === 0) return (value) => second(first!(value));
  return rest.reduce<FieldReader>(
    (way, step) => (value) => step(way(value)),
    (value) => second(first!(value)),
  );
}

/** Names that every object answers to, whether it has such a member or not. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype));

function memberReader(name: string): FieldReader {
  const index = arrayIndex(name);
  if (inherited.has(name))
    return (value) =>
      isObject(value) && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Array.isArray(value)) return (value as Record<string, unknown>)[name];
    return index === undefined ? undefined : value[index];
  };
}

/** The element of an array that a name picks. */
export function arrayIndex(name: string): number | undefined {
  return /^[+-]?\d+$/.test(name) && Number(name) >= 0 ? Number(name) : undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether a document lacks a field: some object on the way has no such member. A way that leads through a value that has
 * no members, or behind the end of an array, is neither there nor lacking.
 */
export function lacksField(field: string): (value: unknown) => boolean {
  if (field === '') return () => false;
  const names = parseField(field);
  return (value) => {
    let at = value;
    for (const name of names) {
      if (Array.isArray(at)) at = at[arrayIndex(name) ?? at.length] as unknown;
      else if (!isObject(at)) return false;
      else if (!Object.hasOwn(at, name)) return true;
      else at = (at as Record<string, unknown>)[name];
    }
    return false;
  };
}
