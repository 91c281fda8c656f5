import { badRequest } from '../../base/errors.js';
import type { Bytes } from '../../base/bytes.js';
import { readBookmark } from '../../fulltext/bookmark.js';
import { readNouveauSort } from '../../fulltext/nouveau-sorting.js';
import type { NumberRange, SearchRequest } from '../../fulltext/search-request.js';
import type { NamedSearch } from '../../fulltext/search-source.js';
import { numbersOf } from '../../search/query/query-numbers.js';
import { boolean, json, parseError, partitionName, type Parameter } from './parameters.js';

const limitDefault = 25;
const limitMax = 2_000;
const topFacetsDefault = 10;
const topFacetsMax = 1_000;
const listMax = 1_000;

type Given = ReadonlyMap<string, Parameter>;

/** Reads the parameters of a search by CouchDB's newer interface. */
export function nouveauRequest(
  parameters: Iterable<[string, Parameter]>,
  { index }: Pick<NamedSearch, 'index'>,
): { request: SearchRequest; topFacets: number } {
  // CouchDB takes null, too, for a parameter that is not given.
  const given: Given = new Map(
    [...parameters].filter(([, each]) => !('value' in each) || each.value !== null),
  );
  const query = text(given, 'q');
  if (query === undefined) throw parseError('q parameter is mandatory');
  const sort = readNouveauSort(sortOf(given));
  const request: SearchRequest = {
    query,
    limit: integer(given, 'limit', limitDefault, limitMax),
    after: readBookmark(text(given, 'bookmark'), sort),
    sort,
    includeDocs: given.has('include_docs') && boolean(given.get('include_docs')!),
    includeFields: undefined,
    counts: given.has('counts') ? strings('counts', json(given.get('counts')!)) : undefined,
    ranges: given.has('ranges') ? rangesOf(json(given.get('ranges')!)) : undefined,
    drilldown: [],
    group: undefined,
    highlight: undefined,
    isStale: given.has('update') && !boolean(given.get('update')!),
    partition: partitionOf(given, index.partitioned),
    readNumber: localeNumbers(text(given, 'locale')),
    knn: undefined,
  };
  return { request, topFacets: integer(given, 'top_n', topFacetsDefault, topFacetsMax) };
}

function localeNumbers(locale: string | undefined): SearchRequest['readNumber'] {
  if (locale === undefined) return undefined;
  const readNumber = numbersOf(locale);
  if (readNumber === undefined) throw parseError(`Invalid value for locale: ${shown(locale)}`);
  return readNumber;
}

function partitionOf(given: Given, isPartitioned: boolean): Bytes | undefined {
  const partition = given.has('partition') ? partitionName(given.get('partition')!) : undefined;
  if (partition === undefined && isPartitioned)
    throw badRequest('`partition` parameter is mandatory for queries to this index.');
  if (partition !== undefined && !isPartitioned) throw badRequest('`partition` not supported on this index');
  return partition;
}

function text(given: Given, name: string): string | undefined {
  const parameter = given.get(name);
  if (parameter === undefined) return undefined;
  const value = 'text' in parameter ? parameter.text : parameter.value;
  if (typeof value !== 'string') throw parseError(`Invalid value for ${name}: ${shown(value)}`);
  return value;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200);

function integer(given: Given, name: string, otherwise: number, most: number): number {
  const parameter = given.get(name);
  if (parameter === undefined) return otherwise;
  const value =
    'value' in parameter
      ? parameter.value
      : /^[+-]?\d{1,15}$/.test(parameter.text)
        ? Number(parameter.text)
        : NaN;
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw parseError(`${name} parameter must be an integer`);
  if (value < 1) throw parseError(`${name} parameter must be greater than zero`);
  if (value > most) throw parseError(`${name} parameter must not exceed ${most}`);
  return value;
}

function sortOf(given: Given): string[] {
  if (!given.has('sort')) return ['relevance'];
  const value = json(given.get('sort')!);
  return strings('sort', typeof value === 'string' ? [value] : value);
}

function strings(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw parseError(`${name} parameter must be a list of strings`);
  if (value.length > listMax) throw parseError(`${name} parameter has more than ${listMax} items`);
  if (value.every((each) => typeof each === 'string')) return value;
  throw parseError(`all items in ${name} parameter must be strings`);
}

function rangesOf(value: unknown): NonNullable<SearchRequest['ranges']> {
  if (!isObject(value)) throw parseError(`Invalid value for ranges: ${shown(value)}`);
  let count = 0;
  return Object.fromEntries(
    Object.entries(value).map(([field, ranges]) => {
      if (!Array.isArray(ranges)) throw parseError('range values must be lists of objects');
      if ((count += ranges.length + 1) > listMax)
        throw parseError(`ranges parameter has more than ${listMax} items`);
      return [field, Object.fromEntries(ranges.map((range) => rangeOf(range)))];
    }),
  );
}

function rangeOf(range: unknown): [label: string, range: NumberRange] {
  if (!isObject(range)) throw parseError('all values in ranges parameter must be objects');
  const { label, min, max, min_inclusive: includesLow = true, max_inclusive: includesHigh = true } = range;
  if (typeof label !== 'string') throw badRequest('ranges need a label');
  if (typeof includesLow !== 'boolean' || typeof includesHigh !== 'boolean')
    throw badRequest(`Invalid range: ${shown(range)}`);
  return [label, { low: bound(min, -Infinity), high: bound(max, Infinity), includesLow, includesHigh }];
}

/** A number, or a string that is one. */
function bound(value: unknown, open: number): number {
  if (value === undefined || value === null) return open;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && !Number.isNaN(number)) return number;
  throw badRequest(`Invalid bound of a range: ${shown(value)}`);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
