import { badRequest } from '../base/errors.js';
import type { OrderValue } from './sorting.js';

/** Longer ones are none: a hundred strings to sort by and a long id take less. */
const charactersMax = 200_000;

/** Where the next page begins: behind the order of the last hit of this one. */
export const writeBookmark = (order: readonly OrderValue[] | undefined, atStart = 'nil'): string =>
  order === undefined ? atStart : Buffer.from(JSON.stringify(order)).toString('base64url');

export function readBookmark(text: unknown, sortings: number): readonly OrderValue[] | undefined {
  if (text === undefined || text === null || text === 'nil' || text === '') return undefined;
  if (typeof text !== 'string' || text.length > charactersMax)
    throw badRequest('Invalid bookmark parameter supplied');
  try {
    const order = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
    if (Array.isArray(order) && order.length === sortings + 1 && order.every(isOrderValue)) {
      if (typeof order.at(-1) === 'number') return order;
    }
  } catch {
    // Refused below.
  }
  throw badRequest('Invalid bookmark parameter supplied');
}

const isOrderValue = (value: unknown): value is OrderValue =>
  value === null || typeof value === 'number' || typeof value === 'string';
