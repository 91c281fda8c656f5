import { toBytes, type Bytes } from '../../base/bytes.js';
import type { ListQuery } from '../../documents/list-docs.js';
import {
  boolean,
  choice,
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
  key?: unknown;
  start?: unknown;
  end?: unknown;
  startDocid?: string;
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
  attachments: (request, _, parameter) => (request.attachments = boolean(parameter)),
  att_encoding_info: (request, _, parameter) => (request.encodingInfo = boolean(parameter)),
  limit: (request, _, parameter) => (request.limit = positive(parameter)),
  skip: (request, _, parameter) => (request.skip = positive(parameter)),
  key: (_, bounds, parameter) => (bounds.key = json(parameter)),
  startkey: (_, bounds, parameter) => (bounds.start = json(parameter)),
  start_key: (_, bounds, parameter) => (bounds.start = json(parameter)),
  endkey: (_, bounds, parameter) => (bounds.end = json(parameter)),
  end_key: (_, bounds, parameter) => (bounds.end = json(parameter)),
  startkey_docid: (_, bounds, parameter) => (bounds.startDocid = text(parameter)),
  start_key_doc_id: (_, bounds, parameter) => (bounds.startDocid = text(parameter)),
  endkey_docid: (_, __, parameter) => void text(parameter),
  end_key_doc_id: (_, __, parameter) => void text(parameter),
  keys: (request, _, parameter) => (request.keys = list(parameter)),
  stale: (_, __, parameter) => choice(parameter, 'stale', ['ok', 'update_after']),
  update: (_, __, parameter) => choice(parameter, 'update', ['true', 'false', 'lazy']),
  stable: (_, __, parameter) => choice(parameter, 'stable', ['true', 'false']),
  reduce: (_, __, parameter) => {
    if (boolean(parameter)) throw parseError('Reduce is invalid for map-only views.');
  },
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
  const bounds: Bounds = {};
  for (const [name, parameter] of parameters) {
    if (Object.hasOwn(setters, name)) setters[name]!(request, bounds, parameter);
  }
  if (request.keys !== undefined && ('key' in bounds || 'start' in bounds || 'end' in bounds)) {
    throw parseError('`keys` is incompatible with `key`, `start_key` and `end_key`');
  }
  const startDocid = bounds.startDocid === undefined ? undefined : toBytes(bounds.startDocid);
  request.start = 'key' in bounds ? bound(bounds.key) : 'start' in bounds ? bound(bounds.start) : startDocid;
  request.end = 'key' in bounds ? bound(bounds.key) : 'end' in bounds ? bound(bounds.end) : undefined;
  // A key that is no text is the id of nothing, and no bound makes an exception for it.
  if ('key' in bounds && request.start === null) request.limit = 0;
  return request;
}

/** Ids are text; every other key stands before them all. */
const bound = (key: unknown): Bytes | null => (typeof key === 'string' ? toBytes(key.toWellFormed()) : null);
