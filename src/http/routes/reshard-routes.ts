import { badRequest, notFound, RequestError, Unavailable } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { databaseOfShard, shardName } from '../../node/reshard-job.js';
import type { CreatedJob } from '../../node/reshard-jobs.js';
import { rangeName } from '../../shard/shard-ranges.js';
import type { Exchange } from '../exchange.js';
import type { Services } from '../services.js';
import { forEveryMethod, type ServerRoute } from './route.js';

/** Jobs that split shards and divide groups. */
export const reshardRoutes: readonly ServerRoute[] = [
  { path: '/_reshard', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: getSummary } },
  {
    path: '/_reshard/state',
    allow: 'GET,HEAD,PUT',
    access: 'server_admin',
    methods: { GET: getState, PUT: putState },
  },
  {
    path: '/_reshard/jobs',
    allow: 'GET,HEAD,POST',
    access: 'server_admin',
    methods: { GET: getJobs, POST: postJobs },
  },
  {
    path: '/_reshard/jobs/{jobid}',
    allow: 'GET,HEAD,DELETE',
    access: 'server_admin',
    methods: { GET: getJob, DELETE: deleteJob },
  },
  {
    path: '/_reshard/jobs/{jobid}/state',
    allow: 'GET,HEAD,PUT',
    access: 'server_admin',
    methods: { GET: getJobState, PUT: putJobState },
  },
  {
    path: '/_reshard/*',
    allow: 'GET,HEAD,PUT,POST,DELETE',
    access: 'server_admin',
    methods: forEveryMethod(missing),
  },
];

function missing(): never {
  throw notFound('missing');
}

type Body = Readonly<Record<string, unknown>>;

const jobsOf = (exchange: Exchange) => exchange.services.registry.reshardJobs;

/** To be changed: in a cluster by the node that runs them, which others forward requests to as long as it is there. */
function ownJobsOf(exchange: Exchange): ReturnType<typeof jobsOf> {
  if (exchange.services.registry.membership.isOwner) return jobsOf(exchange);
  throw new Unavailable('No node of the cluster runs resharding jobs now; nothing was changed.');
}

function getSummary(exchange: Exchange): void {
  exchange.json(200, jobsOf(exchange).summary);
}

function getState(exchange: Exchange): void {
  const { state, reason } = jobsOf(exchange).resharding;
  exchange.json(200, { state, reason });
}

async function putState(exchange: Exchange): Promise<void> {
  const { state, reason } = readState(await exchange.jsonObject());
  const jobs = ownJobsOf(exchange);
  if (state === 'running') await jobs.resume();
  else await jobs.stop(reason ?? 'Cluster-wide resharding stopped by the user');
  exchange.json(200, { ok: true });
}

function getJobs(exchange: Exchange): void {
  const jobs = jobsOf(exchange).list();
  exchange.json(200, { total_rows: jobs.length, offset: 0, jobs });
}

function getJob(exchange: Exchange): void {
  exchange.json(200, jobsOf(exchange).describe(exchange.parts[2]!));
}

async function deleteJob(exchange: Exchange): Promise<void> {
  await ownJobsOf(exchange).remove(exchange.parts[2]!);
  exchange.json(200, { ok: true });
}

function getJobState(exchange: Exchange): void {
  const { job_state, reason } = jobsOf(exchange).get(exchange.parts[2]!);
  exchange.json(200, { state: job_state, reason });
}

async function putJobState(exchange: Exchange): Promise<void> {
  const { state, reason } = readState(await exchange.jsonObject());
  const id = exchange.parts[2]!;
  if (state === 'running') await ownJobsOf(exchange).resumeJob(id);
  else await ownJobsOf(exchange).stopJob(id, reason ?? 'Stopped by user');
  exchange.json(200, { ok: true });
}

/** A reason has one name in CouchDB's documentation, and another in its answers. */
function readState(body: Body): { state: 'running' | 'stopped'; reason: string | undefined } {
  const { state } = body;
  if (state === undefined) throw badRequest('Expected a `state` field');
  if (state !== 'running' && state !== 'stopped') throw badRequest('State field not `running` or `stopped`');
  const reason = body['reason'] ?? body['state_reason'] ?? undefined;
  if (reason !== undefined && typeof reason !== 'string') throw badRequest('Invalid `reason`');
  return { state, reason };
}

/** What is named does not exist: 404, and by name CouchDB's answer, which is 400. */
class NothingNamed extends RequestError {
  constructor(reason: string) {
    super('bad_request', reason);
  }
}

