import { fromBytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import { searchAnswer } from '../../fulltext/search-answer.js';
import { searchByVector } from '../../fulltext/search-by-vector.js';
import { TextSearch } from '../../fulltext/search-docs.js';
import { searchDiskSize, searchInfo } from '../../fulltext/search-info.js';
import { namedSearch, searchSource, type NamedSearch } from '../../fulltext/search-source.js';
import type { Database } from '../../node/database.js';
import { checkVisible } from '../../node/read-gate.js';
import { designPrefix } from '../../shard/doc-id.js';
import { cleanUpViews } from '../../views/view-info.js';
import type { Exchange } from '../exchange.js';
import { requireJsonOrNoOrigin } from '../request/body.js';
import { bodyParameters, queryParameters, type Parameter } from '../request/parameters.js';
import { searchRequest } from '../request/search-query.js';
import type { DatabaseRoute } from './route.js';

/** Text search: queries, and the upkeep of its indexes. */
export const searchRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_search/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: search, POST: searchByBody },
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_search/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: search, POST: searchByBody },
  },
  {
    path: '/{db}/_design/{ddoc}/_search_info/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: (exchange, database) => info(exchange, database, searchInfo) },
  },
  {
    path: '/{db}/_design/{ddoc}/_search_disk_size/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: (exchange, database) => info(exchange, database, searchDiskSize) },
  },
  { path: '/{db}/_search_cleanup', allow: 'POST', access: 'maintenance', methods: { POST: cleanUp } },
];

function named(exchange: Exchange, database: Database): NamedSearch {
  const at = exchange.parts.indexOf('_design');
  const [ddoc, , index] = exchange.parts.slice(at + 1).map(fromBytes) as [string, string, string];
  return namedSearch(database, ddoc, index);
}

async function search(exchange: Exchange, database: Database): Promise<void> {
  await answer(exchange, database, queryParameters(exchange, database));
}

async function searchByBody(exchange: Exchange, database: Database): Promise<void> {
  const body = await exchange.jsonObject();
  await answer(exchange, database, [...bodyParameters(body), ...queryParameters(exchange, database)]);
}

async function answer(
  exchange: Exchange,
  database: Database,
  parameters: Iterable<[string, Parameter]>,
): Promise<void> {
  const { registry, config } = exchange.services;
  const index = named(exchange, database);
  if (index.index.map.kind === 'text')
    throw badRequest(`${index.index.name} is a text index of declarative queries: use _find.`);
  const request = searchRequest(parameters, index);
  const source = await searchSource(registry, index, request.isStale, exchange.user);
  const timeoutMs = config.number('tuffet/query_timeout_ms');
  const isWanted = (): boolean => !exchange.response.destroyed;
  const { knn } = request;
  const result =
    knn === undefined
      ? await new TextSearch(source, request, timeoutMs, isWanted).run()
      : await searchByVector(source, { ...request, knn }, timeoutMs, isWanted);
  exchange.text(200, await searchAnswer(source, request, result, exchange.hold));
}

function info(exchange: Exchange, database: Database, infoOf: typeof searchInfo): void {
  const index = named(exchange, database);
  const { registry } = exchange.services;
  checkVisible(registry.showFor(database, exchange.user), designPrefix + exchange.parts[2]!);
  const name = `_design/${index.ddoc}/${index.index.name}`;
  exchange.json(200, { name, search_index: infoOf(registry, index) });
}

/** Search indexes lie among those of views, and are cleaned up with them. */
async function cleanUp(exchange: Exchange, database: Database): Promise<void> {
  requireJsonOrNoOrigin(exchange.request);
  await cleanUpViews(exchange.services.registry, database);
  exchange.json(202, { ok: true });
}
