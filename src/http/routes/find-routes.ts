import { asBytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import type { FindContext } from '../../query/find-context.js';
import { checkPartitioned, DocSearch, explainQuery, readQuery } from '../../query/find-docs.js';
import type { FindRequest } from '../../query/find-request.js';
import { isLargeSelector } from '../../selectors/normalize.js';
import { BadModulus } from '../../selectors/refusals.js';
import { compileInSteps } from '../../selectors/selector.js';
import type { Exchange } from '../exchange.js';
import { pathPartition } from '../request/partition-path.js';
import type { DatabaseRoute } from './route.js';
import { writePiece } from '../answer/stream.js';

const queryRoutes = (path: string): DatabaseRoute[] => [
  { path: `${path}/_find`, allow: 'POST', access: 'member', methods: { POST: find } },
  { path: `${path}/_explain`, allow: 'POST', access: 'member', methods: { POST: explain } },
];

/** Declarative queries. */
export const findRoutes: readonly DatabaseRoute[] = [
  ...queryRoutes('/{db}'),
  // CouchDB doesn't look at what follows.
  { path: '/{db}/_find/*', allow: 'POST', access: 'member', methods: { POST: find } },
  { path: '/{db}/_explain/*', allow: 'POST', access: 'member', methods: { POST: explain } },
  ...queryRoutes('/{db}/_partition/{partition}'),
];

function contextOf(exchange: Exchange, database: Database): FindContext {
  const partition = pathPartition(exchange, database);
  return { registry: exchange.services.registry, database, user: exchange.user, partition };
}

/** A selector is large enough for its steps to take a turn each. */
const selectorSliceMs = 2;

/** Undefined where it has answered by itself: a `$mod` that can't be reckoned with is 404, under the name of a 400. */
async function read(
  exchange: Exchange,
  context: FindContext,
  body: Record<string, unknown>,
): Promise<FindRequest | undefined> {
  try {
    const { selector } = body;
    const compiled = isLargeSelector(selector)
      ? await exchange.runtime.slice(selectorSliceMs).finish(compileInSteps(selector, true))
      : undefined;
    return readQuery(context, body, compiled);
  } catch (refusal) {
    if (!(refusal instanceof BadModulus)) throw refusal;
    exchange.json(404, { error: refusal.error, reason: refusal.reason });
    return undefined;
  }
}

async function explain(exchange: Exchange, database: Database): Promise<void> {
  const context = contextOf(exchange, database);
  const { bookmark, ...body } = await exchange.jsonObject();
  // Nothing is read, so a bookmark of any form is shown as it is.
  const isText = typeof bookmark === 'string' && bookmark !== '';
  const slice = exchange.runtime.slice();
  const request = await read(
    exchange,
    context,
    isText || bookmark === undefined ? body : { ...body, bookmark },
  );
  if (request === undefined) return;
  if (isText) request.bookmarkText = bookmark;
  if (slice.isOver) await slice.next();
  exchange.json(200, explainQuery(context, request));
}

async function find(exchange: Exchange, database: Database): Promise<void> {
  const context = contextOf(exchange, database);
  const body = await exchange.jsonObject();
  // To read a large selector, to plan with it and to begin take a slice each.
  const slice = exchange.runtime.slice();
  const request = await read(exchange, context, body);
  if (request === undefined) return;
  checkPartitioned(context, request);
  if (request.r > 1) await exchange.services.cluster?.fresh(database.record.stream ?? 0);
  if (slice.isOver) await slice.next();
  const search = new DocSearch(context, request, () => !exchange.response.destroyed);
  if (slice.isOver) await slice.next();
  const pending = search.ready();
  if (pending !== undefined) await pending;
  const { queries } = exchange.services.metrics;
  await answer(exchange, search);
  queries.done(search.outcome);
}

const queryTimeout = (): RequestError =>
  new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');

/** Whatever the client would take. */
const json = 'application/json';
/** Text of this size is sent; what is shorter waits for more. */
const pieceBytes = 64 * 1024;

/** Sends a short answer as a whole, a long one at the client's speed. Stops searching when the client has disconnected. */
async function answer(exchange: Exchange, search: DocSearch): Promise<void> {
  const { response, services } = exchange;
  let deadline = exchange.runtime.monotonicMs() + services.config.number('tuffet/query_timeout_ms');
  let text = '';
  let isBegun = false;
  const pieces = search.pieces();
  for (let piece = pieces.next(); ; piece = pieces.next()) {
    text += piece.value;
    if (piece.done === true) break;
    const now = exchange.runtime.monotonicMs();
    if (now > deadline) {
      services.metrics.queries.timeouts++;
      throw queryTimeout();
    }
    if (text.length >= pieceBytes) {
      if (!isBegun) exchange.head(200, { 'Content-Type': json }, text.length);
      isBegun = true;
      if (!(await writePiece(exchange, asBytes(text)))) return;
      text = '';
      deadline += exchange.runtime.monotonicMs() - now;
    } else {
      await exchange.runtime.nextTurn();
      if (response.destroyed || response.closed) return;
    }
    if (search.waiting !== undefined) await search.waiting;
  }
  if (isBegun) response.end(`${text}\n`, 'latin1');
  else exchange.sendJson(200, json, asBytes(`${text}\n`));
}