async function postJobs(exchange: Exchange): Promise<void> {
  try {
    await createJobs(exchange);
  } catch (refusal) {
    if (!(refusal instanceof NothingNamed)) throw refusal;
    exchange.json(404, { error: refusal.error, reason: refusal.reason });
  }
}

async function createJobs(exchange: Exchange): Promise<void> {
  const { registry, config } = exchange.services;
  const body = await exchange.jsonObject();
  const node = readNode(body['node'], registry);
  const shard = readShard(body['shard']);
  const db = body['db'] === undefined ? undefined : findDatabase(exchange, body['db']);
  const range = readRange(body['range']);
  const { type } = body;
  if (type !== 'split' && type !== 'divide') throw badRequest('`job type must be `split`');
  const parts = readParts(body['groups'], type);
  if (shard !== undefined && db !== undefined) throw badRequest('`db` and `shard` are mutually exclusive');
  if (shard !== undefined && range !== undefined)
    throw badRequest('`range` and `shard` are mutually exclusive');
  if (shard === undefined && db === undefined) throw badRequest('Must specify at least `db` or `shard`');
  if (node === undefined && config.boolean('reshard/require_node_param'))
    throw badRequest('`node` parameter is required');
  if (shard === undefined && range === undefined && config.boolean('reshard/require_range_param'))
    throw badRequest('`range` parameter is required');
  const database = db ?? registry.database(databaseOfShard(shard!));
  const numbers = pickShards(database, shard, range);
  if (numbers.length === 0) throw notFound('missing');
  const jobs = ownJobsOf(exchange);
  const created =
    type === 'split'
      ? await jobs.create(database, numbers)
      : await jobs.divide(database, groupsOfShards(database, numbers), parts);
  const sourceName = type === 'split' ? 'shard' : 'group';
  exchange.json(
    statusOf(created),
    created.map((each) => describe(each, sourceName, registry.nodeName)),
  );
}

/** The numbers of the groups that have shards. */
const groupsOfShards = ({ groups }: Database, shards: readonly number[]): number[] => [
  ...new Set(shards.map((shard) => groups.groupOf(shard).group)),
];

/** Into how many groups each is divided. */
function readParts(parts: unknown, type: string): number {
  if (parts === undefined) return 2;
  if (type !== 'divide') throw badRequest('`groups` is for jobs of the type `divide`');
  if (!Number.isInteger(parts) || (parts as number) < 2 || (parts as number) > 256)
    throw badRequest('Invalid `groups`');
  return parts as number;
}

/** As CouchDB has it, also for jobs that could not be made at all. */
const statusOf = (created: readonly CreatedJob[]): number =>
  created.some((each) => 'id' in each) ? 201 : 500;

function describe(created: CreatedJob, sourceName: 'shard' | 'group', node: string): object {
  const named = { [sourceName]: created.source };
  return 'id' in created
    ? { ok: true, id: created.id, node, ...named }
    : { error: created.error, ...named, node };
}

function pickShards(database: Database, shard: string | undefined, range: string | undefined): number[] {
  const { shards } = database.collection;
  return shards.shards.filter((number) => {
    const found = shards.range(number);
    if (shard !== undefined) return shardName(database.name, database.record, found) === shard;
    return range === undefined || rangeName(found) === range;
  });
}

/** In a cluster any of its nodes may be named: all have the shard, and it is split on all. */
function readNode(node: unknown, { nodeName, membership }: Services['registry']): string | undefined {
  if (node === undefined) return undefined;
  if (typeof node !== 'string') throw badRequest('Invalid `node`');
  const names = membership.cluster?.members().known ?? [nodeName];
  if (!names.includes(node)) throw new NothingNamed('`node` is not a valid node name');
  return node;
}

function readShard(shard: unknown): string | undefined {
  if (shard === undefined) return undefined;
  if (typeof shard !== 'string') throw badRequest('Invalid `shard`');
  if (!/^shards\/.{8}-.{8}\/./s.test(shard)) throw badRequest('`shard` is invalid');
  return shard;
}

function findDatabase(exchange: Exchange, db: unknown): Database {
  if (typeof db !== 'string') throw badRequest('Invalid `db`');
  const found = exchange.services.registry.find(db);
  if (found === undefined) throw new NothingNamed('Invalid `db`');
  return found;
}

function readRange(range: unknown): string | undefined {
  if (range === undefined) return undefined;
  const [, first, last] = (typeof range === 'string' && /^([0-9a-f]{8})-([0-9a-f]{8})$/i.exec(range)) || [];
  if (first === undefined || parseInt(first, 16) >= parseInt(last!, 16)) throw badRequest('Invalid `range`');
  return `${first}-${last}`.toLowerCase();
}
