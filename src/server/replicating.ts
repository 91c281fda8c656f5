import { isDbAdmin } from '../auth/rights.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Config } from '../config/config.js';
import { makeDatabase } from '../http/make-database.js';
import { ReplicatorGate } from '../replication/replicator-gate.js';
import { Replicator, type ReplicatorHost } from '../replication/replicator.js';

/** The replicator, which makes databases by the same rules as requests do. */
export function makeReplicator(host: Omit<ReplicatorHost, 'makeDatabase'>): Replicator {
  const { config, cluster } = host;
  return new Replicator({
    ...host,
    makeDatabase: (name, params) => makeDatabase(cluster(), config, name, new Map(Object.entries(params))),
  });
}

/** Has the rules of replicator databases kept. */
export function guardReplications(cluster: Cluster, config: Config): void {
  const gate = new ReplicatorGate(config, isDbAdmin);
  cluster.saveGates.push(gate);
  cluster.readGates.push(gate);
}
