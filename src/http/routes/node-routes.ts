import { fromBytes, toBytes } from '../../base/bytes.js';
import { badRequest, invalidJson, notFound } from '../../base/errors.js';
import { setAdmin } from '../../auth/admins.js';
import { Unavailable } from '../../base/errors.js';
import { allNodes, shareOption, unshareOption } from './shared-options.js';
import { parseJson } from '../../json/scan.js';
import { requireJsonOrNoOrigin } from '../request/body.js';
import { engine } from '../../script/engine.js';
import type { Exchange } from '../exchange.js';
import type { ServerRoute } from './route.js';

/** What concerns one node: its figures and its configuration. `_local` is the node that is asked. */
export const nodeRoutes: readonly ServerRoute[] = [
  { path: '/_node', allow: 'GET', access: 'public', methods: { GET: incomplete } },
  { path: '/_node/{node}', allow: 'GET', access: 'server_admin', methods: { GET: onNode(name) } },
  { path: '/_node/{node}/_system', allow: 'GET', access: 'metrics', methods: { GET: onNode(system) } },
  {
    path: '/_node/{node}/_versions',
    allow: 'GET',
    access: 'server_admin',
    methods: { GET: onNode(versions) },
  },
  { path: '/_node/{node}/_stats/*', allow: 'GET', access: 'metrics', methods: { GET: onNode(stats) } },
  {
    path: '/_node/{node}/_prometheus',
    allow: 'GET',
    access: 'metrics',
    methods: { GET: onNode(prometheus) },
  },
  {
    path: '/_node/{node}/_restart',
    allow: 'POST',
    access: 'server_admin',
    methods: { POST: onNode(restart) },
  },
  {
    path: '/_node/{node}/_config',
    allow: 'GET',
    access: 'server_admin',
    methods: { GET: onNode(wholeConfig) },
  },
  {
    path: '/_node/{node}/_config/_reload',
    allow: 'POST',
    access: 'server_admin',
    methods: { POST: onNode(reload) },
  },
  {
    path: '/_node/{node}/_config/{section}',
    allow: 'GET',
    access: 'server_admin',
    methods: { GET: onNode(section) },
  },
  {
    path: '/_node/{node}/_config/{section}/{key}',
    allow: 'GET,PUT,DELETE',
    access: 'server_admin',
    methods: { GET: onNode(getOption), PUT: onNode(putOption), DELETE: onNode(deleteOption) },
  },
  {
    path: '/_node/{node}/_config/{section}/{key}/*',
    allow: 'GET,PUT,DELETE',
    access: 'server_admin',
    methods: { GET: nothing, PUT: nothing, DELETE: nothing, POST: nothing, COPY: nothing },
  },
];

/** Paths deeper than a section and a key name nothing. */
function nothing(): void {
  throw notFound('missing');
}

type Handler = (exchange: Exchange) => void | Promise<void>;

/** Names that a single CouchDB has unless it is given another: scripts that set one up have them in their addresses. */
const defaultNodes = new Set(['_local', 'nonode@nohost', 'couchdb@127.0.0.1', 'couchdb@localhost']);

function onNode(handler: Handler): Handler {
  return (exchange) => {
    const node = fromBytes(exchange.parts[1]!);
    const { registry, cluster } = exchange.services;
    const isHere = defaultNodes.has(node) || node === registry.nodeName || isAll(exchange);
    // One that is there was asked itself.
    if (!isHere && cluster?.members().known.includes(node))
      throw new Unavailable(`The node ${node} cannot be reached.`);
    if (!isHere) throw notFound(`no such node: ${node}`);
    return handler(exchange);
  };
}

/** In a cluster, options can be set for all nodes. */
const isAll = ({ parts, services }: Exchange): boolean =>
  services.cluster !== undefined && parts[1] === allNodes && parts[2] === '_config' && parts.length === 5;

/** Server admins are those of the whole cluster. */
const isShared = (exchange: Exchange): boolean =>
  isAll(exchange) ||
  (exchange.services.cluster !== undefined && exchange.parts[3] === 'admins' && persists(exchange));

function incomplete(): void {
  throw badRequest('Incomplete path to _node request');
}

function name(exchange: Exchange): void {
  exchange.json(200, { name: exchange.services.registry.nodeName });
}

