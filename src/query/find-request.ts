/** The body of `_find` and `_explain`, checked member by member; what is wrong is refused with CouchDB's names for it. */
import { RequestError } from '../base/errors.js';
import { parseField } from '../selectors/field-path.js';
import { shown } from '../selectors/refusals.js';
import { compileSelector, type Selector } from '../selectors/selector.js';
import { readAggregate, type Aggregate } from './aggregate-request.js';
import { readBookmark, type Bookmark } from './bookmark.js';
import {
  invalidIndexName,
  invalidKey,
  missingKey,
  readBoolean,
  readNatural,
  readPositive,
} from './refusals.js';
import { noSort, readSort, type Sort } from './sort.js';

export interface FindRequest {
  selector: Selector;
  limit: number;
  skip: number;
  sort: Sort;
  /** Undefined for whole documents. */
  fields: readonly string[] | undefined;
  /** Nothing, a design document, or a design document and the name of an index. */
  useIndex: readonly string[];
  /** Copies to be asked for each document. */
  r: number;
  bookmark: Bookmark | undefined;
  /** The bookmark as it was given, even if it is invalid. */
  bookmarkText: string | undefined;
  /** Whether the index is brought up to date first. */
  update: boolean;
  stable: boolean;
  stale: boolean | 'ok';
  executionStats: boolean;
  conflicts: boolean;
  partition: string | undefined;
  allowFallback: boolean;
  /** Whether all documents that match are counted. */
  count: boolean;
  aggregate: Aggregate | undefined;
}

type Reader = (request: FindRequest, value: unknown) => void;

/** In the order in which CouchDB checks them: of several that are wrong, the first is told. */
const readers: Readonly<Record<string, Reader>> = {
  selector: (request, value) => (request.selector ??= compileSelector(value, true)),
  use_index: (request, value) => (request.useIndex = readUseIndex(value)),
  bookmark: (request, value) => {
    request.bookmark = readBookmark(value);
    request.bookmarkText = value === null || value === '' ? undefined : (value as string);
  },
  limit: (request, value) => (request.limit = readNatural(value)),
  skip: (request, value) => (request.skip = readNatural(value)),
  sort: (request, value) => (request.sort = readSort(value)),
  fields: (request, value) => (request.fields = readFields(value)),
  partition: (request, value) => (request.partition = readPartition(value)),
  r: (request, value) => (request.r = readPositive(value)),
  conflicts: (request, value) => (request.conflicts = readBoolean(value)),
  stale: (request, value) => (request.stale = readStale(value)),
  update: (request, value) => (request.update = readBoolean(value)),
  stable: (request, value) => (request.stable = readBoolean(value)),
  execution_stats: (request, value) => (request.executionStats = readBoolean(value)),
  allow_fallback: (request, value) => (request.allowFallback = readBoolean(value)),
  count: (request, value) => (request.count = readBoolean(value)),
  aggregate: (request, value) => (request.aggregate = readAggregate(value)),
};

const readersInOrder = Object.entries(readers);

/** `compiled`: the selector, where it was read before. */
export function readFindRequest(
  body: Readonly<Record<string, unknown>>,
  defaultLimit: number,
  compiled?: Selector,
): FindRequest {
  if (!Object.hasOwn(body, 'selector')) throw missingKey('selector');
  const request: FindRequest = {
    selector: compiled!,
    limit: defaultLimit,
    skip: 0,
    sort: noSort,
    fields: undefined,
    useIndex: [],
    r: 1,
    bookmark: undefined,
    bookmarkText: undefined,
    update: true,
    stable: false,
    stale: false,
    executionStats: false,
    conflicts: false,
    partition: undefined,
    allowFallback: true,
    count: false,
    aggregate: undefined,
  };
  for (const [name, read] of readersInOrder) if (Object.hasOwn(body, name)) read(request, body[name]);
  for (const name of Object.keys(body)) if (!Object.hasOwn(readers, name)) throw invalidKey(name);
  if (request.aggregate !== undefined) checkAggregate(body);
  return request;
}

/** Groups are given whole, and in the order of their keys. */
function checkAggregate(body: Readonly<Record<string, unknown>>): void {
  for (const name of ['fields', 'sort', 'limit', 'skip', 'bookmark'])
    if (Object.hasOwn(body, name))
      throw new RequestError('invalid_aggregate', `\`${name}\` has no meaning beside \`aggregate\`.`);
}

/** Each is looked for in every document. Feeds with a selector take as many. */
export const fieldsMax = 10_000;

function readFields(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value))
    throw new RequestError('invalid_fields', `Fields must be an array of strings, not: ${shown(value)}`);
  if (value.length > fieldsMax)
    throw new RequestError('invalid_fields', `There are more than ${fieldsMax} fields.`);
  for (const field of value) {
    if (typeof field !== 'string')
      throw new RequestError('invalid_field', `Invalid JSON for field spec: ${shown(field)}`);
    parseField(field);
  }
  return value.length === 0 ? undefined : (value as string[]);
}

function readUseIndex(value: unknown): string[] {
  if (value === null) return [];
  const isList = Array.isArray(value) && value.every((part) => typeof part === 'string');
  if (typeof value !== 'string' && !isList) throw invalidIndexName(value);
  const parts = typeof value === 'string' ? value.replace(/^_design\//, '').split('/') : (value as string[]);
  if (parts.length > 2) throw invalidIndexName(value);
  return parts;
}

function readStale(value: unknown): boolean | 'ok' {
  if (value === 'ok') return 'ok';
  if (value === 'false' || value === false) return false;
  throw new RequestError('invalid_value', `Invalid value for stale: ${shown(value)}`);
}

function readPartition(value: unknown): string | undefined {
  if (typeof value !== 'string') throw new RequestError('illegal_partition', 'Partition must be a string');
  return value === '' ? undefined : value;
}
