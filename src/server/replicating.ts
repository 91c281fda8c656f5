import { isDbAdmin } from '../auth/rights.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Config } from '../config/config.js';
import { makeDatabase } from '../http/request/make-database.js';
import { ReplicatorGate } from '../replication/replicator-gate.js';
import { ReplicatorCounts } from '../replication/replicator-counts.js';
import { Replicator, type ReplicatorHost } from '../replication/replicator.js';

/** The replicator, which makes databases by the same rules as requests do. */
export function makeReplicator(host: Omit<ReplicatorHost, 'makeDatabase' | 'counts'>): Replicator {
  const { config, registry } = host;
  return new Replicator({
    ...host,
    counts: new ReplicatorCounts(),
    makeDatabase: (name, params) => makeDatabase(registry(), config, name, new Map(Object.entries(params))),
  });
}

/** Has the rules of replicator databases kept. */
export function guardReplications(registry: DatabaseRegistry, config: Config): void {
  const gate = new ReplicatorGate(config, isDbAdmin);
  registry.saveGates.push(gate);
  registry.readGates.push(gate);
}
