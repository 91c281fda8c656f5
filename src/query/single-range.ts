/**
 * The one range of an index that CouchDB would read for a query: `mrargs` of `_explain` shows it. Only comparisons that hold
 * for every match narrow it, each column by itself.
 */
import { compareJson } from '../json/collation.js';
import type { SelectorNode } from '../selectors/node.js';
import type { QueryIndex } from './query-index.js';
import { indexableFields } from './selector-fields.js';
import { RangeReader, type ValueBound, type ValueRange } from './value-ranges.js';

/** Stands for what is behind all keys. */
export const lastKey = '<MAX>';

export interface SingleRange {
  readonly start: unknown;
  readonly end: unknown;
}

/** Both keys are null where the query can't match anything. */
export function singleRange(selector: SelectorNode, index: QueryIndex): SingleRange {
  const columns = columnRanges(selector, index.columns);
  if (columns === undefined) return { start: null, end: null };
  const starts = leadingValues(columns.map(({ low }) => low));
  const ends = leadingValues(columns.map(({ high }) => high));
  if (index.type !== 'special') return { start: starts, end: [...ends, lastKey] };
  // An id that only has an upper bound begins at the empty text.
  const first = columns.length === 0 ? null : '';
  return { start: starts.length === 0 ? first : starts[0], end: ends.length === 0 ? lastKey : ends[0] };
}

/** Whether there is no such range: CouchDB does not even give a bookmark then. */
export const isImpossible = (selector: SelectorNode, { columns }: QueryIndex): boolean =>
  columnRanges(selector, columns) === undefined;

/**
 * Whether ids are compared with lists or objects, which stand before them, and with texts that CouchDB's range has before
 * these: it reads nothing then.
 */
export const isImpossibleId = (selector: SelectorNode): boolean =>
  comparisons(selector, '_id').some(isWithCompound) && columnRanges(selector, ['_id']) === undefined;

const isWithCompound = (node: SelectorNode): boolean =>
  node.kind === 'field' &&
  node.condition.kind === 'condition' &&
  typeof node.condition.value === 'object' &&
  node.condition.value !== null;

/** The ranges of the first columns, as far as the selector restricts them; undefined if the first one can't match. */
function columnRanges(selector: SelectorNode, columns: readonly string[]): ValueRange[] | undefined {
  if ((selector.kind === 'and' || selector.kind === 'or') && selector.args.length === 0) return undefined;
  const fields = indexableFields(selector);
  const impossible = impossibleField(selector, fields);
  // CouchDB forgets what is said of other fields when one of them can't match.
  if (impossible !== undefined) return impossible === columns[0] ? undefined : [];
  const end = columns.findIndex((column) => !fields.has(column));
  return columns.slice(0, end < 0 ? columns.length : end).map((column) => fieldRange(selector, column)!);
}

/** Fields that decide which index suits a query: one that can't match, or all those with a condition that an index is read by. */
export function rangedFields(selector: SelectorNode): ReadonlySet<string> {
  const fields = indexableFields(selector);
  const impossible = impossibleField(selector, fields);
  return impossible === undefined ? fields : new Set([impossible]);
}

/** The first by name. */
const impossibleField = (selector: SelectorNode, fields: ReadonlySet<string>): string | undefined =>
  [...fields].toSorted().find((field) => fieldRange(selector, field) === undefined);

/** Undefined if no value is in it. */
function fieldRange(selector: SelectorNode, field: string): ValueRange | undefined {
  const reader = new RangeReader(new Set([field]), () => compareJson);
  const [alternative] = reader.alternatives({ kind: 'and', args: comparisons(selector, field) });
  return alternative === undefined ? undefined : (alternative.get(field) ?? {});
}

/** The comparisons of a field that hold for every match. */
function comparisons(node: SelectorNode, field: string): SelectorNode[] {
  if (node.kind === 'and') return node.args.flatMap((arg) => comparisons(arg, field));
  return node.kind === 'field' && node.field === field && indexableFields(node).has(field) ? [node] : [];
}

/** The values of the bounds up to the first that is open. */
function leadingValues(bounds: readonly (ValueBound | undefined)[]): unknown[] {
  const values: unknown[] = [];
  for (const bound of bounds) {
    if (bound === undefined) break;
    values.push(bound.beginning === undefined ? bound.value : `${bound.beginning}\uffff`);
  }
  return values;
}
