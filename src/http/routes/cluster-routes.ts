import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fromBytes } from '../../base/bytes.js';
import { badRequest, notFound, RequestError } from '../../base/errors.js';
import { nodeHeader } from '../../cluster/blob-exchange.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { RecoveryOrder } from '../../cluster/recovery.js';
import { memberPrefix, removedMember } from '../../node/shared-values.js';
import type { Exchange } from '../exchange.js';
import { openBody } from '../request/body.js';
import { isFromNode } from '../request/from-node.js';
import type { ServerRoute } from './route.js';

/** What operators ask of the cluster. */
export const operatorRoutes: readonly ServerRoute[] = [
  { path: '/_cluster', allow: 'GET', access: 'server_admin', methods: { GET: getStatus } },
  {
    path: '/_cluster/recover',
    allow: 'GET,POST',
    access: 'server_admin',
    methods: { GET: getRecovery, POST: recover },
  },
  {
    path: '/_cluster/rebalance',
    allow: 'GET,POST',
    access: 'server_admin',
    methods: { GET: getRebalance, POST: rebalance },
  },
  {
    path: '/_cluster/nodes/{node}',
    allow: 'DELETE',
    access: 'server_admin',
    methods: { DELETE: removeNode },
  },
];

async function getStatus(exchange: Exchange): Promise<void> {
  exchange.json(200, await ofOperators(exchange).status());
}

/** Which streams are damaged, and what would be lost if they were made anew. */
async function getRecovery(exchange: Exchange): Promise<void> {
  exchange.json(200, await ofOperators(exchange).recovery.report(exchange.query.get('from')));
}

/** Makes damaged streams anew, from the nodes with the longest histories or from the one that is named. */
async function recover(exchange: Exchange): Promise<void> {
  const cluster = ofOperators(exchange);
  const { from } = await exchange.jsonObject();
  if (from !== undefined && typeof from !== 'string') throw badRequest('`from` must be the name of a node.');
  exchange.services.logger.warn(
    { user: exchange.user.name, from },
    'recovery of damaged streams was asked for',
  );
  exchange.json(202, await cluster.recovery.recover(from));
}

/** Which nodes host which streams, and which would. */
function getRebalance(exchange: Exchange): void {
  const { rebalancing } = ofOperators(exchange);
  exchange.json(200, rebalancing.report(streamsOf(exchange), exchange.query.get('without')));
}

/** Begins to move streams; `without` names a node that is to host none. */
async function rebalance(exchange: Exchange): Promise<void> {
  const { rebalancing } = ofOperators(exchange);
  const { without } = await exchange.jsonObject();
  if (without !== undefined && typeof without !== 'string')
    throw badRequest('`without` must be the name of a node.');
  exchange.services.logger.notice({ user: exchange.user.name, without }, 'streams are moved');
  exchange.json(202, await rebalancing.begin(streamsOf(exchange), without));
}

/** The names of all databases with their streams. */
const streamsOf =
  ({ services: { registry } }: Exchange) =>
  (): Iterable<[name: string, stream: number]> =>
    [...registry.names({ inclusiveEnd: true, descending: false, skip: 0, limit: Infinity })].map((name) => [
      name,
      registry.record(name)?.stream ?? 0,
    ]);

function ofOperators({ services: { cluster } }: Exchange): Cluster {
  if (cluster === undefined) throw notFound('This server is not a node of a cluster.');
  return cluster;
}

/** A node that is gone for good does not count any more: for majorities of attachments, and for what is kept in streams. */
async function removeNode(exchange: Exchange): Promise<void> {
  const cluster = ofOperators(exchange);
  const { registry, logger } = exchange.services;
  const name = fromBytes(exchange.parts[2]!);
  const { all, known } = cluster.members();
  if (!known.includes(name)) throw notFound(`no such node: ${name}`);
  if (all.includes(name)) throw badRequest(`The node ${name} is running: stop it first.`);
  await registry.membership.share(memberPrefix + name, removedMember);
  logger.notice({ node: name, user: exchange.user.name }, 'a node was removed from the cluster');
  exchange.json(200, { ok: true });
}

/** What the nodes of a cluster ask each other. The secret of the cluster takes the place of a login. */
export const clusterRoutes: readonly ServerRoute[] = [
  {
    path: '/_cluster_blobs/{digest}',
    allow: 'GET,HEAD,PUT',
    access: 'public',
    methods: { GET: getBlob, PUT: putBlob },
  },
  { path: '/_cluster_places', allow: 'POST', access: 'public', methods: { POST: postPlaces } },
  { path: '/_cluster_recover', allow: 'POST', access: 'public', methods: { POST: postRecover } },
  { path: '/_cluster_copy', allow: 'GET', access: 'public', methods: { GET: getCopy } },
];

async function getBlob(exchange: Exchange): Promise<void> {
  const cluster = clusterOf(exchange);
  const digest = digestOf(exchange);
  const { blobs } = cluster.rejoining.offered ?? exchange.services.registry;
  if (exchange.method === 'HEAD') {
    const isThere = await cluster.blobs.keep(digest);
    return exchange.empty(isThere ? 200 : 404);
  }
  const reader = await blobs.read(digest);
  if (reader === undefined) throw notFound('missing');
  exchange.head(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': reader.length });
  await pipeline(Readable.from(reader), exchange.response);
}

/** The stores of this node, for one that cannot continue from the streams. */
async function getCopy(exchange: Exchange): Promise<void> {
  const { offered } = clusterOf(exchange).rejoining;
  const { registry, spoolFolder } = exchange.services;
  const stream = exchange.query.get('stream');
  const copy =
    stream === undefined
      ? (offered ?? registry.membership).copy(spoolFolder)
      : registry.membership.copyStream(Number(stream), spoolFolder);
  exchange.head(200, { 'Content-Type': 'application/octet-stream' });
  await pipeline(Readable.from(copy), exchange.response);
}

/** Up to where this node has the streams; with `at`, its hashes behind those messages. */
async function postPlaces(exchange: Exchange): Promise<void> {
  const { recovery } = clusterOf(exchange);
  const { at } = (await exchange.jsonObject()) as { at?: Record<string, number[]> };
  exchange.json(200, at === undefined ? recovery.claims() : recovery.hashesAt(at));
}

async function postRecover(exchange: Exchange): Promise<void> {
  const { recovery } = clusterOf(exchange);
  const { streams } = (await exchange.jsonObject()) as { streams: RecoveryOrder };
  await recovery.recoverHere(streams);
  exchange.json(200, { ok: true });
}

async function putBlob(exchange: Exchange): Promise<void> {
  const cluster = clusterOf(exchange);
  const bytesMax = exchange.services.config.number('couchdb/max_attachment_size');
  await cluster.blobs.receive(digestOf(exchange), openBody(exchange.request, bytesMax));
  exchange.json(201, { ok: true });
}

function digestOf(exchange: Exchange): string {
  const digest = exchange.parts[1]!;
  if (!/^[0-9a-f]{64}$/.test(digest)) throw badRequest('Not a digest.');
  return digest;
}

function clusterOf(exchange: Exchange): Cluster {
  const { cluster } = exchange.services;
  if (cluster === undefined) throw notFound('missing');
  if (!isFromNode(exchange, cluster))
    throw new RequestError('unauthorized', 'Only nodes of the cluster may ask this.');
  if (exchange.header(nodeHeader) !== cluster.nodeName) throw badRequest('Another node is meant.');
  return cluster;
}
