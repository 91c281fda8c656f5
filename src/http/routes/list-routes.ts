import { fromBytes, toBytes } from '../../base/bytes.js';
import type { Database } from '../../node/database.js';
import { designOf, viewOf } from '../../design/design-docs.js';
import { scriptSpace } from '../../design/design-functions.js';
import { listRows } from '../../views/list-rows.js';
import { viewSource, type NamedView } from '../../views/view-source.js';
import type { ListHead, ListSink } from '../../script/script-host.js';
import { functionOf, functionTag, incomplete } from '../request/design-call.js';
import type { Exchange } from '../exchange.js';
import { functionHead, policyOf } from '../answer/function-answer.js';
import { functionRequest } from '../request/function-request.js';
import { namesTag } from '../request/negotiate.js';
import { bodyParameters, queryParameters } from '../request/parameters.js';
import type { DatabaseRoute } from './route.js';
import { writePiece } from '../answer/stream.js';
import { limitRows } from '../request/row-limit.js';
import { viewRequest } from '../request/view-query.js';
import { viewTag } from './view-routes.js';

/** List functions: the rows of a view, as a function puts them. */
export const listRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_list/{func}/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: list, POST: list },
  },
  {
    path: '/{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: { GET: list, POST: list },
  },
  incomplete('_list', 'list_error'),
  incomplete('_list/{func}', 'list_error'),
];

/** A client that takes nothing for so long is not waited for: it keeps a thread from others. */
const patienceMs = 60_000;

async function list(exchange: Exchange, database: Database): Promise<void> {
  const found = functionOf(exchange, database, 'lists');
  const body = exchange.method === 'POST' ? await exchange.jsonObject() : undefined;
  const named = namedView(exchange, database);
  const parameters = [...bodyParameters(body ?? {}), ...queryParameters(exchange, database)];
  const request = limitRows(exchange.services.config, viewRequest(parameters, named.view));
  const { registry, scripts } = exchange.services;
  const source = await viewSource(registry, named, request, exchange.user);
  const etag = functionTag(exchange, found.design, viewTag(named, request, source));
  if (body === undefined && namesTag(exchange.header('if-none-match'), etag))
    return exchange.empty(304, { ETag: etag, Vary: 'Accept' });
  const { head, rows } = listRows(registry, source, request);
  const given = { head, request: functionRequest(exchange, database, body === undefined ? {} : { body }) };
  const { program } = found.design;
  // A function may go through all rows without sending anything.
  const wanted = { next: async () => (exchange.response.closed ? undefined : await rows.next()) };
  await scripts.list(scriptSpace(database), program, found.path, given, wanted, sinkOf(exchange, etag));
  exchange.response.end();
}

/** The view, which may be one of another design document. */
function namedView({ parts }: Exchange, database: Database): NamedView {
  const ddoc = fromBytes(parts.length > 6 ? parts[5]! : parts[2]!);
  const design = designOf(database, ddoc);
  return { database, ddoc, design, view: viewOf(design, fromBytes(parts.at(-1)!)) };
}

/** Sends the head when the function has decided on it, and then as much as the client takes. */
function sinkOf(exchange: Exchange, etag: string): ListSink {
  const { response } = exchange;
  return {
    start: (head: ListHead) => {
      const { status, type, headers } = functionHead({ ...head }, 200);
      exchange.head(status, {
        'Content-Type': type ?? 'application/json',
        Vary: 'Accept',
        ETag: etag,
        ...headers,
        ...policyOf(exchange),
      });
    },
    write: async (text) => {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), patienceMs);
      });
      const taken = await Promise.race([writePiece(response, toBytes(text)), patience]);
      clearTimeout(timer);
      return taken;
    },
  };
}
