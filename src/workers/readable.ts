import { fromBytes, type Bytes } from '../base/bytes.js';
import type { Query } from '../http/request/query.js';

/** Which requests a worker tries to answer by itself: those that nothing but the stores is needed for. */
export function isReadable(method: string, parts: readonly Bytes[], query: Query): boolean {
  const [database, second] = parts;
  // What the server itself works with has rules of its own.
  if (database === undefined || second === undefined || database.charCodeAt(0) === underscore) return false;
  const isRead = method === 'GET' || method === 'HEAD';
  if (second.charCodeAt(0) !== underscore) return isRead;
  const [name, ...rest] = parts.slice(1).map(fromBytes) as [string, ...string[]];
  return isReadableBelow(isRead ? 'GET' : method, name, rest, query);
}

const underscore = 0x5f;

const listings: ReadonlySet<string> = new Set(['_all_docs', '_design_docs', '_local_docs']);
const posts: ReadonlySet<string> = new Set(['_find', '_explain', '_revs_diff', '_missing_revs']);

function isReadableBelow(method: string, name: string, rest: readonly string[], query: Query): boolean {
  if (listings.has(name)) return isReadableListing(method, rest, query);
  if (posts.has(name)) return method === 'POST' && rest.length === 0;
  switch (name) {
    case '_bulk_get':
      return method === 'POST' && rest.length === 0 && !wantsData(query);
    case '_changes':
      return rest.length === 0 && isReadableFeed(method, query);
    case '_local':
      return method === 'GET' && rest.length === 1;
    case '_design':
      return isReadableDesign(method, rest, query);
    case '_partition':
      return rest.length > 1 && isInPartition(method, rest.slice(1), query);
    default:
      return false;
  }
}

function isReadableListing(method: string, rest: readonly string[], query: Query): boolean {
  if (wantsData(query)) return false;
  return rest.length === 0
    ? method === 'GET' || method === 'POST'
    : method === 'POST' && rest[0] === 'queries';
}

/** The head of such an answer is sent before it is known whether the attachments can be read here. */
const wantsData = (query: Query): boolean => query.get('attachments') !== undefined;

function isInPartition(method: string, [name, ...rest]: readonly string[], query: Query): boolean {
  if (name === '_all_docs') return isReadableListing(method, rest, query);
  if (name === '_find' || name === '_explain') return method === 'POST' && rest.length === 0;
  return name === '_design' && rest[1] === '_view' && isReadableDesign(method, rest, query);
}

function isReadableDesign(
  method: string,
  [ddoc, kind, view, ...rest]: readonly string[],
  query: Query,
): boolean {
  if (ddoc === undefined) return false;
  if (kind === '_view')
    return view !== undefined && rest.length === 0 && method !== 'PUT' && isReadableView(method, query);
  // The document itself, or an attachment of it.
  return method === 'GET' && !kind?.startsWith('_');
}

/** An index that is to be updated after the answer is updated by its owner. */
function isReadableView(method: string, query: Query): boolean {
  if (wantsData(query) || (method !== 'GET' && method !== 'POST')) return false;
  return query.get('update') !== 'lazy' && query.get('stale') !== 'update_after';
}

/** The filters that need no functions. */
const plainFilters: ReadonlySet<string> = new Set(['_design', '_doc_ids', '_selector']);

/**
 * Feeds that end with what is there. One that begins and ends in the middle says how many changes are left, which the owner
 * knows and others would have to count.
 */
function isReadableFeed(method: string, given: Query): boolean {
  const query = given.lowerCased();
  if ((method !== 'GET' && method !== 'POST') || wantsData(query)) return false;
  if ((query.get('feed') ?? 'normal') !== 'normal') return false;
  const filter = query.get('filter');
  if (filter !== undefined && !plainFilters.has(filter)) return false;
  const isFromStart = /^0?$/.test(query.get('since') ?? '');
  return isFromStart
    ? !query.isTrue('descending')
    : query.get('limit') === undefined && query.get('last-event-id') === undefined;
}
