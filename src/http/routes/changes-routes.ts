import { checkMember, requireServerAdmin } from '../../auth/rights.js';
import { notFound, Refusal } from '../../base/errors.js';
import type { Database } from '../../cluster/database.js';
import { firstPositions, parseSince, type Positions } from '../../cluster/sequence.js';
import { requireJson } from '../body.js';
import type { Exchange } from '../exchange.js';
import { answerFeed, formOf } from '../feeds/answer-feed.js';
import { changesView, eventsView } from '../feeds/changes-view.js';
import { changesRequest, feedRequest } from '../feeds/feed-request.js';
import type { DatabaseRoute, ServerRoute } from '../route.js';

/** What has changed: in a database, and among databases. */
export const changesRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_changes',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: (exchange, database) => changes(exchange, database, undefined), POST: postChanges },
  },
];

export const dbUpdatesRoutes: readonly ServerRoute[] = [
  { path: '/_db_updates', allow: 'GET', access: 'server_admin', methods: { GET: dbUpdates } },
];

/** Only filters are asked for in the body. It may be missing. */
async function postChanges(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  await changes(exchange, database, await exchange.optionalObject());
}

async function changes(
  exchange: Exchange,
  database: Database,
  body: Record<string, unknown> | undefined,
): Promise<void> {
  const { config } = exchange.services;
  const timeoutMax = config.number('chttpd/changes_timeout');
  const request = changesRequest(
    exchange.query.lowerCased(),
    timeoutMax,
    exchange.header('last-event-id'),
    body,
  );
  await answerFeed(exchange, {
    ...changesView(database, request, formOf(request.kind), config),
    database,
    request,
    since: parseSince(database, request.since),
    countsPending: true,
    timeoutIsIdle: true,
    checkAccess: (user) => checkMember(user, database.security),
  });
}

/** The changes of the database of events, whose documents are named after what happened. */
async function dbUpdates(exchange: Exchange): Promise<void> {
  const { cluster, config } = exchange.services;
  const database = cluster.eventsDatabase();
  if (database === undefined) throw notFound('Database does not exist.');
  const timeoutMax = config.number('chttpd/changes_timeout');
  const request = feedRequest(exchange.query.lowerCased(), timeoutMax, exchange.header('last-event-id'));
  await answerFeed(exchange, {
    ...eventsView(formOf(request.kind)),
    database,
    request,
    since: anySince(database, request.since),
    countsPending: false,
    timeoutIsIdle: false,
    checkAccess: requireServerAdmin,
  });
}

/** The interface wants an unknown sequence to give everything. */
function anySince(database: Database, since: string): Positions {
  try {
    return parseSince(database, since);
  } catch (error) {
    if (error instanceof Refusal) return firstPositions(database);
    throw error;
  }
}
