import { isDbAdmin } from '../auth/rights.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Config } from '../config/config.js';
import { makeDatabase } from '../http/make-database.js';
import type { Services } from '../http/services.js';
import { ReplicatorGate } from '../replication/replicator-gate.js';
import { Replicator } from '../replication/replicator.js';

/** The replicator, with what it needs of the rest of the server. */
export function makeReplicator(services: () => Services): Replicator {
  const { config, logger, scripts, serverName, uuid } = services();
  const cluster = (): Cluster => services().cluster;
  return new Replicator({
    config,
    logger,
    cluster,
    scripts,
    makeDatabase: (name, params) => makeDatabase(cluster(), config, name, new Map(Object.entries(params))),
    userAgent: serverName,
    serverId: uuid,
  });
}

/** Has the rules of replicator databases kept. */
export function guardReplications(cluster: Cluster, config: Config): void {
  const gate = new ReplicatorGate(config, isDbAdmin);
  cluster.saveGates.push(gate);
  cluster.readGates.push(gate);
}
