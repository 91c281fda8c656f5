/** Handlers that both interfaces of text search share, `_search` and `_nouveau`. */
import { asBytes, fromBytes } from '../../base/bytes.js';
import { namedSearch, type NamedSearch } from '../../fulltext/search-source.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { checkVisible } from '../../node/read-gate.js';
import type { SearchApi } from '../../script/script-host.js';
import { designPrefix } from '../../shard/doc-id.js';
import { cleanUpViews } from '../../views/view-info.js';
import type { Exchange } from '../exchange.js';
import { requireJsonOrNoOrigin } from '../request/body.js';
import { bodyParameters, queryParameters, type Parameter } from '../request/parameters.js';
import type { DatabaseHandler } from './route.js';

/** More than all parameters of a search can make use of, and little enough to be read at once. */
const bodyBytesMax = 1024 * 1024;

/** Runs a search with its parameters and sends the result. */
type Search = (
  exchange: Exchange,
  database: Database,
  parameters: Iterable<[string, Parameter]>,
) => Promise<void>;

/** What `_search_info` and its like tell of an index. */
type InfoOf = (registry: DatabaseRegistry, index: NamedSearch) => Record<string, unknown>;

/** The index that the path of the request names. */
export function requestedIndex(exchange: Exchange, database: Database, api: SearchApi): NamedSearch {
  const at = exchange.parts.indexOf(asBytes('_design'));
  const [ddoc, , index] = exchange.parts.slice(at + 1).map(fromBytes) as [string, string, string];
  return namedSearch(database, ddoc, index, api);
}

/** The methods of a search: parameters come in the query, of a POST in the body too. */
export const searchMethods = (search: Search): Record<'GET' | 'POST', DatabaseHandler> => ({
  GET: (exchange, database) => search(exchange, database, queryParameters(exchange, database)),
  POST: async (exchange, database) => {
    const body = await exchange.jsonObject({ bytesMax: bodyBytesMax });
    await search(exchange, database, [...bodyParameters(body), ...queryParameters(exchange, database)]);
  },
});

export const indexInfo =
  (api: SearchApi, infoOf: InfoOf): DatabaseHandler =>
  (exchange, database) => {
    const index = requestedIndex(exchange, database, api);
    const { registry } = exchange.services;
    checkVisible(registry.showFor(database, exchange.user), asBytes(designPrefix + exchange.parts[2]!));
    const name = `_design/${index.ddoc}/${index.index.name}`;
    exchange.json(200, { name, search_index: infoOf(registry, index) });
  };

/** Search indexes are stored with those of views, and are cleaned up with them. */
export async function cleanUpSearchIndexes(exchange: Exchange, database: Database): Promise<void> {
  requireJsonOrNoOrigin(exchange.request);
  await cleanUpViews(exchange.services.registry, database);
  exchange.json(202, { ok: true });
}
