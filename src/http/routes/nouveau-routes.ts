import { nouveauAnswer } from '../../fulltext/nouveau-answer.js';
import { TextSearch } from '../../fulltext/search-docs.js';
import { nouveauInfo } from '../../fulltext/search-info.js';
import { searchSource } from '../../fulltext/search-source.js';
import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';
import { nouveauRequest } from '../request/nouveau-query.js';
import type { Parameter } from '../request/parameters.js';
import type { DatabaseRoute } from './route.js';
import { cleanUpSearchIndexes, indexInfo, requestedIndex, searchMethods } from './search-handlers.js';

/** Text search by the names of CouchDB's newer interface. */
export const nouveauRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_nouveau/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: searchMethods(search),
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_nouveau/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: searchMethods(search),
  },
  {
    path: '/{db}/_design/{ddoc}/_nouveau_info/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: indexInfo('nouveau', nouveauInfo) },
  },
  {
    path: '/{db}/_nouveau_cleanup',
    allow: 'POST',
    access: 'maintenance',
    methods: { POST: cleanUpSearchIndexes },
  },
];

async function search(
  exchange: Exchange,
  database: Database,
  parameters: Iterable<[string, Parameter]>,
): Promise<void> {
  const { registry, config } = exchange.services;
  const index = requestedIndex(exchange, database, 'nouveau');
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
