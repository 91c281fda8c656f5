import { keysOutOfOrder } from '../../base/errors.js';
import { viewOf } from '../../design/design-docs.js';
import { compareJson, compareRaw } from '../../json/collation.js';
import type { DesignViews, ViewDefinition } from '../../indexes/definition.js';
import type { KeyBound, ViewRequest } from '../../indexes/view-request.js';
import {
  boolean,
  checkKeyCount,
  checkViewLimit,
  choice,
  groupLevelOf,
  json,
  parseError,
  partitionName,
  positive,
  text,
  type Parameter,
} from './parameters.js';

interface Draft {
  request: ViewRequest;
  start?: { value: unknown };
  end?: { value: unknown };
  startDocid?: string;
  endDocid?: string;
  reduce?: boolean;
  group?: boolean;
  groupLevel?: number;
  /** Whether it is for a list function, and a list of one key is a list all the same. */
  listed?: boolean;
  hasKeys?: boolean;
  /** That keys are no list is told when all parameters are read, and the view is found. */
  malformedKeys?: boolean;
  /** Whether anything was said of conflicts. */
  conflicts?: boolean;
}

type Setter = (draft: Draft, parameter: Parameter) => void;

const start: Setter = (draft, parameter) => (draft.start = { value: json(parameter) });
const end: Setter = (draft, parameter) => (draft.end = { value: json(parameter) });
/** Both bounds at once: what comes later may still move one of them. */
const only = (draft: Draft, value: unknown): void => {
  draft.start = { value };
  draft.end = { value };
};
const startDocid: Setter = (draft, parameter) => (draft.startDocid = text(parameter));
const endDocid: Setter = (draft, parameter) => (draft.endDocid = text(parameter));

/** Every parameter of a view query. Unknown ones mean nothing. */
const setters: Readonly<Record<string, Setter>> = {
  key: (draft, parameter) => only(draft, json(parameter)),
  keys: (draft, parameter) => {
    const keys = json(parameter);
    draft.malformedKeys = !Array.isArray(keys);
    if (!Array.isArray(keys)) return;
    checkKeyCount(keys);
    // A list of one key is that key.
    if (keys.length === 1) only(draft, keys[0]);
    draft.hasKeys = true;
    draft.request.keys = keys.length === 1 ? undefined : keys;
  },
  startkey: start,
  start_key: start,
  endkey: end,
  end_key: end,
  startkey_docid: startDocid,
  start_key_doc_id: startDocid,
  endkey_docid: endDocid,
  end_key_doc_id: endDocid,
  inclusive_end: ({ request }, parameter) => (request.inclusiveEnd = boolean(parameter)),
  descending: ({ request }, parameter) => (request.descending = boolean(parameter)),
  limit: ({ request }, parameter) => (request.limit = positive(parameter)),
  skip: ({ request }, parameter) => (request.skip = positive(parameter)),
  reduce: (draft, parameter) => (draft.reduce = boolean(parameter)),
  group: (draft, parameter) => (draft.group = boolean(parameter)),
  group_level: (draft, parameter) => (draft.groupLevel = positive(parameter)),
  include_docs: ({ request }, parameter) => (request.includeDocs = boolean(parameter)),
  conflicts: (draft, parameter) => (draft.request.conflicts = draft.conflicts = boolean(parameter)),
  // What is said once is not taken back, as in CouchDB.
  attachments: ({ request }, parameter) => (request.attachments = boolean(parameter) || request.attachments),
  att_encoding_info: ({ request }, parameter) =>
    (request.encodingInfo = boolean(parameter) || request.encodingInfo),
  update_seq: ({ request }, parameter) => (request.updateSeq = boolean(parameter)),
  sorted: ({ request }, parameter) => (request.sorted = boolean(parameter)),
  // There is one copy of each shard: every answer is from the same.
  stable: (_, parameter) => choice(parameter, 'stable', ['true', 'false']),
  stale: ({ request }, parameter) => {
    choice(parameter, 'stale', ['ok', 'update_after']);
    request.update = wordOf(parameter) === 'ok' ? 'false' : 'lazy';
  },
  update: ({ request }, parameter) => {
    choice(parameter, 'update', ['true', 'false', 'lazy']);
    request.update = wordOf(parameter) as ViewRequest['update'];
  },
  partition: ({ request }, parameter) => (request.partition = partitionName(parameter)),
};

