import { toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { Runtime } from '../../base/runtime.js';
import type { Query } from '../request/query.js';
import { parseJsonText } from '../request/query.js';

export type FeedKind = 'normal' | 'longpoll' | 'continuous' | 'eventsource';

/** What every feed can be asked for. Times are in milliseconds. */
export interface FeedRequest {
  kind: FeedKind;
  since: string;
  limit: number;
  descending: boolean;
  /** How long the feed waits without anything to send. */
  timeout: number;
  /** Where set, the feed does not end but gives a sign of life after so long. */
  heartbeat: number | undefined;
}

/** What `_changes` can be asked for beside that. */
export interface ChangesRequest extends FeedRequest {
  allLeaves: boolean;
  includeDocs: boolean;
  conflicts: boolean;
  attachments: boolean;
  encodingInfo: boolean;
  seqInterval: number;
  filter: FilterRequest | undefined;
  /** The parameters and the body as they came, for functions. */
  query: Query;
  body: Readonly<Record<string, unknown>> | undefined;
}

export type FilterRequest =
  | { kind: 'design' }
  | { kind: 'doc_ids'; ids: ReadonlySet<Bytes> }
  | { kind: 'selector'; selector: unknown; fields: unknown }
  | { kind: 'view'; ddoc: string; view: string }
  | { kind: 'function'; ddoc: string; name: string };

const kinds: Readonly<Record<string, FeedKind>> = {
  normal: 'normal',
  longpoll: 'longpoll',
  continuous: 'continuous',
  live: 'continuous',
  eventsource: 'eventsource',
};

/** What a feed is where nothing else is asked for. */
export interface FeedDefaults {
  kind: FeedKind;
  timeout: number;
  /** The longest time to wait, and to be silent. */
  timeoutMax: number;
  /** A browser that comes back says how far it came. */
  lastEventId?: string | undefined;
  /** Of what happens to databases, which has other words for what is wrong. */
  isOfDatabases?: boolean;
}

/** Names of parameters are taken in any case. */
export function feedRequest(given: Query, defaults: FeedDefaults): FeedRequest {
  const query = given.lowerCased();
  const { timeoutMax, lastEventId } = defaults;
  const asked = query.get('feed') ?? defaults.kind;
  const kind = kinds[asked];
  if (kind === undefined || (defaults.isOfDatabases && asked === 'live')) {
    const live = defaults.isOfDatabases ? '' : ' live,';
    throw badRequest(`Supported \`feed\` types: normal, continuous,${live} longpoll, eventsource`);
  }
  const named = sinceOf(query);
  if (defaults.isOfDatabases) checkIntegers(query);
  const timeout = wholeNumber(query, 'timeout');
  const isSilent = defaults.isOfDatabases === true && query.get('heartbeat') === 'false';
  const heartbeats = isSilent ? [] : query.every('heartbeat').map((text) => heartbeatOf(text, timeoutMax));
  const descending = query.isTrue('descending');
  return {
    kind,
    // A descending feed goes down to the first change, whatever `since` says.
    since: descending ? '0' : kind === 'eventsource' ? (lastEventId ?? named) : named,
    limit: limitOf(query),
    descending,
    timeout: timeout === undefined ? defaults.timeout : Math.min(timeoutMax, timeout),
    heartbeat: heartbeats.at(-1),
  };
}

/** Of both names the last counts. */
function sinceOf(query: Query): string {
  let since = '0';
  for (const [name, value] of query.all()) if (name === 'since' || name === 'last-event-id') since = value;
  return since;
}

export function changesRequest(
  given: Query,
  defaults: FeedDefaults,
  body: Readonly<Record<string, unknown>> | undefined,
  /** The ids that the body names, where they were read before: `readManyIds`. */
  docIds?: Set<Bytes>,
): ChangesRequest {
  const query = given.lowerCased();
  const style = query.get('style') ?? 'main_only';
  if (style !== 'main_only' && style !== 'all_docs') {
    throw badRequest('Supported `style` values: main_only, all_docs');
  }
  const interval = query.get('seq_interval') ?? '1';
  const seqInterval = /^\+?\d+$/.test(interval) ? Number(interval) : 0;
  if (seqInterval === 0) throw badRequest('invalid_seq_interval');
  return {
    ...feedRequest(query, defaults),
    allLeaves: style === 'all_docs',
    includeDocs: query.isTrue('include_docs'),
    conflicts: query.isTrue('conflicts'),
    attachments: query.isTrue('attachments'),
    encodingInfo: query.isTrue('att_encoding_info'),
    seqInterval,
    filter: filterRequest(query, body, docIds),
    query: given,
    body,
  };
}

function checkIntegers(query: Query): void {
  const words = query.get('heartbeat');
  const isSwitch = words === 'true' || words === 'false';
  for (const name of ['limit', 'timeout', ...(isSwitch ? [] : ['heartbeat'])]) {
    if (!/^\d+$/.test(query.get(name) ?? '0')) throw badRequest('invalid_integer');
  }
}

export function wholeNumber(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  if (!/^\+?\d+$/.test(text)) throw badRequest(`The ${name} value should be a whole number.`);
  return Number(text);
}

/** A negative limit means no limit. */
const limitOf = (query: Query): number =>
  /^-\d+$/.test(query.get('limit') ?? '') ? Infinity : (wholeNumber(query, 'limit') ?? Infinity);

function heartbeatOf(text: string, most: number): number {
  if (text === 'true') return most;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest('Invalid heartbeat value. Expecting a positive integer value (in milliseconds).');
  }
  if (Number(text) <= 0)
    throw badRequest('The heartbeat value should be a positive integer (in milliseconds).');
  return Math.min(most, Number(text));
}

