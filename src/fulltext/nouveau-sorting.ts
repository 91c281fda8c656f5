import { fromBytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import { sortCharactersMax } from '../indexes/search-fields.js';
import type { IndexedDoc } from '../search/postings.js';
import { byRelevance, sortingsMax, type OrderValue, type Sorting } from './sorting.js';

/** Where all else is equal. */
const byId: Sorting = {
  descending: false,
  needsDoc: true,
  type: 'string',
  valueOf: ({ indexed }) => (indexed === undefined ? null : fromBytes(indexed.id)),
};

/** Reads names of fields, each with a sign before it; the id of the document decides at last. */
export function readNouveauSort(given: readonly string[]): Sorting[] {
  if (given.length > sortingsMax) throw badRequest(`sort has more than ${sortingsMax} fields`);
  const sort = given.map(readSorting);
  const last = given.at(-1);
  return last === '_id' || last === '-_id' ? sort : [...sort, byId];
}

function readSorting(text: string): Sorting {
  if (text === 'relevance') return byRelevance;
  const [, sign, field] = /^([-+])?([.\w]+)$/.exec(text) ?? [];
  if (field === undefined) throw badRequest(`${text.slice(0, 200)} is not a valid sort parameter`);
  const descending = sign === '-';
  if (field === '_id') return { ...byId, descending };
  const valueOf: Sorting['valueOf'] = ({ indexed }) => (indexed === undefined ? null : least(indexed, field));
  return { descending, isAbsentLeast: true, needsDoc: true, valueOf };
}

/** The least of the strings or numbers that a document has in a field. */
function least({ values: { f, v } }: IndexedDoc, field: string): OrderValue {
  const texts = f !== undefined && Object.hasOwn(f, field) ? f[field]! : [];
  if (texts.length > 0) return texts.reduce((a, b) => (b < a ? b : a)).slice(0, sortCharactersMax);
  const numbers = v !== undefined && Object.hasOwn(v, field) ? v[field] : undefined;
  return Array.isArray(numbers) ? numbers.reduce((a, b) => Math.min(a, b)) : null;
}
