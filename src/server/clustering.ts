import { createHash } from 'node:crypto';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Config } from '../config/config.js';

/** The first version of the NATS server that can flush each message before it confirms it. */
const safeVersion = [2, 10];

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
  const { NatsServers } = await import('../cluster/nats-connection.js');
  const { Cluster } = await import('../cluster/cluster.js');
  const nats = await NatsServers.connect({ servers, name: node }, logger);
  if (!config.boolean('cluster/allow_unsafe_log') && !isSafe(nats.version)) {
    await nats.close();
    throw new StartupError(
      `The NATS server has version ${nats.version}; 2.10 or later with "sync_interval: always" loses nothing. ` +
        'For tests, --allow-unsafe-log accepts it.',
    );
  }
  const options = {
    name: config.text('cluster/name'),
    node: node.includes('@') ? node : `tuffet@${node}`,
    advertise: config.text('cluster/advertise'),
    secret,
    streams: config.number('cluster/streams'),
    replicas: config.number('cluster/replicas'),
    timeoutMs: () => config.number('cluster/write_timeout_ms'),
  };
  return new Cluster(nats, options, runtime, logger);
}

/** Nodes of a cluster accept each other's cookies. */
export function cookieSecret(config: Config): string | undefined {
  const isNeeded = config.text('cluster/nats') !== '' && config.text('chttpd_auth/secret') === '';
  if (!isNeeded) return undefined;
  return createHash('sha256')
    .update(`cookies ${config.text('cluster/secret')}`)
    .digest('hex');
}

function isSafe(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > safeVersion[0]! || (major === safeVersion[0] && minor >= safeVersion[1]!);
}