function filterRequest(
  query: Query,
  body: Readonly<Record<string, unknown>> | undefined,
  docIds: Set<Bytes> | undefined,
): FilterRequest | undefined {
  const name = query.get('filter') ?? '';
  switch (name) {
    case '':
    case '/':
      return undefined;
    case '_design':
      return { kind: 'design' };
    case '_doc_ids':
      return { kind: 'doc_ids', ids: docIds ?? idsOf(query, body) };
    case '_selector':
      if (body === undefined) throw badRequest('Selector must be specified in POST payload');
      return { kind: 'selector', selector: body['selector'], fields: body['fields'] };
    case '_view':
      return viewRequest(query.first('view') ?? '');
    default:
      return functionRequest(name);
  }
}

/** Where there is a body, they stand in the body. */
function idsOf(query: Query, body: Readonly<Record<string, unknown>> | undefined): Set<Bytes> {
  const text = query.first('doc_ids');
  const ids = body ? body['doc_ids'] : text === undefined ? undefined : parseJsonText(text);
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) {
    throw badRequest('`doc_ids` filter parameter is not a list of doc ids.');
  }
  return new Set(ids.map((id) => toBytes(id.toWellFormed())));
}

/** More ids than these are read in slices. */
const idsAtOnce = 2_000;

/** Reads the ids of a body that names many of them; undefined where it doesn't, or where they are to be refused. */
export async function readManyIds(
  body: Readonly<Record<string, unknown>> | undefined,
  runtime: Runtime,
): Promise<Set<Bytes> | undefined> {
  const ids = body?.['doc_ids'];
  if (!Array.isArray(ids) || ids.length <= idsAtOnce) return undefined;
  const slice = runtime.slice();
  const set = new Set<Bytes>();
  for (const id of ids as unknown[]) {
    if (typeof id !== 'string') return undefined;
    set.add(toBytes(id.toWellFormed()));
    if (slice.isOver) await slice.next();
  }
  return set;
}

function viewRequest(text: string): FilterRequest {
  if (text === '') throw badRequest('`view` filter parameter is not provided.');
  const [ddoc, view, ...rest] = text.split('/');
  if (view === undefined || rest.length > 0)
    throw badRequest('`view` must be of the form `designname/viewname`');
  return { kind: 'view', ddoc: ddoc!, view };
}

function functionRequest(text: string): FilterRequest {
  if (text.startsWith('_')) throw badRequest('unknown builtin filter name');
  // Between two slashes there is no name.
  const [ddoc, name, ...rest] = text.split('/').filter((each) => each !== '');
  if (name === undefined || rest.length > 0) {
    throw badRequest('`filter` must be of the form `designname/filtername`');
  }
  return { kind: 'function', ddoc: ddoc!, name };
}
