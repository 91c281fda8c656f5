/**
 * Which index serves a query, by CouchDB's rules, so that queries move over with their indexes:
 *
 * 1. a partial index only when it is named, and an index of the query's scope: one partition, or the whole database;
 * 2. every field of it is in each document that matches, or is sorted by; and it has the order that is asked for. Beside an
 *    `$or` without alternatives CouchDB takes any index, though it lacks documents that match: here only where the documents
 *    themselves must not be read, or have another order;
 * 3. the one that `use_index` names, if it is among those;
 * 4. a JSON index before a text index, and both before the documents themselves. A text index needs to have all that the
 *    selector says of fields, whatever the order; there must be only one of them;
 * 5. the one whose first fields say most of what the selector says, then the one with fewest fields, then the first by name.
 */
import { RequestError } from '../base/errors.js';
import { defaultFieldName } from '../indexes/text-definition.js';
import { hasText, type SelectorNode } from '../selectors/node.js';
import type { FindRequest } from './find-request.js';
import type { QueryIndex } from './query-index.js';
import {
  findsNothing,
  indexableFields,
  isConstant,
  mayRequireField,
  requiresField,
} from './selector-fields.js';
import { rangedFields } from './single-range.js';
import type { Sort } from './sort.js';
import { textFields } from './lucene-form.js';

export type Reason =
  | 'is_partial'
  | 'scope_mismatch'
  | 'field_mismatch'
  | 'sort_order_mismatch'
  | 'empty_selector'
  | 'needs_text_search'
  | 'excluded_by_user'
  | 'unfavored_type'
  | 'less_overlap'
  | 'too_many_fields'
  | 'alphabetically_comes_after';

/** Why an index was not taken. */
export interface Candidate {
  readonly index: QueryIndex;
  /** Whether it could serve the query. */
  readonly serves: boolean;
  /** The same as CouchDB tells it: a partial index is called unusable, even where it was named. */
  readonly usable: boolean;
  readonly reason: Reason;
  readonly ranking: number;
}

export interface Choice {
  /** Undefined where no index can serve the query. */
  readonly index: QueryIndex | undefined;
  /** The other indexes; computed on demand. */
  candidates(): readonly Candidate[];
  /** Whether the index that the request names is the one. */
  readonly isNamed: boolean;
}

type Wishes = Pick<FindRequest, 'sort' | 'useIndex' | 'partition' | 'allowFallback'>;

export function chooseIndex(selector: SelectorNode, wishes: Wishes, indexes: readonly QueryIndex[]): Choice {
  const left = new Map<QueryIndex, Reason>();
  for (const index of indexes) {
    const reason = unusable(index, selector, wishes);
    if (reason !== undefined) left.set(index, reason);
  }
  const usable = indexes.filter((index) => !left.has(index));
  const named = usable.filter((index) => isNamed(index, wishes.useIndex));
  const allowed = named.length > 0 ? named : usable;
  for (const index of usable) if (!allowed.includes(index)) left.set(index, 'excluded_by_user');
  const jsons = allowed.filter(({ type }) => type === 'json');
  const texts = allowed.filter(({ type }) => type === 'text');
  if (jsons.length === 0 && texts.length > 1) throw multipleTextIndexes();
  const favored = jsons.length > 0 ? jsons : texts.length > 0 ? texts : allowed;
  for (const index of allowed) if (!favored.includes(index)) left.set(index, 'unfavored_type');
  const sorted = jsons.length > 0 ? bySuitability(selector, jsons) : [];
  const index = sorted[0]?.index ?? favored[0];
  return {
    index,
    isNamed: named.length > 0,
    // The last ones first, as CouchDB has them.
    candidates: () =>
      candidates(left, sorted, index).sort((a, b) => indexes.indexOf(b.index) - indexes.indexOf(a.index)),
  };
}

function unusable(index: QueryIndex, selector: SelectorNode, wishes: Wishes): Reason | undefined {
  const { sort, useIndex, partition } = wishes;
  const isInScope = index.type === 'special' || index.partitioned === (partition !== undefined);
  if (index.partialFilter !== undefined && !(isInScope && isNamed(index, useIndex))) return 'is_partial';
  if (!isInScope) return 'scope_mismatch';
  if (index.type === 'text') return unusableText(index, selector);
  if (hasText(selector)) return 'needs_text_search';
  if (index.type === 'special') return unusablePrimary(index, selector, sort);
  const requires = wishes.allowFallback && sort.fields.length === 0 ? requiresField : mayRequireField;
  const isThere = (column: string): boolean =>
    column === '_id' || column === '_rev' || requires(selector, column) || sort.fields.includes(column);
  if (!findsNothing(selector) && !index.columns.every(isThere)) return 'field_mismatch';
  return hasOrder(index.columns, sort, selector) ? undefined : 'sort_order_mismatch';
}

