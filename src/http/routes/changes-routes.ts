import { requireServerAdmin } from '../../auth/rights.js';
import { invalidJson, notFound, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { awaitSince, firstPositions, type Positions } from '../../node/sequence.js';
import { requireJson } from '../request/body.js';
import type { Exchange } from '../exchange.js';
import { answerFeed, formOf } from '../feeds/answer-feed.js';
import { checkChangesAccess } from '../feeds/changes-access.js';
import { changesView, eventsView } from '../feeds/changes-view.js';
import { FeedConnection, socketPlan } from '../feeds/feed-connection.js';
import {
  changesRequest,
  readManyIds,
  feedRequest,
  wholeNumber,
  type FeedDefaults,
} from '../feeds/feed-request.js';
import { sinceTime } from '../feeds/since-time.js';
import { parseJsonText, type Query } from '../request/query.js';
import type { DatabaseRoute, ServerRoute } from './route.js';

/** What has changed: in a database, and among databases. */
export const changesRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_changes',
    allow: 'GET,POST,HEAD',
    access: 'listing',
    methods: { GET: getChanges, POST: postChanges },
  },
];

export const feedRoutes: readonly ServerRoute[] = [
  { path: '/_db_updates', allow: 'GET', access: 'server_admin', methods: { GET: dbUpdates } },
  { path: '/_feeds', allow: 'GET', access: 'public', methods: { GET: feeds } },
];

function getChanges(exchange: Exchange, database: Database): void | Promise<void> {
  const { upgrade } = exchange;
  if (upgrade === undefined) return changes(exchange, database, undefined);
  // What is wrong with the request is said before it becomes a WebSocket.
  const { query } = exchange;
  const plan = socketPlan(exchange, database, query, selectorOf(query.lowerCased()));
  const credit = wholeNumber(query.lowerCased(), 'credit') ?? 0;
  upgrade((socket) => new FeedConnection(exchange, socket, false).open(undefined, plan, credit));
}

/** A WebSocket has no body for it. */
function selectorOf(query: Query): Record<string, unknown> | undefined {
  const text = query.get('selector');
  return text === undefined ? undefined : { selector: parseJsonText(text) };
}

/** Many feeds over one WebSocket; access is checked when a feed is opened. */
function feeds(exchange: Exchange): void {
  const { upgrade } = exchange;
  if (upgrade === undefined)
    throw new RequestError('upgrade_required', 'Feeds are opened over a WebSocket here.');
  upgrade((socket) => void new FeedConnection(exchange, socket, true));
}

/** Only filters are asked for in the body. It may be missing, unless it is to say what the filter lets through. */
async function postChanges(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  const body = await exchange.optionalObject();
  if (body === undefined && isToldInBody(exchange.query)) throw invalidJson();
  await changes(exchange, database, body);
}

const isToldInBody = (query: Query): boolean =>
  ['_doc_ids', '_selector'].includes(query.lowerCased().get('filter') ?? '');

async function changes(
  exchange: Exchange,
  database: Database,
  body: Record<string, unknown> | undefined,
): Promise<void> {
  const docIds = body && (await readManyIds(body, exchange.runtime));
  const request = changesRequest(exchange.query, defaultsOf(exchange), body, docIds);
  await answerFeed(exchange, {
    ...changesView(exchange, database, request, formOf(request.kind)),
    database,
    request,
    since: await awaitSince(database, sinceTime(exchange.services.registry, database, request.since)),
    countsPending: true,
    timeoutIsIdle: true,
    checkAccess: (user) => checkChangesAccess(exchange, user, database),
  });
}

function defaultsOf(exchange: Exchange): FeedDefaults {
  const timeoutMax = exchange.services.config.number('chttpd/changes_timeout');
  const lastEventId = exchange.header('last-event-id');
  return { kind: 'normal', timeout: timeoutMax, timeoutMax, lastEventId };
}

/** The changes of the database of events, whose documents are named after what happened. */
async function dbUpdates(exchange: Exchange): Promise<void> {
  const database = exchange.services.registry.eventsDatabase();
  if (database === undefined) throw notFound('Database does not exist.');
  const request = feedRequest(exchange.query, { ...defaultsOf(exchange), isOfDatabases: true });
  await answerFeed(exchange, {
    ...eventsView(formOf(request.kind)),
    database,
    request,
    since: await anySince(database, sinceTime(exchange.services.registry, database, request.since)),
    countsPending: false,
    timeoutIsIdle: false,
    checkAccess: requireServerAdmin,
  });
}

/** The interface wants an unknown sequence to give everything. A list or an object is no sequence, and is refused. */
async function anySince(database: Database, since: string): Promise<Positions> {
  try {
    return await awaitSince(database, since);
  } catch (error) {
    if (error instanceof RequestError && !/^\s*[[{]/.test(since)) return firstPositions(database);
    throw error;
  }
}
