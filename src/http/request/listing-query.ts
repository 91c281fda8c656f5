import { toBytes, type Bytes } from '../../base/bytes.js';
import type { ListQuery } from '../../documents/list-docs.js';
import {
  boolean,
  checkViewLimit,
  choice,
  groupLevelOf,
  json,
  list,
  parseError,
  partitionName,
  positive,
  text,
  type Parameter,
} from './parameters.js';

/** A listing as a client asks for it: the bounds and switches, and perhaps a list of keys. */
export interface ListingRequest extends ListQuery {
  keys: readonly unknown[] | undefined;
  updateSeq: boolean;
}

type Draft = { -readonly [Name in keyof ListingRequest]: ListingRequest[Name] };

interface Bounds {
  isKey: boolean;
  start?: unknown;
  end?: unknown;
  startDocid?: string;
  endDocid?: string;
  group?: boolean;
  groupLevel?: number;
  reduce?: boolean;
}

type Setter = (request: Draft, bounds: Bounds, parameter: Parameter) => void;

/** Every parameter of views that listings take. Those that only views give a meaning are checked all the same. */
const setters: Readonly<Record<string, Setter>> = {
  conflicts: (request, _, parameter) => (request.conflicts = boolean(parameter)),
  descending: (request, _, parameter) => (request.descending = boolean(parameter)),
  include_docs: (request, _, parameter) => (request.includeDocs = boolean(parameter)),
  inclusive_end: (request, _, parameter) => (request.inclusiveEnd = boolean(parameter)),
  update_seq: (request, _, parameter) => (request.updateSeq = boolean(parameter)),
  sorted: (_, __, parameter) => void boolean(parameter),
  attachments: (request, _, parameter) => (request.attachments = boolean(parameter) || request.attachments),
  att_encoding_info: (request, _, parameter) =>
    (request.encodingInfo = boolean(parameter) || request.encodingInfo),
  limit: (request, _, parameter) => (request.limit = positive(parameter)),
  skip: (request, _, parameter) => (request.skip = positive(parameter)),
  key: (_, bounds, parameter) => {
    bounds.start = bounds.end = json(parameter);
    bounds.isKey = true;
  },
  startkey: (_, bounds, parameter) => (bounds.start = json(parameter)),
  start_key: (_, bounds, parameter) => (bounds.start = json(parameter)),
  endkey: (_, bounds, parameter) => (bounds.end = json(parameter)),
  end_key: (_, bounds, parameter) => (bounds.end = json(parameter)),
  startkey_docid: (_, bounds, parameter) => (bounds.startDocid = text(parameter)),
  start_key_doc_id: (_, bounds, parameter) => (bounds.startDocid = text(parameter)),
  endkey_docid: (_, bounds, parameter) => (bounds.endDocid = text(parameter)),
  end_key_doc_id: (_, bounds, parameter) => (bounds.endDocid = text(parameter)),
  group: (_, bounds, parameter) => (bounds.group = boolean(parameter)),
  group_level: (_, bounds, parameter) => (bounds.groupLevel = positive(parameter)),
  keys: (request, bounds, parameter) => {
    request.keys = list(parameter);
    if (request.keys.length === 1) bounds.start = bounds.end = request.keys[0];
  },
  stale: (_, __, parameter) => choice(parameter, 'stale', ['ok', 'update_after']),
  update: (_, __, parameter) => choice(parameter, 'update', ['true', 'false', 'lazy']),
  stable: (_, __, parameter) => choice(parameter, 'stable', ['true', 'false']),
  reduce: (_, bounds, parameter) => (bounds.reduce = boolean(parameter)),
  partition: (request, _, parameter) => (request.partition = partitionName(parameter)),
};

/** Puts the parameters together, later ones over earlier ones. Unknown ones mean nothing. */
export function listingRequest(parameters: Iterable<[string, Parameter]>): ListingRequest {
  const request: Draft = {
    inclusiveEnd: true,
    descending: false,
    skip: 0,
    limit: Infinity,
    includeDocs: false,
    conflicts: false,
    attachments: false,
    encodingInfo: false,
    updateSeq: false,
    keys: undefined,
  };
  const bounds: Bounds = { isKey: false };
  for (const [name, parameter] of parameters) {
    if (Object.hasOwn(setters, name)) setters[name]!(request, bounds, parameter);
  }
  if (bounds.reduce === true) throw parseError('Reduce is invalid for map-only views.');
  checkKeys(request.keys, bounds);
  if (request.partition !== undefined) checkViewLimit(request.limit);
  if (groupLevelOf(bounds.group, bounds.groupLevel) > 0)
    throw parseError('Invalid use of grouping on a map view.');
  // In a partition there are always bounds, and ids beside them mean nothing.
  const { startDocid, endDocid } = request.partition === undefined ? bounds : {};
  request.start = 'start' in bounds ? bound(bounds.start) : idBound(startDocid);
  request.end = 'end' in bounds ? bound(bounds.end) : idBound(endDocid);
  // A key that is no text is the id of nothing, and no bound makes an exception for it.
  const isNothing = bounds.isKey && request.keys === undefined;
  if (isNothing && request.start === null && request.end === null) request.limit = 0;
  return request;
}

/** A list of one key is a range of this key, too: a range given before it is replaced, and one behind it contradicts it. */
function checkKeys(keys: readonly unknown[] = [], { start, end }: Bounds): void {
  const isRange = keys.length === 1 && start === keys[0] && end === keys[0];
  if (keys.length > 0 && !isRange && (start !== undefined || end !== undefined))
    throw parseError('`keys` is incompatible with `key`, `start_key` and `end_key`');
}

const idBound = (id: string | undefined): Bytes | undefined => (id === undefined ? undefined : toBytes(id));

/** Ids are text; every other key stands before them all. */
const bound = (key: unknown): Bytes | null => (typeof key === 'string' ? toBytes(key.toWellFormed()) : null);
