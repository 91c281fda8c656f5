import { fromBytes } from '../../base/bytes.js';
import { nouveauAnswer } from '../../fulltext/nouveau-answer.js';
import { TextSearch } from '../../fulltext/search-docs.js';
import { nouveauInfo } from '../../fulltext/search-info.js';
import { namedSearch, searchSource, type NamedSearch } from '../../fulltext/search-source.js';
import type { Database } from '../../node/database.js';
import { checkVisible } from '../../node/read-gate.js';
import { designPrefix } from '../../shard/doc-id.js';
import { cleanUpViews } from '../../views/view-info.js';
import type { Exchange } from '../exchange.js';
import { requireJsonOrNoOrigin } from '../request/body.js';
import { nouveauRequest } from '../request/nouveau-query.js';
import { bodyParameters, queryParameters, type Parameter } from '../request/parameters.js';
import type { DatabaseRoute } from './route.js';

/** Text search by the names of CouchDB's newer interface. */
export const nouveauRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_nouveau/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: search, POST: searchByBody },
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_nouveau/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: search, POST: searchByBody },
  },
  {
    path: '/{db}/_design/{ddoc}/_nouveau_info/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: info },
  },
  { path: '/{db}/_nouveau_cleanup', allow: 'POST', access: 'maintenance', methods: { POST: cleanUp } },
];

function named(exchange: Exchange, database: Database): NamedSearch {
  const at = exchange.parts.indexOf('_design');
  const [ddoc, , index] = exchange.parts.slice(at + 1).map(fromBytes) as [string, string, string];
  return namedSearch(database, ddoc, index, 'nouveau');
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
  const { request, topFacets } = nouveauRequest(parameters, index);
  const begun = exchange.runtime.monotonicMs();
  const source = await searchSource(registry, index, request.isStale, exchange.user);
  const updateMs = exchange.runtime.monotonicMs() - begun;
  const timeoutMs = config.number('tuffet/query_timeout_ms');
  const running = new TextSearch(source, request, timeoutMs, () => !exchange.response.destroyed);
  const { hold } = exchange;
  const options = { topFacets, updateMs, hold };
  exchange.text(200, await nouveauAnswer(source, request, await running.run(), options));
}

function info(exchange: Exchange, database: Database): void {
  const index = named(exchange, database);
  const { registry } = exchange.services;
  checkVisible(registry.showFor(database, exchange.user), designPrefix + exchange.parts[2]!);
  const name = `_design/${index.ddoc}/${index.index.name}`;
  exchange.json(200, { name, search_index: nouveauInfo(registry, index) });
}

async function cleanUp(exchange: Exchange, database: Database): Promise<void> {
  requireJsonOrNoOrigin(exchange.request);
  await cleanUpViews(exchange.services.registry, database);
  exchange.json(202, { ok: true });
}
