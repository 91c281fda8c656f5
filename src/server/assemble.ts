import os from 'node:os';
import { Accounts } from '../auth/accounts.js';
import { Authenticator } from '../auth/authenticator.js';
import { designGate } from '../auth/design-gate.js';
import { HashUpgrade } from '../auth/hash-upgrade.js';
import type { PasswordHasher } from '../auth/passwords.js';
import { setUp } from '../auth/system-databases.js';
import { UserDatabases } from '../auth/user-databases.js';
import { UsersGate } from '../auth/users-gate.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { TimerWheel } from '../base/timer-wheel.js';
import { packageVersion } from '../base/version.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Config } from '../config/config.js';
import { designDocGate } from '../design/check-design-doc.js';
import { validationGate } from '../design/validate-docs.js';
import { AutoPurge } from '../documents/auto-purge.js';
import { BatchWrites } from '../documents/batch-writes.js';
import { partitionedDesignGate, partitionSizeGate } from '../documents/partition-info.js';
import { CopyNeeded } from '../log/stream.js';
import { Compression } from '../http/answer/compression.js';
import { ProxyAndCorsPolicy } from '../http/answer/proxy-and-cors-policy.js';
import { WholeAnswers } from '../http/answer/whole-answers.js';
import { MemoryBudgets } from '../http/connection/memory-budgets.js';
import { Metrics } from '../http/metrics/metrics.js';
import type { Services } from '../http/services.js';
import type { Views } from '../indexes/views.js';
import { AutoCompaction } from '../node/auto-compaction.js';
import { AutoDivision } from '../node/auto-division.js';
import { checkStores } from '../node/check-stores.js';
import type { DataFolder } from '../node/data-folder.js';
import { DatabaseRegistry } from '../node/database-registry.js';
import { discardSystemDatabases } from '../node/discard-system-databases.js';
import { takeSharedConfig, watchSharedConfig } from '../node/shared-config.js';
import { installCopy } from '../node/received-copy.js';
import { sweepOrphans } from '../node/sweep-blobs.js';
import { Uuids } from '../node/uuids.js';
import { Expiry } from '../query/expiry.js';
import type { ScriptHost } from '../script/script-host.js';
import type { Store } from '../storage/store.js';
import { BackgroundIndexing, fillIndexes } from '../views/background-indexing.js';
import { soon } from './calls.js';
import { copyFromPeers } from './rejoin.js';
import { guardReplications, makeReplicator } from './replicating.js';

/** How often a start copies the stores of another node: the streams may have been trimmed again meanwhile. */
const copiesMax = 3;

/** Where data is kept. */
export interface StoreSource {
  openBlobs(): Promise<BlobStore>;
  openViews(): Views;
  /** In place of the volumes of a data folder or of the memory. */
  openStore?: (name: string) => Store;
  /** Whether every command is encoded and decoded before it is applied. */
  encodedCommands: boolean;
  /** How many groups a new database has. */
  groupsOfNew: number;
}

/** What a server is built on. A simulation has a runtime, stores and functions of its own, and builds the same on them. */
export interface Foundation {
  runtime: Runtime;
  config: Config;
  logger: Logger;
  folder: DataFolder | undefined;
  hasher: PasswordHasher;
  scripts: ScriptHost;
  stores: StoreSource;
  /** The cluster that the server is a node of. */
  cluster?: Cluster | undefined;
}

export interface Assembly {
  services: Services;
  accounts: Accounts;
  /** Opens the stores once more, after the registry was closed. */
  openRegistry(): Promise<DatabaseRegistry>;
  shutDown(): Promise<void>;
}

/** Puts together everything below the sockets of a server. */
export async function assemble(
  foundation: Foundation,
  controls: Pick<Services, 'reload' | 'restart'>,
): Promise<Assembly> {
  const { runtime, config, logger, hasher } = foundation;
  const registry = (): DatabaseRegistry => services.registry;
  const accounts = new Accounts(config, registry);
  const users = { accounts, gate: new UsersGate(config, hasher) };
  const openRegistry = (): Promise<DatabaseRegistry> => openStores(foundation, users);
  const authenticator = new Authenticator(config, accounts, logger, runtime, hasher);
  authenticator.upgrade = new HashUpgrade(config, accounts, registry, logger);
  const services: Services = {
    ...servicesFor(foundation, registry, authenticator),
    registry: await openRegistry().catch(async (error: unknown) => {
      await foundation.cluster?.close();
      throw error;
    }),
    ...(foundation.cluster && { cluster: foundation.cluster }),
    ...controls,
  };
  accounts.listeners.push(soon(() => services.registry.recheckFeeds(), runtime));
  return {
    services,
    accounts,
    openRegistry,
    shutDown: async () => {
      await services.replicator.close();
      await services.batches.flush();
      await services.registry.close();
      for (const part of [authenticator, services.policy, accounts, users.gate]) part.close();
    },
  };
}

