import { fromBytes, toBytes } from '../../base/bytes.js';
import { notFound, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { designPrefix } from '../../shard/doc-id.js';
import { queryIndexes } from '../../query/query-indexes.js';
import { checkVisible } from '../../node/read-gate.js';
import { createIndex, deleteIndex, deleteIndexes, type IndexContext } from '../../query/save-index.js';
import { hasAllFields, readBulkDelete, readIndexRequest } from '../../query/index-request.js';
import { indexJson } from '../../query/query-index.js';
import type { Exchange } from '../exchange.js';
import { writableId } from '../request/edit-request.js';
import { everyMethod, forEveryMethod, type DatabaseRoute } from './route.js';

const deletion = { allow: 'DELETE', access: 'db_admin', methods: { DELETE: remove } } as const;

/** The indexes of declarative queries. Each stands in a design document, which only database admins write. */
export const indexRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_index',
    allow: 'GET,POST',
    access: { GET: 'member', POST: 'db_admin' },
    methods: { GET: list, POST: create },
  },
  { path: '/{db}/_index/_bulk_delete', allow: 'POST', access: 'db_admin', methods: { POST: removeAll } },
  { path: '/{db}/_index/_design/{ddoc}/{type}/{name}', ...deletion },
  { path: '/{db}/_index/{ddoc}/{type}/{name}', ...deletion },
  // Other paths don't exist, for any method.
  {
    path: '/{db}/_index/*',
    allow: everyMethod.join(),
    access: 'member',
    methods: { ...forEveryMethod(missing), CONNECT: missing },
  },
];

const contextOf = ({ services, user }: Exchange, database: Database): IndexContext => ({
  registry: services.registry,
  database,
  user,
});

function list(exchange: Exchange, database: Database): void {
  checkVisible(exchange.services.registry.showFor(database, exchange.user), designPrefix);
  const skip = listNumber(exchange, 'skip', 0) ?? 0;
  const limit = listNumber(exchange, 'limit', 1) ?? Infinity;
  const indexes = queryIndexes(database);
  exchange.json(200, {
    total_rows: indexes.length,
    indexes: indexes.slice(skip, skip + limit).map(indexJson),
  });
}

function listNumber(exchange: Exchange, name: string, least: number): number | undefined {
  const text = exchange.query.first(name);
  if (text === undefined) return undefined;
  const value = /^\+?\d+$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw new RequestError('invalid_list_index_params', 'Index parameter ranges: limit > 1, skip > 0');
}

async function create(exchange: Exchange, database: Database): Promise<void> {
  const request = readIndexRequest(await exchange.jsonObject());
  writableId(exchange, database, toBytes(request.ddoc));
  if (hasAllFields(request)) checkAllFields(exchange, database);
  const result = await createIndex(contextOf(exchange, database), request);
  exchange.json(200, { result, id: request.ddoc, name: request.name });
}

/** Text indexes of all fields may become large: an administrator may forbid new ones. */
function checkAllFields({ services, user }: Exchange, { name }: Database): void {
  const isDisabled = services.config.choice('mango/index_all_disabled');
  if (isDisabled === 'true')
    throw new RequestError('index_all_disabled', 'New text indexes are forbidden to index all fields.');
  if (isDisabled === 'warn')
    services.logger.warn({ db: name, user: user.name }, 'a text index of all fields is created');
}

async function remove(exchange: Exchange, database: Database): Promise<void> {
  const [ddoc, type, name] = exchange.parts.slice(-3).map(fromBytes) as [string, string, string];
  if (type !== 'json' && type !== 'text') throw notFound('missing');
  const id = ddoc.startsWith('_design/') ? ddoc : `_design/${ddoc}`;
  await deleteIndex(contextOf(exchange, database), { ddoc: id, type, name });
  exchange.json(200, { ok: true });
}

async function removeAll(exchange: Exchange, database: Database): Promise<void> {
  const ddocs = readBulkDelete(await exchange.jsonObject());
  exchange.json(200, await deleteIndexes(contextOf(exchange, database), ddocs));
}

function missing(): never {
  throw notFound('missing');
}
