import { badRequest } from '../../base/errors.js';
import type { Bytes } from '../../base/bytes.js';
import { readBookmark } from '../../fulltext/bookmark.js';
import type { NamedSearch } from '../../fulltext/search-source.js';
import type { Highlighting, NumberRange, SearchRequest } from '../../fulltext/search-request.js';
import { byRelevance, readSort } from '../../fulltext/sorting.js';
import { knnOf } from './knn-query.js';
import { boolean, json, parseError, partitionName, type Parameter } from './parameters.js';

const limitDefault = 25;
const limitMax = 200;
/** In databases with partitions. */
const partitionLimitMax = 2_000;
const groupLimitMax = 200;
const listMax = 1_000;

type Given = ReadonlyMap<string, Parameter>;

/** Reads the parameters of a search, from the query string or from a body. */
export function searchRequest(
  parameters: Iterable<[string, Parameter]>,
  { index, database }: Pick<NamedSearch, 'index' | 'database'>,
): SearchRequest {
  const all = [...parameters];
  const given = new Map(all);
  const query = plainText(given.get('q') ?? given.get('query'), 'q');
  const knn = given.has('knn') ? knnOf(json(given.get('knn')!)) : undefined;
  if (query === undefined && knn === undefined)
    throw parseError("Query must include a 'q' or 'query' argument");
  if (knn !== undefined) checkKnn(given);
  const sort = given.has('sort') ? readSort(sortValue(given.get('sort')!)) : [byRelevance];
  const partition = onePartition(all);
  checkPartition(partition, index.partitioned, given);
  const most = database.isPartitioned ? partitionLimitMax : limitMax;
  return {
    query,
    limit: integer(given, 'limit', database.isPartitioned ? partitionLimitMax : limitDefault, 0, most),
    after: readBookmark(plainText(given.get('bookmark'), 'bookmark'), sort),
    sort,
    includeDocs: given.has('include_docs') && boolean(given.get('include_docs')!),
    includeFields: given.has('include_fields') ? new Set(texts(given, 'include_fields')) : undefined,
    counts: given.has('counts') ? texts(given, 'counts') : undefined,
    ranges: given.has('ranges') ? rangesOf(given.get('ranges')!) : undefined,
    drilldown: drilldownsOf(all),
    group: groupOf(given),
    highlight: highlightOf(given),
    isStale: isStale(given.get('stale')),
    partition,
    knn,
  };
}

/** The body may not name another than the path or the query string. */
function onePartition(all: readonly [string, Parameter][]): Bytes | undefined {
  const found = all.filter(([name]) => name === 'partition').map(([, parameter]) => parameter);
  if (found.length === 0) return undefined;
  const partition = partitionName(found.at(-1)!);
  if (found.some((each) => 'value' in each && partitionName(each) !== partition))
    throw badRequest('Multiple conflicting values for `partition` provided');
  return partition;
}

function checkPartition(partition: Bytes | undefined, isPartitioned: boolean, given: Given): void {
  if (partition === undefined && isPartitioned)
    throw badRequest('`partition` parameter is mandatory for queries to this index.');
  if (partition === undefined) return;
  if (!isPartitioned) throw badRequest('`partition` not supported on this index');
  const facets = ['counts', 'drilldown', 'ranges', 'group_field', 'group_by', 'group_sort', 'group_limit'];
  if (facets.some((name) => given.has(name)))
    throw badRequest(
      '`partition` and any of `drilldown`, `ranges`, `group_field`, `group_sort`, `group_limit` or `group_by` are incompatible',
    );
}

/** Neighbours of a vector are ordered by their distance, and there are only as many as were asked for. */
function checkKnn(given: Given): void {
  const others = ['sort', 'counts', 'ranges', 'drilldown', 'group_field', 'group_by'];
  const found = others.find((name) => given.has(name));
  if (found !== undefined) throw badRequest(`\`knn\` and \`${found}\` are incompatible`);
}

function isStale(parameter: Parameter | undefined): boolean {
  if (parameter === undefined) return false;
  if (plainText(parameter, 'stale') === 'ok') return true;
  throw parseError('stale only available as stale=ok');
}

function plainText(parameter: Parameter | undefined, name: string): string | undefined {
  if (parameter === undefined) return undefined;
  const value = 'text' in parameter ? parameter.text : parameter.value;
  if (typeof value !== 'string') throw parseError(`Invalid value for ${name}: ${shown(value)}`);
  return value;
}

