import { badRequest } from '../base/errors.js';
import type { OrderValue, Sorting } from './sorting.js';

/** Longer ones are none: a hundred strings to sort by and a long id take less. */
const charactersMax = 200_000;

/** Where the next page begins: behind the order of the last hit of this one. */
export const writeBookmark = (order: readonly OrderValue[] | undefined, atStart = 'nil'): string =>
  order === undefined ? atStart : Buffer.from(JSON.stringify(order)).toString('base64url');

/** Where the page before has ended. Its parts have to be such as the hits are sorted by. */
export function readBookmark(
  text: unknown,
  sort: readonly Pick<Sorting, 'type' | 'isAlwaysThere'>[],
): readonly OrderValue[] | undefined {
  if (text === undefined || text === null || text === 'nil' || text === '') return undefined;
  if (typeof text !== 'string' || text.length > charactersMax)
    throw badRequest('Invalid bookmark parameter supplied');
  try {
    const order = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
    if (Array.isArray(order) && order.length === sort.length + 1 && isDocNumber(order.at(-1))) {
      if (sort.every((sorting, i) => isOrderedBy(sorting, order[i]))) return order as OrderValue[];
    }
  } catch {
    // Refused below.
  }
  throw badRequest('Invalid bookmark parameter supplied');
}

const isDocNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function isOrderedBy(
  { type, isAlwaysThere = false }: Pick<Sorting, 'type' | 'isAlwaysThere'>,
  value: unknown,
): boolean {
  if (value === null) return !isAlwaysThere;
  return type === undefined ? typeof value === 'number' || typeof value === 'string' : typeof value === type;
}
