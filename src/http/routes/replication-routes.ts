import { asBytes, fromBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, invalidJson, notFound, RequestError, Unavailable } from '../../base/errors.js';
import { docStates } from '../../replication/scheduler-docs.js';
import type { Exchange } from '../exchange.js';
import { hasBody } from '../request/request-facts.js';
import type { ServerRoute } from './route.js';

/** Replications: begun and ended by requests, and what there is to be seen of them all. */
export const replicationRoutes: readonly ServerRoute[] = [
  { path: '/_replicate', allow: 'POST', access: 'replicate', methods: { POST: replicate } },
  { path: '/_scheduler/jobs', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: jobs } },
  { path: '/_scheduler/jobs/{jobid}', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: job } },
  { path: '/_scheduler/docs', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: docs } },
  { path: '/_scheduler/docs/*', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: docsBelow } },
  { path: '/_scheduler/*', allow: 'GET,HEAD', access: 'server_admin', methods: { GET: nothingThere } },
];

/** POST /_replicate */
async function replicate(exchange: Exchange): Promise<void> {
  const { user, services } = exchange;
  if (!hasBody(exchange.request))
    throw exchange.header('content-length') === undefined
      ? badRequest('Missing request body')
      : invalidJson();
  // Other nodes forward requests to the one that runs replications, as long as it is there.
  if (!services.registry.membership.isOwner)
    throw new Unavailable('No node of the cluster runs replications now; nothing was begun.');
  const done = await services.replicator.replicate(await exchange.jsonObject(), user);
  if (done.kind === 'completed') exchange.json(200, done.answer);
  else exchange.json(done.kind === 'accepted' ? 202 : 200, { ok: true, _local_id: done.id });
}

/** GET /_scheduler/jobs */
function jobs(exchange: Exchange): void {
  const { replicator, registry } = exchange.services;
  const { skip, limit } = page(exchange, jobsRefusals);
  const all = replicator.scheduler.list();
  const shown = all.slice(skip, skip + limit).map((each) => each.describe(registry.nodeName));
  exchange.json(200, { total_rows: all.length, offset: Math.min(skip, all.length), jobs: shown });
}

/** GET /_scheduler/jobs/{jobid} */
function job(exchange: Exchange): void {
  const { replicator, registry } = exchange.services;
  const found = replicator.scheduler.get(fromBytes(exchange.parts[2]!));
  if (found === undefined) throw notFound('missing');
  exchange.json(200, found.describe(registry.nodeName));
}

/** GET /_scheduler/docs */
async function docs(exchange: Exchange): Promise<void> {
  await listDocs(exchange, exchange.services.replicator.databases);
}

/** GET /_scheduler/docs/{database}, with its name as one part of the path or as several, and /{docid} behind it. */
async function docsBelow(exchange: Exchange): Promise<void> {
  const { database, id } = splitBelow(exchange.parts.slice(2));
  if (!exchange.services.registry.exists(database)) throw notFound('Database does not exist.');
  if (id === undefined) return await listDocs(exchange, [database]);
  const found = exchange.services.replicator.docs.get(database, id);
  if (found === undefined) throw notFound('missing');
  exchange.json(200, found);
}

function splitBelow(parts: readonly Bytes[]): { database: string; id: Bytes | undefined } {
  const last = parts.findIndex((part) => part === '_replicator' || part.endsWith('/_replicator'));
  if (last < 0 || parts.length > last + 2) throw badRequest('Invalid path');
  const database = fromBytes(asBytes(parts.slice(0, last + 1).join('/')));
  return { database, id: parts[last + 1] };
}

async function listDocs(exchange: Exchange, databases: readonly string[]): Promise<void> {
  const states = exchange.query.first('states');
  const query = {
    ...page(exchange, docsRefusals),
    states: states === undefined || states === '' ? undefined : statesOf(states),
  };
  exchange.json(200, await exchange.services.replicator.docs.list(databases, query));
}

function statesOf(text: string): ReadonlySet<string> {
  const named = text.toLowerCase().split(',');
  const known: readonly string[] = docStates;
  if (!named.every((each) => known.includes(each)))
    throw new RequestError('query_parse_error', `States must be one or more of [${docStates.join(',')}]`);
  return new Set(named);
}

const limitStandard = 25;
const limitMax = 10_000;

function page(exchange: Exchange, refusals: PageRefusals): { skip: number; limit: number } {
  const number = (name: string): number | undefined => wholeNumber(exchange, name, refusals);
  return { skip: number('skip') ?? 0, limit: Math.min(number('limit') ?? limitStandard, limitMax) };
}

interface PageRefusals {
  notInteger(name: string, text: string): string;
  negative(name: string, text: string): string;
}

/** The two listings of the scheduler have words of their own. */
const jobsRefusals: PageRefusals = {
  notInteger: (name) => `${name} must be an integer`,
  negative: (name) => `${name} not in range of [0,infinity]`,
};
const docsRefusals: PageRefusals = {
  notInteger: (_, text) => `Invalid value for integer: "${text}"`,
  negative: (_, text) => `Invalid value for positive integer: "${text}"`,
};

function wholeNumber(
  exchange: Exchange,
  name: string,
  { notInteger, negative }: PageRefusals,
): number | undefined {
  const text = exchange.query.first(name);
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw new RequestError('query_parse_error', notInteger(name, text));
  if (Number(text) < 0) throw new RequestError('query_parse_error', negative(name, text));
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** An error without a reason, as scripts know it. */
function nothingThere(exchange: Exchange): void {
  exchange.json(404, { error: 'not found' });
}
