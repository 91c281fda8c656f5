import type { OutgoingHttpHeaders } from 'node:http';
import { asBytes, fromBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { designOf } from '../../design/design-docs.js';
import { designPrefix } from '../../shard/doc-id.js';
import { ViewAnswer, type ViewSource } from '../../views/query-view.js';
import { checkVisible } from '../../node/read-gate.js';
import { cleanUpViews, viewInfo } from '../../views/view-info.js';
import { viewSource, type NamedView } from '../../views/view-source.js';
import type { ViewRequest } from '../../indexes/view-request.js';
import { requireJson, requireJsonOrNoOrigin } from '../request/body.js';
import { streamedBytes } from '../answer/compression.js';
import type { Exchange } from '../exchange.js';
import type { JsonObject } from '../request/json-object.js';
import { namesTag } from '../request/negotiate.js';
import { bodyParameters, queryParameters, sharedParameters, type Parameter } from '../request/parameters.js';
import { pathPartition } from '../request/partition-path.js';
import { limitRows } from '../request/row-limit.js';
import { forEveryMethod, type DatabaseRoute } from './route.js';
import { writePiece } from '../answer/stream.js';
import { queriedView, viewRequest } from '../request/view-query.js';

/** Views: queries, and the upkeep of their indexes. */
export const viewRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: query, POST: queryByBody },
  },
  {
    path: '/{db}/_design/{ddoc}/_view/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: query, POST: queryByBody },
  },
  {
    path: '/{db}/_design/{ddoc}/_view/{view}/queries',
    allow: 'POST',
    access: 'member',
    methods: { POST: queries },
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}/queries',
    allow: 'POST',
    access: 'member',
    methods: { POST: queries },
  },
  // Whatever else stands below `_view` names no view.
  { path: '/{db}/_design/{ddoc}/_view/*', allow: 'GET,POST,HEAD', access: 'member', methods: {} },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_view/*',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: {},
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_info',
    allow: 'GET',
    access: 'member',
    methods: { GET: info },
  },
  { path: '/{db}/_design/{ddoc}/_info', allow: 'GET', access: 'member', methods: { GET: info } },
  { path: '/{db}/_compact/{ddoc}', allow: 'POST', access: 'maintenance', methods: { POST: compactViews } },
  { path: '/{db}/_compact/{ddoc}/*', allow: 'POST', access: 'maintenance', methods: { POST: compactViews } },
  {
    path: '/{db}/_temp_view',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: forEveryMethod(refuseTemporary),
  },
  { path: '/{db}/_view_cleanup', allow: 'POST', access: 'maintenance', methods: { POST: cleanUp } },
];

type Parameters = readonly [string, Parameter][];

/** The view that a path names, whether it names a partition before it or not. */
function namedView(exchange: Exchange, database: Database, parameters: Parameters): NamedView {
  const { ddoc, view } = viewPath(exchange, database);
  const design = designOf(database, ddoc);
  return { database, ddoc, design, view: queriedView(design, view, parameters, exchange.method) };
}

function viewPath(exchange: Exchange, database: Database): { ddoc: string; view: string } {
  const isInPartition = pathPartition(exchange, database) !== undefined;
  const [ddoc, , view] = exchange.parts.slice(isInPartition ? 4 : 2).map(fromBytes);
  return { ddoc: ddoc!, view: view! };
}

/** That the design document is missing is told before what is wrong with the body. */
async function bodyForDesign(exchange: Exchange, database: Database): Promise<JsonObject> {
  designOf(database, viewPath(exchange, database).ddoc);
  return await exchange.jsonObject();
}

function query(exchange: Exchange, database: Database): void | Promise<void> {
  const parameters = [...queryParameters(exchange, database)];
  const named = namedView(exchange, database, parameters);
  return answer(exchange, named, viewRequest(parameters, named.view));
}

/** Every parameter may stand in the body; where the query speaks too, the query counts. */
async function queryByBody(exchange: Exchange, database: Database): Promise<void> {
  const body = await bodyForDesign(exchange, database);
  checkBody(body);
  const parameters = [...bodyParameters(body), ...queryParameters(exchange, database)];
  const named = namedView(exchange, database, parameters);
  await answer(exchange, named, viewRequest(parameters, named.view));
}

function checkBody({ keys, queries }: Record<string, unknown>): void {
  if (queries !== undefined) {
    requireList(queries, 'queries');
    throw badRequest('The `queries` parameter is no longer supported at this endpoint');
  }
  if (keys !== undefined) requireList(keys, 'keys');
}

function requireList(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw badRequest(`\`${name}\` member must be an array.`);
  return value;
}

function answer(exchange: Exchange, named: NamedView, request: ViewRequest): void | Promise<void> {
  limitRows(exchange.services.config, request);
  const source = viewSource(exchange.services.registry, named, request, exchange.user);
  return source instanceof Promise
    ? source.then((ready) => answerFrom(exchange, named, request, ready))
    : answerFrom(exchange, named, request, source);
}

function answerFrom(
  exchange: Exchange,
  named: NamedView,
  request: ViewRequest,
  source: ViewSource,
): void | Promise<void> {
  const headers = exchange.method === 'POST' ? {} : { ETag: viewTag(named, request, source) };
  const etag = headers.ETag;
  if (etag !== undefined && namesTag(exchange.header('if-none-match'), etag))
    return exchange.empty(304, headers);
  const view = new ViewAnswer(source, request);
  const opening = view.opening();
  const pieces = view.pieces(exchange.services.registry);
  if (Symbol.asyncIterator in pieces) return answerLater(exchange, opening, pieces, headers);
  const rows = pieces[Symbol.iterator]();
  const first = rows.next();
  const second = first.done ? first : rows.next();
  if (second.done)
    return exchange.text(200, asBytes(`${opening}${first.done ? '' : first.value}\n]}`), headers);
  const beginning: Bytes = asBytes(opening + first.value + second.value);
  return stream(exchange, beginning, { [Symbol.iterator]: () => rows }, headers, streamedBytes);
}

