import type { Timer } from '../../base/runtime.js';
import { fromBytes, toBytes } from '../../base/bytes.js';
import type { Database } from '../../node/database.js';
import { designOf } from '../../design/design-docs.js';
import { scriptSpace } from '../../design/design-functions.js';
import { listRows, type RowsForList } from '../../views/list-rows.js';
import { viewSource, type NamedView } from '../../views/view-source.js';
import type { ListHead, ListSink } from '../../script/script-host.js';
import { functionOf, functionTag, incomplete } from '../request/design-call.js';
import type { Exchange } from '../exchange.js';
import { functionHead, policyOf } from '../answer/function-answer.js';
import { functionRequest } from '../request/function-request.js';
import { namesTag } from '../request/negotiate.js';
import { bodyParameters, queryParameters, type Parameter } from '../request/parameters.js';
import { allDocsForList } from './listing-routes.js';
import type { DatabaseRoute } from './route.js';
import { writePiece } from '../answer/stream.js';
import { limitRows } from '../request/row-limit.js';
import { queriedView, viewRequest } from '../request/view-query.js';
import { viewTag } from './view-routes.js';

/** List functions: the rows of a view, as a function puts them. */
export const listRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_list/{func}/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: list, POST: list, OPTIONS: list },
  },
  {
    path: '/{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: list, POST: list, OPTIONS: list },
  },
  incomplete('_list/*', 'list_error', 'GET', 'POST', 'OPTIONS'),
];

/** A client that takes nothing for so long is not waited for: it keeps a thread from others. */
const patienceMs = 60_000;

async function list(exchange: Exchange, database: Database): Promise<void> {
  const found = functionOf(exchange, database, 'lists');
  const body = exchange.method === 'POST' ? await exchange.jsonObject() : undefined;
  const parameters = [...bodyParameters(body ?? {}), ...queryParameters(exchange, database)];
  const { etag: rowsTag, rows: listed } = await rowsToList(exchange, database, parameters);
  const etag = functionTag(exchange, found.design, rowsTag);
  if (body === undefined && namesTag(exchange.header('if-none-match'), etag))
    return exchange.empty(304, { ETag: etag, Vary: 'Accept' });
  const { scripts } = exchange.services;
  const { head, rows } = listed;
  const given = { head, request: functionRequest(exchange, database, body === undefined ? {} : { body }) };
  const { program } = found.design;
  // A function may go through all rows without sending anything.
  const wanted = { next: async () => (exchange.response.closed ? undefined : await rows.next()) };
  await scripts.list(scriptSpace(database), program, found.path, given, wanted, sinkOf(exchange, etag));
  exchange.response.end();
}

/** The rows of a view, or of all documents where `_all_docs` stands in its place. */
async function rowsToList(
  exchange: Exchange,
  database: Database,
  parameters: [string, Parameter][],
): Promise<{ etag: string; rows: RowsForList }> {
  const { parts, services, user } = exchange;
  if (parts.length === 6 && parts[5] === '_all_docs')
    return await allDocsForList(exchange, database, parameters);
  const named = namedView(exchange, database, parameters);
  const request = limitRows(services.config, viewRequest(parameters, named.view, { listed: true }));
  const source = await viewSource(services.registry, named, request, user);
  return { etag: viewTag(named, request, source), rows: listRows(services.registry, source, request) };
}

/** The view, which may be one of another design document. */
function namedView(
  { parts, method }: Exchange,
  database: Database,
  parameters: [string, Parameter][],
): NamedView {
  const ddoc = fromBytes(parts.length > 6 ? parts[5]! : parts[2]!);
  const design = designOf(database, ddoc);
  return { database, ddoc, design, view: queriedView(design, fromBytes(parts.at(-1)!), parameters, method) };
}

/** Sends the head when the function has decided on it, and then as much as the client takes. */
function sinkOf(exchange: Exchange, etag: string): ListSink {
  return {
    start: (head: ListHead) => {
      const { status, type, headers } = functionHead({ ...head }, 200);
      exchange.endsWithError = exchange.method !== 'HEAD' && exchange.callback === undefined;
      exchange.head(status, {
        'Content-Type': type ?? 'application/json',
        Vary: 'Accept',
        ETag: etag,
        ...headers,
        ...policyOf(exchange),
      });
    },
    write: async (text) => {
      let timer: Timer | undefined;
      const patience = new Promise<boolean>((resolve) => {
        timer = exchange.runtime.setTimer(() => resolve(false), patienceMs);
      });
      const taken = await Promise.race([writePiece(exchange, toBytes(text)), patience]);
      timer?.cancel();
      return taken;
    },
  };
}
