import { setAdmin } from '../../auth/admins.js';
import { ensureDatabases } from '../../auth/system-databases.js';
import { badRequest, RequestError } from '../../base/errors.js';
import { addNode, joinOptions, type Joining } from '../../cluster/join.js';
import { checkValue } from '../../config/checks.js';
import type { Config } from '../../config/config.js';
import type { Exchange } from '../exchange.js';
import type { Services } from '../services.js';
import { shareOption } from './shared-options.js';
import { parseJsonText } from '../request/query.js';
import type { ServerRoute } from './route.js';
import { checkDatabaseName } from '../request/make-database.js';

/** How far a server is set up, and the steps of that. A server that is no node of a cluster is ready at once. */
export const setupRoutes: readonly ServerRoute[] = [
  {
    path: '/_cluster_setup',
    allow: 'GET,POST',
    access: 'server_admin',
    methods: { GET: getState, POST: postAction },
  },
];

const defaultPort = 5984;
const requiredDatabases: readonly string[] = ['_users', '_replicator'];

/** Follows from the configuration and from the databases that exist. A server doesn't start without an admin. */
function getState(exchange: Exchange): void {
  const { registry, config } = exchange.services;
  const text = exchange.query.get('ensure_dbs_exist');
  const names = text === undefined ? requiredDatabases : namesOf(parseJsonText(text));
  const complete = names.every((name) => registry.exists(name));
  const isNode = exchange.services.cluster !== undefined;
  exchange.json(200, { state: stateOf(config, complete, isNode) });
}

function stateOf(config: Config, complete: boolean, isNode: boolean): string {
  if (isNode) return complete ? 'cluster_finished' : 'cluster_enabled';
  if (config.number('cluster/n') === 1) return complete ? 'single_node_enabled' : 'single_node_disabled';
  if (isLoopback(config.text('chttpd/bind_address'))) return 'cluster_disabled';
  return complete ? 'cluster_finished' : 'cluster_enabled';
}

const isLoopback = (address: string): boolean => /^(127\..*|::1|localhost)$/.test(address);

type Field = 'string' | 'number' | 'boolean' | 'array';

/** Every field of the interface and its type; which action heeds it is said in `docs/api.md`. */
const fields: Readonly<Record<string, Field>> = {
  bind_address: 'string',
  username: 'string',
  password: 'string',
  port: 'number',
  node_count: 'number',
  remote_node: 'string',
  remote_current_user: 'string',
  remote_current_password: 'string',
  host: 'string',
  singlenode: 'boolean',
  ensure_dbs_exist: 'array',
};

type Setup = Readonly<Record<string, unknown>>;
type Action = (exchange: Exchange, setup: Setup) => Promise<void>;

/** Each action with the fields it cannot do without. */
const actions: Readonly<Record<string, { required: readonly string[]; run: Action }>> = {
  enable_single_node: { required: [], run: enableSingleNode },
  finish_cluster: { required: [], run: finishCluster },
  enable_cluster: { required: ['username', 'password', 'node_count'], run: enableCluster },
  add_node: { required: ['host', 'username', 'password'], run: addNodeOf },
};

async function postAction(exchange: Exchange): Promise<void> {
  const setup = await setupOf(exchange);
  const { action } = setup;
  if (typeof action !== 'string' || !Object.hasOwn(actions, action)) throw badRequest("Invalid Action'");
  const { required, run } = actions[action]!;
  checkCluster(exchange, setup);
  for (const name of required) if (setup[name] === undefined) throw badRequest(`\`${name}\` is required.`);
  for (const [name, type] of Object.entries(fields)) checkType(name, type, setup[name]);
  checkPort(setup['port']);
  await run(exchange, setup);
}

async function setupOf(exchange: Exchange): Promise<Setup> {
  try {
    return await exchange.jsonObject();
  } catch (error) {
    // CouchDB has one reason for whatever is no JSON object.
    throw error instanceof RequestError && error.error === 'bad_request'
      ? badRequest("Missing JSON body'")
      : error;
  }
}

/** What an action takes for granted is checked before its fields. */
function checkCluster(
  { services }: Exchange,
  { action, bind_address: given, remote_node: remote }: Setup,
): void {
  if (action === 'add_node' && services.cluster === undefined) throw notEnabled();
  const address = typeof given === 'string' ? given.trim() : services.config.text('chttpd/bind_address');
  if (action === 'enable_cluster' && remote === undefined && isLoopback(address)) throw notRemote();
}

const notEnabled = (): RequestError => badRequest('Cluster is not enabled.');
const notRemote = (): RequestError =>
  badRequest('Cluster setup requires a remote bind_address (not 127.0.0.1 nor ::1)');