function system(exchange: Exchange): void {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const { voluntaryContextSwitches, involuntaryContextSwitches } = process.resourceUsage();
  exchange.json(200, {
    uptime: Math.floor(process.uptime()),
    memory: {
      // The first four have the names that CouchDB's monitoring reads.
      other: Math.max(0, rss - heapTotal - external),
      processes: heapTotal,
      processes_used: heapUsed,
      binary: external,
      rss,
      heap_total: heapTotal,
      heap_used: heapUsed,
      external,
      array_buffers: arrayBuffers,
    },
    context_switches: voluntaryContextSwitches + involuntaryContextSwitches,
    // What programs for CouchDB walk through.
    message_queues: {},
    internal_replication_jobs: 0,
    distribution: {},
  });
}

function versions(exchange: Exchange): void {
  const { icu = '', unicode = '', uv, node } = process.versions as Record<string, string>;
  exchange.json(200, {
    javascript_engine: engine,
    // The key of the runtime is the one by which CouchDB's tools look for it.
    erlang: { version: node, supported_hashes: ['sha', 'sha256'] },
    runtime: { name: 'node', version: node, supported_hashes: ['sha', 'sha256'], uv },
    collation_driver: {
      name: 'icu',
      library_version: icu,
      collator_version: icu,
      collation_algorithm_version: unicode,
    },
  });
}

async function stats(exchange: Exchange): Promise<void> {
  await exchange.services.gather();
  let found: unknown = exchange.services.metrics.stats();
  for (const part of exchange.parts.slice(3)) {
    const key = fromBytes(part);
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : null;
  }
  exchange.json(200, found);
}

async function prometheus(exchange: Exchange): Promise<void> {
  const { gather, cluster } = exchange.services;
  await Promise.all([gather(), cluster?.report.streams()]);
  exchange.send(200, 'text/plain; version=2.0', toBytes(exchange.services.metrics.prometheus()));
}

/** Requests that are under way meanwhile may fail; what they were told is saved is saved. */
async function restart(exchange: Exchange): Promise<void> {
  requireJsonOrNoOrigin(exchange.request);
  await exchange.services.restart();
  exchange.json(202, { ok: true });
}

function wholeConfig(exchange: Exchange): void {
  exchange.json(200, exchange.services.config.all());
}

function section(exchange: Exchange): void {
  exchange.json(200, exchange.services.config.section(fromBytes(exchange.parts[3]!)));
}

function optionOf(exchange: Exchange): [section: string, key: string] {
  return [fromBytes(exchange.parts[3]!), fromBytes(exchange.parts[4]!)];
}

function getOption(exchange: Exchange): void {
  const value = exchange.services.config.get(...optionOf(exchange));
  if (value === undefined) throw notFound('unknown_config_value');
  exchange.json(200, value);
}

/** Changes are kept in a file unless the client says that they are only for now. */
const persists = (exchange: Exchange): boolean =>
  (exchange.header('x-svc-persist') ?? exchange.header('x-couch-persist')) !== 'false';

async function putOption(exchange: Exchange): Promise<void> {
  const { config, hasher } = exchange.services;
  const [sectionName, key] = optionOf(exchange);
  const bytes = await exchange.body(exchange.jsonBytesMax);
  if (bytes.length === 0) throw invalidJson();
  const value = parseJson(bytes);
  if (typeof value !== 'string') throw badRequest('a JSON string expected');
  const persist = persists(exchange);
  const old = isShared(exchange)
    ? await shareOption(exchange.services, sectionName, key, value)
    : sectionName === 'admins'
      ? await setAdmin(config, hasher, key, value, { persist })
      : config.set(sectionName, key, value, { persist });
  logChange(exchange, 'an option was changed');
  exchange.json(200, old);
}

async function deleteOption(exchange: Exchange): Promise<void> {
  const { services } = exchange;
  const old = isShared(exchange)
    ? await unshareOption(services, ...optionOf(exchange))
    : services.config.delete(...optionOf(exchange), { persist: persists(exchange) });
  logChange(exchange, 'an option was taken back');
  exchange.json(200, old);
}

/** Who changed what, and not to what: values may be secrets. */
function logChange(exchange: Exchange, message: string): void {
  const [sectionName, key] = optionOf(exchange);
  exchange.services.logger.notice({ section: sectionName, key, user: exchange.user.name }, message);
}

async function reload(exchange: Exchange): Promise<void> {
  requireJsonOrNoOrigin(exchange.request);
  await exchange.services.reload();
  exchange.json(200, { ok: true });
}