/** The services of handlers, except for those that the caller adds. */
function servicesFor(
  { runtime, config, logger, hasher, folder, scripts }: Foundation,
  registry: () => DatabaseRegistry,
  authenticator: Authenticator,
): Omit<Services, 'registry' | 'reload' | 'restart'> {
  const version = packageVersion();
  const budgets = new MemoryBudgets(config, runtime);
  const uuid = config.text('couchdb/uuid') || (folder?.uuid ?? runtime.randomHex(16));
  const serverName = `Tuffet/${version}`;
  const replicator = makeReplicator({
    runtime,
    config,
    logger,
    registry,
    scripts,
    serverId: uuid,
    userAgent: serverName,
  });
  return {
    runtime,
    config,
    batches: new BatchWrites(registry, config, logger, runtime),
    replicator,
    authenticator,
    hasher,
    scripts,
    uuids: new Uuids(config, runtime),
    metrics: new Metrics({
      budgets,
      registry,
      dataFolder: folder?.folder,
      replicator,
      calls: scripts.counts,
      logger,
      credentials: authenticator.cacheCounts,
      hasher,
    }),
    wheel: new TimerWheel((error) => logger.error({ err: error }, 'a timer failed'), runtime),
    logger,
    policy: new ProxyAndCorsPolicy(config),
    compression: new Compression(config),
    wholeAnswers: new WholeAnswers(config, runtime),
    budgets,
    uuid,
    version,
    gather: () => Promise.resolve(),
    spoolFolder: folder?.folder ?? os.tmpdir(),
    serverName,
  };
}

/** Opens the stores of this server; where they are too old to continue from the streams of a cluster, those of another node. */
async function openStores(
  foundation: Foundation,
  users: { accounts: Accounts; gate: UsersGate },
): Promise<DatabaseRegistry> {
  const { cluster, folder, stores } = foundation;
  for (let copies = 0; ; copies++) {
    try {
      return await openOnce(foundation, users);
    } catch (error) {
      const mayCopy = cluster !== undefined && folder !== undefined && copies < copiesMax;
      if (!(error instanceof CopyNeeded) || !mayCopy) throw error;
      await copyFromPeers(cluster, folder, () => stores.openBlobs());
    }
  }
}

async function openOnce(
  { runtime, config, logger, folder, scripts, stores, cluster }: Foundation,
  users: { accounts: Accounts; gate: UsersGate },
): Promise<DatabaseRegistry> {
  if (folder !== undefined) {
    await installCopy(folder);
    if (cluster !== undefined) await discardSystemDatabases(folder, runtime);
    await checkStores(folder, logger, runtime);
  }
  const registry = new DatabaseRegistry(
    config,
    logger,
    folder,
    await stores.openBlobs(),
    stores.openViews(),
    stores.encodedCommands,
    runtime,
    stores.openStore,
    stores.groupsOfNew,
  );
  registry.saveGates.push(
    designGate,
    partitionedDesignGate,
    users.gate,
    partitionSizeGate(() => config.number('couchdb/max_partition_size')),
    designDocGate(scripts),
    validationGate(scripts),
  );
  registry.readGates.push(users.gate);
  registry.fillIndexes = (...given) => fillIndexes(registry, ...given);
  guardReplications(registry, config);
  users.accounts.watch(registry);
  new BackgroundIndexing(registry);
  new AutoCompaction(registry);
  new AutoDivision(registry);
  new AutoPurge(registry);
  new Expiry(registry);
  if (cluster !== undefined) watchSharedConfig(registry.membership, config);
  await registry.join(cluster).catch(async (error: unknown) => {
    await registry.close();
    throw error;
  });
  takeSharedConfig(registry.membership, config);
  await setUp(registry, config);
  new UserDatabases(registry, config, logger);
  sweepOrphans(registry).then(
    (removed) => removed > 0 && logger.info({ removed }, 'removed attachments that no document names'),
    (error: unknown) => logger.error({ err: error }, 'looking for attachments that no document names failed'),
  );
  return registry;
}
