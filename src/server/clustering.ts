import { createHash } from 'node:crypto';
import { holdsUsers } from '../auth/users-database.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import { isEverywhere } from '../cluster/assignment.js';
import type { Cluster } from '../cluster/cluster.js';
import type { NatsOptions, NatsServers } from '../cluster/nats-connection.js';
import { Config } from '../config/config.js';

/** The cluster that the configuration names, if any. What it needs is loaded only then. */
export async function openCluster(
  config: Config,
  logger: Logger,
  runtime: Runtime,
): Promise<Cluster | undefined> {
  const servers = config.text('cluster/nats');
  if (servers === '') return undefined;
  const node = config.text('cluster/node_name');
  const secret = config.text('cluster/secret');
  if (!/^[\w.@-]{1,64}$/.test(node))
    throw new StartupError(
      'A node of a cluster needs a name of letters, digits, ".", "-", "_" and "@": --node-name.',
    );
  if (secret === '') throw new StartupError('The nodes of a cluster need the same [cluster] secret.');
  const { Cluster } = await import('../cluster/cluster.js');
  const nats = await connectSafely(config, servers, node, logger);
  const options = {
    name: config.text('cluster/name'),
    node: node.includes('@') ? node : `tuffet@${node}`,
    advertise: config.text('cluster/advertise'),
    secret,
    streams: config.number('cluster/streams'),
    replicas: config.number('cluster/replicas'),
    hosts: () => config.number('cluster/hosts'),
    isEverywhere: (database: string) => isEverywhere(database) || holdsUsers(config, database),
    mayOwn: () => config.choice('couchdb/maintenance_mode') !== 'true',
    timeoutMs: () => config.number('cluster/write_timeout_ms'),
    copiesTimeoutMs: () => config.number('cluster/copies_timeout_ms'),
    absentMs: () => config.number('cluster/absent_ms'),
    trimMessages: () => config.number('cluster/trim_messages'),
  };
  return new Cluster(nats, options, runtime, logger);
}

/** Connects to the NATS servers that the configuration names; refuses those that may lose what they have confirmed. */
async function connectSafely(
  config: Config,
  servers: string,
  node: string,
  logger: Logger,
): Promise<NatsServers> {
  const { NatsServers } = await import('../cluster/nats-connection.js');
  const { whyUnsafe } = await import('../cluster/log-safety.js');
  const nats = await NatsServers.connect(natsOptions(config, servers, node), logger);
  const { version } = nats;
  const reason = config.boolean('cluster/allow_unsafe_log')
    ? undefined
    : await whyUnsafe({ servers, monitoring: config.text('cluster/nats_monitoring'), version }, logger);
  if (reason === undefined) return nats;
  await nats.close();
  throw new StartupError(
    `${reason} 2.10 or later with "sync_interval: always" loses nothing. For tests, --allow-unsafe-log accepts it.`,
  );
}

/** Throws where a node with these options of `[cluster]` could not be started here. */
export async function checkReachable(settings: Record<string, string>, logger: Logger): Promise<void> {
  const config = new Config({ overrides: { cluster: settings } });
  const nats = await connectSafely(
    config,
    config.text('cluster/nats'),
    config.text('cluster/node_name'),
    logger,
  );
  await nats.close();
}

/** Nodes of a cluster accept each other's cookies. */
export function cookieSecret(config: Config): string | undefined {
  const isNeeded = config.text('cluster/nats') !== '' && config.text('chttpd_auth/secret') === '';
  if (!isNeeded) return undefined;
  return createHash('sha256')
    .update(`cookies ${config.text('cluster/secret')}`)
    .digest('hex');
}

function natsOptions(config: Config, servers: string, name: string): NatsOptions {
  return {
    servers,
    name,
    user: config.text('cluster/nats_user'),
    password: config.text('cluster/nats_password'),
    token: config.text('cluster/nats_token'),
    credentialsFile: config.text('cluster/nats_credentials_file'),
    tls: {
      caFile: config.text('cluster/nats_ca_file'),
      certFile: config.text('cluster/nats_cert_file'),
      keyFile: config.text('cluster/nats_key_file'),
    },
  };
}
