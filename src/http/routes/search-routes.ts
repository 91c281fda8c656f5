import { badRequest } from '../../base/errors.js';
import { searchAnswer } from '../../fulltext/search-answer.js';
import { searchByVector } from '../../fulltext/search-by-vector.js';
import { TextSearch } from '../../fulltext/search-docs.js';
import { searchDiskSize, searchInfo } from '../../fulltext/search-info.js';
import { searchSource } from '../../fulltext/search-source.js';
import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';
import type { Parameter } from '../request/parameters.js';
import { searchRequest } from '../request/search-query.js';
import type { DatabaseRoute } from './route.js';
import { cleanUpSearchIndexes, indexInfo, requestedIndex, searchMethods } from './search-handlers.js';

/** Text search: queries, and the upkeep of its indexes. */
export const searchRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_search/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: searchMethods(search),
  },
  {
    path: '/{db}/_partition/{partition}/_design/{ddoc}/_search/{index}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: searchMethods(search),
  },
  {
    path: '/{db}/_design/{ddoc}/_search_info/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: indexInfo('search', searchInfo) },
  },
  {
    path: '/{db}/_design/{ddoc}/_search_disk_size/{index}',
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: indexInfo('search', searchDiskSize) },
  },
  {
    path: '/{db}/_search_cleanup',
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
  const index = requestedIndex(exchange, database, 'search');
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
