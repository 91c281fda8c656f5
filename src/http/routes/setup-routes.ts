import { setAdmin } from '../../auth/admins.js';
import { ensureDatabases } from '../../auth/system-databases.js';
import { badRequest, RequestError } from '../../base/errors.js';
import { checkValue } from '../../config/checks.js';
import type { Exchange } from '../exchange.js';
import { parseJsonText } from '../request/query.js';
import type { ServerRoute } from './route.js';
import { checkDatabaseName } from '../request/make-database.js';

/** How far a server is set up, and the steps of that. A server is one node, and ready at once. */
export const setupRoutes: readonly ServerRoute[] = [
  {
    path: '/_cluster_setup',
    allow: 'GET,POST',
    access: 'server_admin',
    methods: { GET: getState, POST: postAction },
  },
];

const requiredDatabases: readonly string[] = ['_users', '_replicator'];

/** A server doesn't start without an admin, so the databases are all that may be missing. */
function getState(exchange: Exchange): void {
  const text = exchange.query.get('ensure_dbs_exist');
  const names = text === undefined ? requiredDatabases : namesOf(parseJsonText(text));
  // Only those that the server itself needs: others say nothing about how far it is set up.
  const missing = names.some((name) => name.startsWith('_') && !exchange.services.registry.exists(name));
  exchange.json(200, { state: missing ? 'single_node_disabled' : 'single_node_enabled' });
}

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

const actions: Readonly<Record<string, Action>> = {
  enable_single_node: enableSingleNode,
  finish_cluster: finishCluster,
  enable_cluster: refuseCluster,
  add_node: refuseCluster,
};

async function postAction(exchange: Exchange): Promise<void> {
  const setup = await exchange.jsonObject();
  const { action } = setup;
  if (typeof action !== 'string' || !Object.hasOwn(actions, action)) throw badRequest("Invalid Action'");
  for (const [name, type] of Object.entries(fields)) {
    const value = setup[name];
    const found = Array.isArray(value) ? 'array' : typeof value;
    if (value !== undefined && found !== type) {
      throw badRequest(`\`${name}\` must be ${type === 'array' ? 'an array' : `a ${type}`}.`);
    }
  }
  await actions[action]!(exchange, setup);
}

/** Address and port are kept in the configuration; they are read at the next start. */
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
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw badRequest('`port` must be a whole number from 1 to 65535.');
  }
  if (bind === '') throw badRequest('`bind_address` must not be empty.');
  if (bind !== undefined) checkValue('chttpd', 'bind_address', bind.trim());
  if (username !== undefined) await setAdmin(config, username, password!);
  if (bind !== undefined) config.set('chttpd', 'bind_address', bind);
  if (port !== undefined) config.set('chttpd', 'port', String(port));
  await ensureDatabases(exchange.services.registry, config, names);
  exchange.json(201, { ok: true });
}

async function finishCluster(exchange: Exchange, setup: Setup): Promise<void> {
  const { registry, config } = exchange.services;
  const names = databasesOf(exchange, setup);
  if (names.every((name) => registry.exists(name))) throw badRequest('Cluster already finished');
  await ensureDatabases(registry, config, names);
  exchange.json(201, { ok: true });
}

function refuseCluster(): Promise<void> {
  throw new RequestError(
    'not_implemented',
    'This version serves one node and joins no others; enable_single_node sets it up.',
  );
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