/** In a query string it is JSON; a plain word such as `-price<number>` is taken for what it is. */
function sortValue(parameter: Parameter): unknown {
  if ('value' in parameter) return parameter.value;
  return /^\s*["[]/.test(parameter.text) ? json(parameter) : parameter.text;
}

function integer(given: Given, name: string, otherwise: number, least: number, most: number): number {
  const parameter = given.get(name);
  if (parameter === undefined) return otherwise;
  const value =
    'value' in parameter
      ? parameter.value
      : /^-?\d{1,15}$/.test(parameter.text)
        ? Number(parameter.text)
        : NaN;
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw parseError(`Invalid value for ${name}: ${shown('text' in parameter ? parameter.text : value)}`);
  if (value > most) throw parseError(`Value for ${name} is too large, must not exceed ${most}`);
  if (value < least)
    throw parseError(`${name} must be greater than ${least === 0 ? 'or equal to zero' : 'zero'}`);
  return value;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200);

function texts(given: Given, name: string): string[] {
  const value = json(given.get(name)!);
  if (Array.isArray(value) && value.length <= listMax && value.every((each) => typeof each === 'string'))
    return value;
  throw parseError(`Invalid value for ${name}: ${shown(value)}`);
}

/** A query string may have several, all of which count; a list of lists takes the place of those before it. */
function drilldownsOf(all: readonly [string, Parameter][]): SearchRequest['drilldown'] {
  let found: SearchRequest['drilldown'] = [];
  for (const [name, parameter] of all) {
    if (name !== 'drilldown') continue;
    const value = json(parameter);
    const isListOfLists = Array.isArray(value) && Array.isArray(value[0]);
    found = [...(isListOfLists ? [] : found), ...drilldownOf(value)];
    if (found.length > listMax) throw parseError(`Invalid value for drilldown: ${shown(value)}`);
  }
  return found;
}

/** A list of a field and texts, or a list of such lists. */
function drilldownOf(value: unknown): SearchRequest['drilldown'] {
  const lists = Array.isArray(value) && Array.isArray(value[0]) ? (value as unknown[]) : [value];
  const isList = (each: unknown): each is string[] =>
    Array.isArray(each) &&
    each.length >= 2 &&
    each.length <= listMax &&
    each.every((text) => typeof text === 'string');
  if (lists.length <= listMax && lists.every(isList))
    return lists.map(([field, ...given]) => ({ field: field!, texts: new Set(given) }));
  throw parseError(`Invalid value for drilldown: ${shown(value)}`);
}

function rangesOf(parameter: Parameter): NonNullable<SearchRequest['ranges']> {
  const value = json(parameter);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw parseError(`Invalid value for ranges: ${shown(value)}`);
  let count = 0;
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([field, named]) => {
      if (typeof named !== 'object' || named === null || Array.isArray(named))
        throw parseError(`Invalid value for ranges: ${shown(named)}`);
      const ranges = Object.entries(named as Record<string, unknown>);
      if ((count += ranges.length + 1) > listMax)
        throw parseError(`Value for ranges is too large, must not exceed ${listMax} ranges`);
      return [field, Object.fromEntries(ranges.map(([name, range]) => [name, rangeOf(range)]))];
    }),
  );
}

function rangeOf(text: unknown): NumberRange {
  const found =
    typeof text === 'string' ? /^\s*([[{])\s*(\S{1,50})\s+TO\s+(\S{1,50}?)\s*([\]}])\s*$/.exec(text) : null;
  const [low, high] = [numberOf(found?.[2], -Infinity), numberOf(found?.[3], Infinity)];
  if (found === null || Number.isNaN(low) || Number.isNaN(high))
    throw badRequest(`Invalid range: ${shown(text)}`);
  return { low, high, includesLow: found[1] === '[', includesHigh: found[4] === ']' };
}

const numberOf = (text: string | undefined, open: number): number =>
  text === '*' ? open : Number(text ?? NaN);

function groupOf(given: Given): SearchRequest['group'] {
  const field = plainText(given.get('group_field') ?? given.get('group_by'), 'group_field');
  if (field === undefined) return undefined;
  return {
    // The type, which says how values are compared elsewhere, makes no difference here.
    field: field.replace(/<(string|number)>$/, ''),
    limit: integer(given, 'group_limit', 25, 1, groupLimitMax),
    sort: given.has('group_sort') ? readSort(sortValue(given.get('group_sort')!)) : [byRelevance],
    isOld: !given.has('group_field'),
  };
}

function highlightOf(given: Given): Highlighting | undefined {
  if (!given.has('highlight_fields')) return undefined;
  return {
    fields: [...new Set(texts(given, 'highlight_fields'))],
    preTag: tag(given.get('highlight_pre_tag'), '<em>'),
    postTag: tag(given.get('highlight_post_tag'), '</em>'),
    number: integer(given, 'highlight_number', 1, 1, 1_000),
    size: integer(given, 'highlight_size', 100, 1, 1_000_000),
  };
}

function tag(parameter: Parameter | undefined, otherwise: string): string {
  if (parameter === undefined) return otherwise;
  const isJson = 'value' in parameter || /^\s*"/.test(parameter.text);
  const value = isJson ? json(parameter) : parameter.text;
  if (typeof value !== 'string' || value.length > 1_000)
    throw parseError(`Invalid highlight tag: ${shown(value)}`);
  return value;
}
