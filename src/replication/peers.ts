import type { Runtime } from '../base/runtime.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Config } from '../config/config.js';
import type { ScriptHost } from '../script/script-host.js';
import type { Endpoint } from './endpoint.js';
import { Connection } from './http/connection.js';
import { readTls } from './http/dispatcher.js';
import { HttpPeer } from './http/http-peer.js';
import { LocalPeer, type CreateDatabase } from './local/local-peer.js';
import type { Peer } from './peer.js';
import type { ReplicatorCounts } from './replicator-counts.js';
import type { ReplicationSpec } from './spec.js';

export interface PeerHost {
  runtime: Runtime;
  config: Config;
  /** The one that is open now. */
  registry: () => DatabaseRegistry;
  /** Runs filter functions. */
  scripts: ScriptHost;
  makeDatabase: CreateDatabase;
  userAgent: string;
  counts: ReplicatorCounts;
}

type PeerSettings = Pick<ReplicationSpec, 'timeoutMs' | 'retries' | 'connections' | 'useBulkGet' | 'user'>;

/** Makes the sides of a replication. Whatever they do ends with the signal. */
export function makePeer(
  { runtime, config, registry, scripts, makeDatabase, userAgent, counts }: PeerHost,
  endpoint: Endpoint,
  { timeoutMs, retries, connections, useBulkGet, user }: PeerSettings,
  signal: AbortSignal,
): Peer {
  if (endpoint.kind === 'local')
    return new LocalPeer(registry, endpoint.name, user, { scripts, makeDatabase }, signal);
  const tls = readTls(config);
  const settings = { timeoutMs, retries, connections, tls, userAgent, signal, runtime, counts };
  const connection = new Connection(endpoint, settings);
  return new HttpPeer(connection, { useBulkGet, heartbeatMs: Math.ceil(timeoutMs / 3) });
}
