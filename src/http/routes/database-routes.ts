import { fromBytes } from '../../base/bytes.js';
import { badRequest, notAnObject, invalidJson } from '../../base/errors.js';
import { checkSecurityChange } from '../../auth/system-databases.js';
import { compact } from '../../node/compact.js';
import type { Database } from '../../node/database.js';
import { databaseInfo } from '../../node/database-info.js';
import { rangeName } from '../../shard/shard-ranges.js';
import { parseJson } from '../../json/scan.js';
import { requireJson } from '../request/body.js';
import type { Exchange } from '../exchange.js';
import { checkDatabaseName, makeDatabase } from '../request/make-database.js';
import { encodePart } from '../request/path.js';
import type { DatabaseRoute } from './route.js';

/** A database as a whole: its settings, its shards, its upkeep. */
export const databaseRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_security',
    allow: 'PUT,GET',
    access: { GET: 'member', PUT: 'db_admin' },
    methods: { GET: getSecurity, PUT: putSecurity },
  },
  {
    path: '/{db}/_revs_limit',
    allow: 'PUT,GET',
    access: { GET: 'member', PUT: 'db_admin' },
    methods: { GET: getRevsLimit, PUT: putRevsLimit },
  },
  {
    path: '/{db}/_purged_infos_limit',
    allow: 'GET,PUT',
    access: 'server_admin',
    methods: { GET: getPurgedInfosLimit, PUT: putPurgedInfosLimit },
  },
  { path: '/{db}/_shards', allow: 'GET', access: 'member', methods: { GET: shards } },
  { path: '/{db}/_shards/{docid}', allow: 'GET', access: 'member', methods: { GET: shardOfDoc } },
  { path: '/{db}/_sync_shards', allow: 'POST', access: 'server_admin', methods: { POST: syncShards } },
  { path: '/{db}/_compact', allow: 'POST', access: 'maintenance', methods: { POST: compactDatabase } },
  { path: '/{db}/_ensure_full_commit', allow: 'POST', access: 'member', methods: { POST: ensureFullCommit } },
];

/** PUT /{db} */
export async function createDatabase(exchange: Exchange): Promise<void> {
  const { registry, config } = exchange.services;
  const parameters = { get: (name: string) => exchange.query.first(name) };
  await makeDatabase(registry, config, fromBytes(exchange.parts[0]!), parameters);
  exchange.json(201, { ok: true }, { Location: exchange.location(`/${encodePart(exchange.parts[0]!)}`) });
}

/** DELETE /{db} */
export async function deleteDatabase(exchange: Exchange): Promise<void> {
  if (exchange.query.has('rev')) {
    throw badRequest(
      'You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?',
    );
  }
  const name = fromBytes(exchange.parts[0]!);
  // Names that begin with an underscore are the server's own: such a database may just not be there.
  if (!name.startsWith('_')) checkDatabaseName(exchange.services.config, name);
  await exchange.services.registry.deleteDatabase(name);
  exchange.json(200, { ok: true });
}

/** GET /{db} */
export function getDatabase(exchange: Exchange, database: Database): void {
  exchange.json(200, databaseInfo(database, exchange.services.registry.membership));
}

function getSecurity(exchange: Exchange, database: Database): void {
  exchange.json(200, database.security);
}

/** A security object is kept in memory and read with every request to its database. */
const securityBytesMax = 1024 * 1024;

async function putSecurity(exchange: Exchange, database: Database): Promise<void> {
  checkSecurityChange(exchange.services.config, database);
  const value = await jsonBody(exchange, securityBytesMax);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  checkSecurity(value as Record<string, unknown>);
  await exchange.services.registry.setDatabase(database, { security: value as Record<string, unknown> });
  exchange.json(200, { ok: true });
}

function checkSecurity(security: Record<string, unknown>): void {
  for (const group of ['admins', 'members', 'readers', 'viewers']) {
    const value = security[group];
    if (value === undefined) continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw badRequest(`\`${group}\` must be a JSON object.`);
    for (const list of ['names', 'roles']) {
      const names = (value as Record<string, unknown>)[list];
      if (names !== undefined && !(Array.isArray(names) && names.every((each) => typeof each === 'string'))) {
        throw badRequest(`\`${group}.${list}\` must be a JSON list of strings.`);
      }
    }
  }
}

async function jsonBody(exchange: Exchange, bytesMax = exchange.jsonBytesMax): Promise<unknown> {
  const bytes = await exchange.body(bytesMax);
  if (bytes.length === 0) throw invalidJson();
  return parseJson(bytes);
}

function getRevsLimit(exchange: Exchange, database: Database): void {
  exchange.json(200, database.revsLimit);
}

async function putRevsLimit(exchange: Exchange, database: Database): Promise<void> {
  const limit = await positiveLimit(exchange, '`_revs_limit` must be a positive integer.');
  await exchange.services.registry.setDatabase(database, { revs_limit: limit });
  exchange.json(200, { ok: true });
}

function getPurgedInfosLimit(exchange: Exchange, database: Database): void {
  exchange.json(200, database.purgedInfosLimit);
}

async function putPurgedInfosLimit(exchange: Exchange, database: Database): Promise<void> {
  const limit = await positiveLimit(exchange, '`purged_infos_limit` must be positive integer');
  await exchange.services.registry.setDatabase(database, { purged_infos_limit: limit });
  exchange.json(200, { ok: true });
}

/** A positive integer, written as one, however large; what is beyond exact numbers is as good as no limit. */
async function positiveLimit(exchange: Exchange, reason: string): Promise<number> {
  const bytes = await exchange.body(exchange.jsonBytesMax);
  if (bytes.length === 0) throw invalidJson();
  const limit = parseJson(bytes);
  const isWhole = /^\s*\d+\s*$/.test(bytes.toString('latin1'));
  if (typeof limit !== 'number' || limit <= 0 || !isWhole) throw badRequest(reason);
  return Math.min(limit, Number.MAX_SAFE_INTEGER);
}

function shards(exchange: Exchange, database: Database): void {
  const nodes = nodesOf(exchange, database);
  const { shards: map } = database.collection;
  const names = map.shards.map((shard) => [rangeName(map.range(shard)), nodes]);
  exchange.json(200, { shards: Object.fromEntries(names) as unknown });
}

function shardOfDoc(exchange: Exchange, database: Database): void {
  database.checkPlace(exchange.parts[2]!);
  const range = rangeName(database.collection.shards.range(database.shardOf(exchange.parts[2]!)));
  exchange.json(200, { range, nodes: nodesOf(exchange, database) });
}

/** The nodes that have a database. */
function nodesOf(exchange: Exchange, { record }: Database): readonly string[] {
  return exchange.services.registry.membership.hostsOf(record.stream);
}

/** With one copy of each shard there is nothing to bring together. */
function syncShards(exchange: Exchange): void {
  exchange.json(202, { ok: true });
}

function compactDatabase(exchange: Exchange, database: Database): void {
  requireJson(exchange.request);
  const { registry, logger } = exchange.services;
  compact(registry, database).catch((error: unknown) => {
    logger.error({ err: error, database: database.name }, 'compaction failed');
  });
  exchange.json(202, { ok: true });
}

/** Writes are on disk when they are answered; only those of `batch=ok` may be waiting. */
async function ensureFullCommit(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  await exchange.services.batches.flush(database);
  exchange.json(201, { ok: true, instance_start_time: '0' });
}
