import { RequestError } from '../base/errors.js';
import { compareJson } from '../json/collation.js';
import { compareIds } from '../selectors/conditions.js';
import { hasText, type SelectorNode } from '../selectors/node.js';
import { checkBookmark } from './bookmark-range.js';
import { invalidBookmark } from './refusals.js';
import { chooseIndex, designId, type Choice } from './choose-index.js';
import type { FindRequest } from './find-request.js';
import { keyRanges, type KeyRange } from './key-ranges.js';
import type { QueryIndex } from './query-index.js';
import { allFields, isConstant } from './selector-fields.js';
import { isImpossible, isImpossibleId } from './single-range.js';
import { RangeReader } from './value-ranges.js';

/** How a query is going to be answered. */
export interface Plan {
  readonly index: QueryIndex;
  /** The parts of the index that are read, in ascending order. */
  readonly ranges: readonly KeyRange[];
  /** Whether no key of the index can match, so that there is not even a place to go on from. */
  readonly isEmpty: boolean;
  readonly descending: boolean;
  /** Whether the index holds all that is asked for, so that no document has to be read. */
  readonly covering: boolean;
  /** Whether the ranges hold nothing but documents that match, so that counting rows counts these. */
  readonly exact: boolean;
}

/** What the database can serve a query with. */
export interface Scope {
  readonly indexes: readonly QueryIndex[];
  readonly isPartitioned: boolean;
}

/** Chooses the index; refuses where none can serve the query, or only one that the client doesn't want. */
export function planQuery(request: FindRequest, scope: Scope): { plan: Plan; choice: Choice } {
  const choice = chooseIndex(request.selector.normal, request, scope.indexes);
  if (choice.index === undefined) throw noIndex(request, scope);
  const kept = keptChoice(request, choice);
  if (request.bookmark === undefined && request.bookmarkText !== undefined)
    throw invalidBookmark(request.bookmarkText);
  const plan = planWith(request, kept.index!);
  if (request.bookmark !== undefined) checkBookmark(request.bookmark, request.selector.normal, plan);
  return { plan, choice: kept };
}

/** Which index would be taken, and why not another. A bookmark keeps to the index that it is from. */
export function chooseFor(request: FindRequest, { indexes }: Scope): Choice {
  return keptChoice(request, chooseIndex(request.selector.normal, request, indexes));
}

function keptChoice(request: FindRequest, choice: Choice): Choice {
  checkFallback(request, choice);
  const { bookmark } = request;
  if (bookmark === undefined || choice.index === undefined) return choice;
  const { ddoc, name } = bookmark;
  if (choice.index.ddoc === ddoc && choice.index.name === name) return choice;
  const same = choice
    .candidates()
    .find(({ index, serves }) => serves && index.ddoc === ddoc && index.name === name);
  if (same === undefined) throw invalidBookmark(request.bookmarkText);
  return { ...choice, index: same.index };
}

/** An index that is the only usable one must be named too: CouchDB would read all documents as well, but for the sort. */
function checkFallback({ allowFallback, useIndex }: FindRequest, choice: Choice): void {
  const { index, isNamed } = choice;
  if (allowFallback) return;
  if (useIndex.length > 0 && !isNamed)
    throw new RequestError(
      'invalid_index',
      `${useIndexText(useIndex)} specified by \`use_index\` could not be found or it is not suitable.`,
    );
  const isOnly = !choice.candidates().some(({ serves }) => serves);
  if ((index === undefined || index.type === 'special' || isOnly) && !isNamed)
    throw new RequestError('invalid_index', 'You must specify an index with the `use_index` parameter.');
}

/** A design document, or a design document and an index, as sentences name them. */
export const useIndexText = ([design, name]: readonly string[]): string =>
  designId(design!) + (name === undefined ? '' : `, ${name}`);

function noIndex({ partition, selector }: FindRequest, { isPartitioned }: Scope): RequestError {
  if (hasText(selector.normal))
    return new RequestError(
      'no_usable_index',
      '`$text` needs a text index that has all fields of the selector: create one, or name one with `use_index`.',
    );
  const kind = !isPartitioned ? '' : partition === undefined ? 'global ' : 'partitioned ';
  return new RequestError(
    'no_usable_index',
    `No ${kind}index exists for this sort, try indexing by the sort fields.`,
  );
}

