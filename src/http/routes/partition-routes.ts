import { badRequest, notFound } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { partitionInfo, requirePartitioned } from '../../documents/partition-info.js';
import type { Exchange } from '../exchange.js';
import { pathPartition } from '../request/partition-path.js';
import { forEveryMethod, type DatabaseRoute } from './route.js';
import { list, listByBody, listQueries } from './listing-routes.js';

/** What concerns one partition of a database. */
export const partitionRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_partition', allow: 'GET', access: 'member', methods: forEveryMethod(incomplete) },
  { path: '/{db}/_partition/{partition}', allow: 'GET', access: 'member', methods: { GET: info } },
  {
    path: '/{db}/_partition/{partition}/_all_docs',
    allow: 'GET,HEAD,POST',
    access: 'listing',
    methods: { GET: list('all'), POST: listByBody('all') },
  },
  {
    path: '/{db}/_partition/{partition}/_all_docs/queries',
    allow: 'POST',
    access: 'listing',
    methods: { POST: listQueries('all') },
  },
  {
    path: '/{db}/_partition/{partition}/*',
    allow: 'GET,POST',
    access: 'member',
    methods: { GET: missing, POST: missing },
  },
];

function incomplete(): never {
  throw badRequest('invalid_partition_req');
}

function info(exchange: Exchange, database: Database): void {
  exchange.json(200, partitionInfo(database, pathPartition(exchange, database)!));
}

function missing(exchange: Exchange, database: Database): never {
  requirePartitioned(database);
  pathPartition(exchange, database);
  throw notFound('missing');
}
