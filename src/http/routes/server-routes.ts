import { createHash } from 'node:crypto';
import { toBytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import { activeTasks } from '../request/active-tasks.js';
import { requireJson } from '../request/body.js';
import { databaseInfos } from '../request/database-infos.js';
import type { Exchange } from '../exchange.js';
import { listingRequest } from '../request/listing-query.js';
import { namesTag } from '../request/negotiate.js';
import type { ServerRoute } from './route.js';

/** The server as a whole: greeting, health, ids, and the list of databases. */
export const serverRoutes: readonly ServerRoute[] = [
  { path: '/', allow: 'GET,HEAD', access: 'public', methods: { GET: welcome } },
  { path: '/_up', allow: 'GET,HEAD', access: 'public', methods: { GET: up } },
  { path: '/_uuids', allow: 'GET', access: 'public', methods: { GET: uuids } },
  { path: '/_all_dbs', allow: 'GET,HEAD', access: 'all_dbs', methods: { GET: allDbs } },
  {
    path: '/_dbs_info',
    allow: 'GET,HEAD,POST',
    access: 'all_dbs',
    methods: { GET: dbsInfo, POST: dbsInfoOf },
  },
  { path: '/_active_tasks', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: getActiveTasks } },
  { path: '/_membership', allow: 'GET', access: 'server_admin', methods: { GET: membership } },
  {
    path: '/_reload_query_servers',
    allow: 'POST',
    access: 'server_admin',
    methods: { POST: reloadQueryServers },
  },
];

/** Clients choose their dialect by it; the version of this server is in `vendor`. */
const interfaceVersion = '3.4.3';

function welcome(exchange: Exchange): void {
  const { uuid, version, config } = exchange.services;
  exchange.json(200, {
    'the service': 'Welcome',
    couchdb: 'Welcome',
    version: interfaceVersion,
    uuid,
    features: ['nouveau', 'partitioned', 'quickjs', 'reshard', 'scheduler', 'search'],
    vendor: { name: config.text('vendor/name'), version: config.text('vendor/version') || version },
  });
}

function up(exchange: Exchange): void {
  const { config, cluster } = exchange.services;
  const mode = config.choice('couchdb/maintenance_mode');
  const problem = cluster?.problem;
  if (mode === 'false' && problem !== undefined) exchange.json(404, { status: 'cluster', reason: problem });
  else if (mode === 'false') exchange.json(200, { status: 'ok', ...others(cluster?.othersProblems() ?? {}) });
  else exchange.json(404, { status: mode === 'true' ? 'maintenance_mode' : mode });
}

/**
 * A load balancer that asks this node may go on using it while others have problems. Everybody may read this: what the problems
 * are is for server admins.
 */
const others = (problems: Record<string, string>): object => {
  const names = Object.keys(problems);
  return names.length === 0 ? {} : { problems: names };
};

function uuids(exchange: Exchange): void {
  const { config, uuids: maker } = exchange.services;
  const text = exchange.query.first('count') ?? '1';
  const count = /^\+?\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(count)) throw badRequest('count must be a positive integer');
  if (count > config.number('uuids/max_count')) throw badRequest('count parameter too large');
  const made = Array.from({ length: count }, () => maker.next());
  const etag = `"${createHash('md5').update(made.join()).digest('hex')}"`;
  exchange.json(
    200,
    { uuids: made },
    { ETag: etag, 'Cache-Control': 'must-revalidate, no-cache', Pragma: 'no-cache' },
  );
}

function allDbs(exchange: Exchange): void {
  tagged(exchange, JSON.stringify(listNames(exchange)));
}

function listNames(exchange: Exchange): string[] {
  const parameters = [...exchange.query.all()].map(([name, text]): [string, { text: string }] => [
    name,
    { text },
  ]);
  const { registry } = exchange.services;
  const request = listingRequest(parameters);
  if (request.keys === undefined) return [...registry.names(request)];
  const { skip, limit, descending } = request;
  const asked = descending ? request.keys.toReversed() : request.keys;
  return asked
    .slice(skip, skip + limit)
    .filter((key): key is string => typeof key === 'string' && registry.exists(key));
}

function tagged(exchange: Exchange, json: string): void {
  const etag = `"${createHash('md5').update(json).digest('base64url')}"`;
  if (namesTag(exchange.header('if-none-match'), etag)) exchange.empty(304, { ETag: etag });
  else exchange.text(200, toBytes(json), { ETag: etag });
}

async function dbsInfo(exchange: Exchange): Promise<void> {
  const names = listNames(exchange);
  const infos = await databaseInfos(exchange, names);
  // One that is on another node may be gone by now.
  const known = names.filter((key) => infos.has(key));
  tagged(exchange, JSON.stringify(known.map((key) => ({ key, info: infos.get(key) }))));
}

async function dbsInfoOf(exchange: Exchange): Promise<void> {
  const { registry, config } = exchange.services;
  const { keys } = await exchange.jsonObject();
  if (keys === undefined) throw badRequest('`keys` member must exist.');
  if (!Array.isArray(keys)) throw badRequest('`keys` member must be an array.');
  if (keys.length > config.number('chttpd/max_db_number_for_dbs_info_req')) {
    throw badRequest('too_many_keys');
  }
  const names = keys.filter((key): key is string => typeof key === 'string' && registry.exists(key));
  const infos = await databaseInfos(exchange, names);
  exchange.json(
    200,
    keys.map((key: unknown) =>
      infos.has(key as string) ? { key, info: infos.get(key as string) } : { key, error: 'not_found' },
    ),
  );
}

async function getActiveTasks(exchange: Exchange): Promise<void> {
  exchange.json(200, await activeTasks(exchange));
}

function membership(exchange: Exchange): void {
  const { nodeName, cluster } = exchange.services.registry.membership;
  const { all, known } = cluster?.members() ?? { all: [nodeName], known: [nodeName] };
  exchange.json(200, { all_nodes: all, cluster_nodes: known });
}

/** Functions start afresh: nothing that one of them has left in memory is there any more. */
async function reloadQueryServers(exchange: Exchange): Promise<void> {
  requireJson(exchange.request);
  const { scripts, registry } = exchange.services;
  await Promise.all([scripts.renew(), registry.views.renew()]);
  exchange.json(200, { ok: true });
}