export function planWith(request: FindRequest, index: QueryIndex): Plan {
  const { sort } = request;
  if (index.type === 'text') return textPlan(request, index);
  const { normal } = request.selector;
  const ranges = index.type === 'special' && isImpossibleId(normal) ? [] : columnRanges(normal, index);
  return {
    index,
    ranges: ranges.length > 0 && isContradiction(normal, index) ? [] : ranges,
    isEmpty: !ranges.some((range) => isReadable(range, index)) && isImpossible(normal, index),
    descending: sort.fields.length > 0 && sort.direction === 'desc',
    covering: isCovering(request, index),
    exact: isExact(normal, index),
  };
}

/** Whether any key can be in the range: of ids, which are texts, none is below the empty one. */
const isReadable = ({ high }: KeyRange, { type }: QueryIndex): boolean =>
  type !== 'special' || high === undefined || high.values.length === 0 || compareIds(high.values[0], '') >= 0;

/** What a text index finds is planned where it is read; it finds what a scan finds. */
function textPlan({ selector: { normal }, sort }: FindRequest, index: QueryIndex): Plan {
  return {
    index,
    ranges: [],
    isEmpty: isEmptyCombination(normal) || isImpossibleId(normal),
    descending: sort.direction === 'desc',
    covering: false,
    exact: false,
  };
}

/** Nothing matches an empty choice where it is all that is said. */
const isEmptyCombination = (selector: SelectorNode): boolean =>
  (selector.kind === 'and' || selector.kind === 'or') && selector.args.length === 0;

/** The ranges of the index' columns, whatever is said of other fields. */
function columnRanges(selector: SelectorNode, index: QueryIndex): KeyRange[] {
  if (isEmptyCombination(selector)) return [];
  const isPrimary = index.type === 'special';
  // Views collate ids like all texts, queries compare them by their bytes: in a view only equality is the same.
  const orderOf = (field: string): typeof compareJson | undefined =>
    field !== '_id' ? compareJson : isPrimary ? compareIds : undefined;
  const reader = new RangeReader(new Set(index.columns), orderOf);
  return keyRanges(reader.alternatives(selector), index.columns, isPrimary ? compareIds : compareJson);
}

/** Alternatives that are looked at for that; it is not worth more. */
const contradictionsMax = 100;

/** Whether what is said of one field can't be true at once. The ranges of the index have told that of its own columns. */
function isContradiction(selector: SelectorNode, { columns }: QueryIndex): boolean {
  const fields = allFields(selector);
  if (isEvery(fields, (field) => field !== '_id' && columns.includes(field))) return false;
  const orderOf = (field: string): typeof compareJson => (field === '_id' ? compareIds : compareJson);
  return new RangeReader(fields, orderOf, contradictionsMax).alternatives(selector).length === 0;
}

function isEvery<T>(values: Iterable<T>, test: (value: T) => boolean): boolean {
  for (const value of values) if (!test(value)) return false;
  return true;
}

function isCovering({ fields, selector, aggregate }: FindRequest, index: QueryIndex): boolean {
  const shown = aggregate?.fields ?? fields;
  if (index.type === 'special' || shown === undefined) return false;
  return [...shown, ...allFields(selector.normal)].every(
    (field) => field === '_id' || index.columns.includes(field),
  );
}

/** Whether all that the selector says is a comparison of the first columns, of which only the last may have a range. */
function isExact(selector: SelectorNode, { type, columns }: QueryIndex): boolean {
  const conditions = selector.kind === 'and' ? selector.args : [selector];
  const fields = new Set<string>();
  for (const condition of conditions) {
    if (condition.kind !== 'field' || condition.condition.kind !== 'condition') return false;
    if (!exactOperators.has(condition.condition.operator)) return false;
    fields.add(condition.field);
  }
  if (type === 'special' || fields.has('_id')) return false;
  const first = columns.slice(0, fields.size);
  return (
    first.length === fields.size &&
    first.every((column) => fields.has(column)) &&
    first.slice(0, -1).every((column) => isConstant(selector, column))
  );
}

const exactOperators: ReadonlySet<string> = new Set(['$eq', '$lt', '$lte', '$gt', '$gte']);

/** Whether the index has all the fields. */
export const covers = (index: QueryIndex, fields: readonly string[] | undefined): boolean =>
  fields !== undefined && fields.every((field) => field === '_id' || index.columns.includes(field));
