import type { Runtime } from '../base/runtime.js';
import type { UserContext } from '../base/user-context.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Config } from '../config/config.js';
import type { ScriptHost } from '../script/script-host.js';
import type { Endpoint, RemoteEndpoint } from './endpoint.js';
import { readTls } from './http/dispatcher.js';
import { makeHttpPeer } from './http/http-peer.js';
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

/** Where a database of the cluster is, if other nodes have it, or may get it when it is made. */
function elsewhere(registry: DatabaseRegistry, name: string, user: UserContext): RemoteEndpoint | undefined {
  const { membership } = registry;
  const { cluster } = membership;
  if (cluster === undefined || !membership.isDistributed) return undefined;
  const stream = registry.record(name)?.stream;
  if (stream !== undefined && membership.isHosted(stream)) return undefined;
  const origin = (stream === undefined ? undefined : cluster.hosting.hostUrl(stream)) ?? cluster.advertised;
  const url = new URL(`/${encodeURIComponent(name)}/`, origin).href;
  return {
    kind: 'remote',
    url,
    headers: cluster.hosting.headersAs(user),
    login: undefined,
    proxy: undefined,
  };
}

/** Where a side of a replication is by now. */
export function placeOf({ registry }: PeerHost, endpoint: Endpoint, user: UserContext): Endpoint {
  return endpoint.kind === 'local' ? (elsewhere(registry(), endpoint.name, user) ?? endpoint) : endpoint;
}

/** Makes one side of a replication. Whatever it does ends with the signal. */
export function makePeer(host: PeerHost, place: Endpoint, spec: ReplicationSpec, signal: AbortSignal): Peer {
  const { config, registry, scripts, makeDatabase, runtime, userAgent, counts } = host;
  if (place.kind === 'local')
    return new LocalPeer(registry, place.name, spec.user, { scripts, makeDatabase }, signal);
  return makeHttpPeer(place, spec, { tls: readTls(config), userAgent, signal, runtime, counts });
}