/** A tag belongs to one address, so what a body asks for has none; the index and, where documents are shown, the database tell the rest. */
export function viewTag(
  { database, view }: NamedView,
  { includeDocs }: ViewRequest,
  { reader }: ViewSource,
): string {
  const place = `${reader?.version ?? 0}-${reader?.positions.reduce((sum, { seq }) => sum + seq, 0) ?? 0}`;
  return `"${view.signature.slice(0, 12)}-${place}${includeDocs ? `-${database.total('position')}` : ''}"`;
}

/** The first rows are waited for before the head is sent, so that what goes wrong with them is answered as an error. */
async function answerLater(
  exchange: Exchange,
  opening: Bytes,
  pieces: AsyncIterable<Bytes>,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const rows = pieces[Symbol.asyncIterator]();
  const first = await rows.next();
  const beginning = asBytes(opening + (first.done ? '' : first.value));
  await stream(exchange, beginning, { [Symbol.asyncIterator]: () => rows }, headers, beginning.length);
}

async function stream(
  exchange: Exchange,
  beginning: Bytes,
  rows: Iterable<Bytes> | AsyncIterable<Bytes>,
  headers: OutgoingHttpHeaders,
  bytes: number,
): Promise<void> {
  const { response } = exchange;
  beginRows(exchange, bytes, headers);
  if (exchange.method === 'HEAD') return void response.end();
  if (!(await writePiece(exchange, beginning))) return;
  for await (const piece of rows) {
    if (!(await writePiece(exchange, piece))) return;
  }
  exchange.endJson(asBytes('\n]}\n'));
}

/** A reduce may fail at any row; the client is told why. */
function beginRows(exchange: Exchange, bytes: number, headers?: OutgoingHttpHeaders): void {
  exchange.jsonHead(200, headers, bytes);
  exchange.endsWithError = exchange.method !== 'HEAD' && exchange.callback === undefined;
}

/** Several queries in one answer; the query string holds what is the same for all. */
async function queries(exchange: Exchange, database: Database): Promise<void> {
  const body = await bodyForDesign(exchange, database);
  const named = namedView(exchange, database, sharedParameters(exchange, database));
  if (body['queries'] === undefined) throw badRequest('POST body must include `queries` parameter.');
  const shared = sharedParameters(exchange, database);
  const requests = await exchange.runtime.slice().map(requireList(body['queries'], 'queries'), (each) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each))
      throw badRequest('Each query must be a JSON object.');
    const parameters = [...shared, ...bodyParameters(each as Record<string, unknown>)];
    return limitRows(exchange.services.config, viewRequest(parameters, named.view));
  });
  await answerAll(exchange, named, requests);
}

const piecesBytes = 64 * 1024;

async function answerAll(
  exchange: Exchange,
  named: NamedView,
  requests: readonly ViewRequest[],
): Promise<void> {
  const { response, services } = exchange;
  let text = '{"results":[';
  let separator = '\n';
  let headSent = false;
  for (const request of requests) {
    if (response.closed) return;
    const view = new ViewAnswer(await viewSource(services.registry, named, request, exchange.user), request);
    text += separator + view.opening();
    separator = ',\n';
    for await (const piece of view.pieces(services.registry)) {
      text += piece;
      // The head waits for this much, so that what goes wrong in a short answer is answered as an error.
      if (text.length < piecesBytes) continue;
      if (!headSent) beginRows(exchange, text.length);
      headSent = true;
      if (!(await writePiece(exchange, asBytes(text)))) return;
      text = '';
    }
    text += '\n]}';
  }
  if (!headSent) exchange.jsonHead(200, undefined, text.length);
  exchange.endJson(asBytes(`${text}\n]}\n`));
}

/** Scripts of CouchDB 1 may still ask for them. */
function refuseTemporary(): never {
  throw new RequestError('gone', 'Temporary views are not supported; save the view in a design document.');
}

async function info(exchange: Exchange, database: Database): Promise<void> {
  const { services, user } = exchange;
  const ddoc = exchange.parts.at(-2)!;
  const answer = await viewInfo(services.registry, database, fromBytes(ddoc));
  checkVisible(services.registry.showFor(database, user), asBytes(designPrefix + ddoc));
  exchange.json(200, answer);
}

/** Indexes share their store: what one could give back is given back for all. */
function compactViews(exchange: Exchange, database: Database): void {
  requireJson(exchange.request);
  designOf(database, fromBytes(exchange.parts[2]!));
  inBackground(exchange, database, exchange.services.registry.views.reclaim(true));
}

function cleanUp(exchange: Exchange, database: Database): void {
  requireJsonOrNoOrigin(exchange.request);
  inBackground(exchange, database, cleanUpViews(exchange.services.registry, database));
}

function inBackground(exchange: Exchange, database: Database, work: Promise<void>): void {
  const { logger } = exchange.services;
  work.catch((error: unknown) =>
    logger.error({ err: error, database: database.name }, 'upkeep of indexes failed'),
  );
  exchange.json(202, { ok: true });
}