function checkType(name: string, type: Field, value: unknown): void {
  const found = Array.isArray(value) ? 'array' : typeof value;
  if (value !== undefined && found !== type)
    throw badRequest(`\`${name}\` must be ${type === 'array' ? 'an array' : `a ${type}`}.`);
}

function checkPort(port: unknown): void {
  const valid = port === undefined || (Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535);
  if (!valid) throw badRequest('`port` must be a whole number from 1 to 65535.');
}

/** Address and port are kept in the configuration; they are read at the next start. One node keeps one copy. */
async function enableSingleNode(exchange: Exchange, setup: Setup): Promise<void> {
  const { config } = exchange.services;
  const {
    bind_address: bind,
    username,
    password,
    port,
  } = setup as {
    bind_address?: string;
    username?: string;
    password?: string;
    port?: number;
  };
  const names = databasesOf(exchange, setup);
  if ((username === undefined) !== (password === undefined)) {
    throw badRequest('`username` and `password` belong together.');
  }
  if (bind === '') throw badRequest('`bind_address` must not be empty.');
  if (bind !== undefined) checkValue('chttpd', 'bind_address', bind.trim());
  if (username !== undefined) await createAdmin(exchange.services, username, password!);
  if (bind !== undefined) config.set('chttpd', 'bind_address', bind);
  if (port !== undefined) config.set('chttpd', 'port', String(port));
  if (config.number('cluster/n') !== 1) config.set('cluster', 'n', '1');
  await ensureDatabases(exchange.services.registry, config, names);
  exchange.json(201, { ok: true });
}

/** In a cluster, an admin of all nodes. */
async function createAdmin(services: Services, name: string, password: string): Promise<void> {
  if (services.cluster === undefined) await setAdmin(services.config, services.hasher, name, password);
  else await shareOption(services, 'admins', name, password);
}

async function finishCluster(exchange: Exchange, setup: Setup): Promise<void> {
  const { registry, config } = exchange.services;
  const names = databasesOf(exchange, setup);
  if (names.every((name) => registry.exists(name))) throw badRequest('Cluster is already finished');
  await ensureDatabases(registry, config, names);
  exchange.json(201, { ok: true });
}

const nodesMax = 1_000;

/** Checked as for a node that could join others, which this one cannot: it is a node already, or has to be started as one. */
function enableCluster(exchange: Exchange, setup: Setup): Promise<void> {
  const { config } = exchange.services;
  const { bind_address: given, node_count: nodes } = setup as { bind_address?: string; node_count: number };
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > nodesMax)
    throw badRequest(`\`node_count\` must be a whole number from 1 to ${nodesMax}.`);
  const address = given?.trim() ?? config.text('chttpd/bind_address');
  if (isLoopback(address)) throw notRemote();
  checkValue('chttpd', 'bind_address', address);
  if (setup['remote_node'] !== undefined)
    for (const name of ['remote_current_user', 'remote_current_password'])
      if (setup[name] === undefined) throw badRequest(`\`${name}\` is required with \`remote_node\`.`);
  if (exchange.services.cluster !== undefined) throw badRequest('Cluster is already enabled.');
  return refuseCluster();
}

/** Joins another server to the cluster that this one is a node of. */
async function addNodeOf(exchange: Exchange, setup: Setup): Promise<void> {
  const { cluster, config, runtime, logger } = exchange.services;
  if (cluster === undefined) return await refuseCluster();
  const { host, port = defaultPort, username, password } = setup as unknown as Joining & { port?: number };
  if (host.trim() === '') throw badRequest('`host` must not be empty.');
  const settings = Object.fromEntries(joinOptions.map((key) => [key, config.get('cluster', key) ?? '']));
  const shared = { settings, cookie_secret: config.text('chttpd_auth/secret') };
  const node = await addNode(cluster, { host: host.trim(), port, username, password }, shared, runtime);
  logger.notice({ node, user: exchange.user.name }, 'a node was added to the cluster');
  exchange.json(201, { ok: true });
}

/** A server is one node. */
function refuseCluster(): Promise<void> {
  throw notEnabled();
}

function databasesOf(exchange: Exchange, { ensure_dbs_exist: value }: Setup): readonly string[] {
  const names = value === undefined ? requiredDatabases : namesOf(value);
  for (const name of names) checkDatabaseName(exchange.services.config, name);
  return names;
}

const namesMax = 100;

function namesOf(value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((name): name is string => typeof name === 'string')) {
    throw badRequest('`ensure_dbs_exist` must be an array of names.');
  }
  if (value.length > namesMax) throw badRequest(`\`ensure_dbs_exist\` may hold ${namesMax} names at most.`);
  return value;
}