function unusableText({ columns, text }: QueryIndex, selector: SelectorNode): Reason | undefined {
  if (selector.kind === 'everything') return 'empty_selector';
  const { fields, defaultField } = text!.definition;
  if (fields === undefined) return undefined;
  const having = new Set(defaultField === undefined ? columns : [...columns, defaultFieldName]);
  return textFields(selector).every((field) => having.has(field)) ? undefined : 'field_mismatch';
}

const multipleTextIndexes = (): RequestError =>
  new RequestError('multiple_text_indexes', 'You must specify an index with the `use_index` parameter.');

/** Ids sort only where the selector speaks of them. */
function unusablePrimary({ columns }: QueryIndex, selector: SelectorNode, sort: Sort): Reason | undefined {
  if (sort.fields.length === 0) return undefined;
  if (!indexableFields(selector).has('_id')) return 'field_mismatch';
  return hasOrder(columns, sort, selector) ? undefined : 'sort_order_mismatch';
}

/** Columns before those that are sorted by must have one value only. */
function hasOrder(columns: readonly string[], { fields }: Sort, selector: SelectorNode): boolean {
  if (fields.length === 0) return true;
  let from = 0;
  while (from < columns.length && columns[from] !== fields[0]) {
    if (!isConstant(selector, columns[from]!)) return false;
    from++;
  }
  return fields.every((field, at) => columns[from + at] === field);
}

/** `useIndex` is a design document, with or without its prefix, and perhaps the name of an index. */
function isNamed({ ddoc, name }: QueryIndex, [design, index]: readonly string[]): boolean {
  if (design === undefined || ddoc !== designId(design)) return false;
  return index === undefined || index === name;
}

export const designId = (name: string): string => (name.startsWith('_design/') ? name : `_design/${name}`);

interface Suited {
  readonly index: QueryIndex;
  /** How many fields with a fitting condition the first columns don't cover. */
  readonly distance: number;
}

function bySuitability(selector: SelectorNode, indexes: readonly QueryIndex[]): Suited[] {
  const fields = rangedFields(selector);
  const suited = indexes.map((index) => ({
    index,
    distance: fields.size - covered(index.columns, fields),
  }));
  return suited.sort(
    (a, b) =>
      a.distance - b.distance ||
      a.index.columns.length - b.index.columns.length ||
      compareNames(a.index.ddoc!, b.index.ddoc!) ||
      compareNames(a.index.name, b.index.name),
  );
}

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** How many of the first columns the selector has a condition for that an index can be read by. */
function covered(columns: readonly string[], fields: ReadonlySet<string>): number {
  const other = columns.findIndex((column) => !fields.has(column));
  return other === -1 ? columns.length : other;
}

const stages: readonly (readonly Reason[])[] = [
  ['unfavored_type'],
  ['excluded_by_user'],
  ['needs_text_search', 'empty_selector', 'field_mismatch', 'sort_order_mismatch'],
  ['scope_mismatch'],
  ['is_partial'],
];

/** The nearer an index came to being taken, the better its rank. */
function candidates(
  left: ReadonlyMap<QueryIndex, Reason>,
  sorted: readonly Suited[],
  winner: QueryIndex | undefined,
): Candidate[] {
  const others: Candidate[] = sorted.slice(1).map(({ index, distance }, at) => {
    const isWider = index.columns.length > winner!.columns.length;
    const reason = distance > 0 ? 'less_overlap' : isWider ? 'too_many_fields' : 'alphabetically_comes_after';
    return { index, serves: true, usable: true, reason, ranking: at + 1 };
  });
  let ranking = Math.max(1, sorted.length);
  for (const [stage, reasons] of stages.entries()) {
    const found = [...left].filter(([, reason]) => reasons.includes(reason));
    const serves = stage < 2;
    others.push(...found.map(([index, reason]) => ({ index, serves, usable: serves, reason, ranking })));
    if (found.length > 0 && !reasons.includes('is_partial')) ranking++;
  }
  return others.map((each) => asPartial(each, ranking));
}

/** What is partial is told of a partial index before all else, and its rank there is added to the one that it would have. */
function asPartial(candidate: Candidate, partialRanking: number): Candidate {
  const { index, reason, ranking } = candidate;
  if (index.partialFilter === undefined || reason === 'is_partial') return candidate;
  return { ...candidate, usable: false, reason: 'is_partial', ranking: ranking + partialRanking };
}