const wordOf = (parameter: Parameter): string =>
  String('text' in parameter ? parameter.text : parameter.value);

/**
 * The view of a design document; parameters that cannot be read are an error also where there is no such view. In a query
 * string, keys that are no JSON come first.
 */
export function queriedView(
  design: DesignViews,
  name: string,
  parameters: readonly [string, Parameter][],
  method: string,
): ViewDefinition {
  if (method !== 'POST') for (const [key, parameter] of parameters) if (key === 'keys') json(parameter);
  try {
    return viewOf(design, name);
  } catch (error) {
    readParameters({ request: emptyRequest() }, parameters);
    throw error;
  }
}

/** Puts the parameters together, later ones over earlier ones, and holds them against what the view can do. */
export function viewRequest(
  parameters: Iterable<[string, Parameter]>,
  view: ViewDefinition,
  { listed = false } = {},
): ViewRequest {
  const request = emptyRequest();
  const draft: Draft = { request, listed };
  readParameters(draft, parameters);
  if (draft.malformedKeys) throw parseError('`keys` must be an array of strings.');
  setShape(draft, view);
  checkViewLimit(request.limit);
  checkPartition(request, view);
  setBounds(draft, view);
  return request;
}

const emptyRequest = (): ViewRequest => ({
  inclusiveEnd: true,
  keys: undefined,
  descending: false,
  skip: 0,
  limit: Infinity,
  shape: 'rows',
  groupLevel: 0,
  includeDocs: false,
  conflicts: false,
  attachments: false,
  encodingInfo: false,
  updateSeq: false,
  sorted: true,
  update: 'true',
});

function readParameters(draft: Draft, parameters: Iterable<[string, Parameter]>): void {
  for (const [name, parameter] of parameters) {
    if (Object.hasOwn(setters, name)) setters[name]!(draft, parameter);
  }
}

/** A view with partitions is queried in one of them, and no other is. */
function checkPartition({ partition }: ViewRequest, view: ViewDefinition): void {
  if (partition === undefined && view.partitioned)
    throw parseError('`partition` parameter is mandatory for queries to this view.');
  if (partition !== undefined && !view.partitioned)
    throw parseError('`partition` parameter is not supported in this design doc');
}

function setShape(draft: Draft, { reduce }: ViewDefinition): void {
  const { request, group, groupLevel } = draft;
  const level = groupLevelOf(group, groupLevel);
  if (draft.reduce === true && reduce === undefined)
    throw parseError('Reduce is invalid for map-only views.');
  const isReduced = reduce !== undefined && draft.reduce !== false;
  const hasList = draft.listed ? draft.hasKeys : request.keys !== undefined;
  if (isReduced && hasList && level !== Infinity)
    throw parseError('Multi-key fetches for reduce views must use `group=true`');
  checkKeys(draft);
  if (!isReduced) {
    if (level > 0) throw parseError('Invalid use of grouping on a map view.');
    return;
  }
  request.shape = level > 0 ? 'groups' : 'one';
  request.groupLevel = level;
  if (request.includeDocs) throw parseError('`include_docs` is invalid for reduce');
  if (draft.conflicts !== undefined) throw parseError('`conflicts` is invalid for reduce views.');
}

function checkKeys({ request: { keys = [] }, start, end }: Draft): void {
  if (keys.length > 0 && (start ?? end) !== undefined)
    throw parseError('`keys` is incompatible with `key`, `start_key` and `end_key`');
}

function setBounds(draft: Draft, { raw }: ViewDefinition): void {
  const { request, startDocid, endDocid } = draft;
  const from = bound(draft.start, startDocid);
  const to = bound(draft.end, endDocid);
  if (from !== undefined && to !== undefined) {
    const order = (raw ? compareRaw : compareJson)(from.key, to.key);
    if (request.descending ? order < 0 : order > 0) throw keysOutOfOrder(request.descending);
  }
  if (request.keys === undefined) {
    if (from !== undefined) request.start = from;
    if (to !== undefined) request.end = to;
  } else if ((startDocid ?? endDocid) !== undefined) {
    request.keyDocids = { start: startDocid, end: endDocid };
  }
}

/** A document id counts only beside a key. */
function bound(key: { value: unknown } | undefined, docid: string | undefined): KeyBound | undefined {
  return key && { key: key.value, docid };
}
