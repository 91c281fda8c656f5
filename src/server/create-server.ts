import { SystemRuntime, type Runtime } from '../base/runtime.js';
import os from 'node:os';
import { Accounts } from '../auth/accounts.js';
import { hashPlainAdmins, hasAdmin, reloadConfig } from '../auth/admins.js';
import { Authenticator } from '../auth/authenticator.js';
import { HashUpgrade } from '../auth/hash-upgrade.js';
import { designGate } from '../auth/design-gate.js';
import { checkHandlers } from '../auth/handlers.js';
import { ensureSecret } from '../auth/session-cookies.js';
import { setUp } from '../auth/system-databases.js';
import { UserDatabases } from '../auth/user-databases.js';
import { PasswordHasher } from '../auth/passwords.js';
import { UsersGate } from '../auth/users-gate.js';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { StartupError } from '../base/startup-error.js';
import { TimerWheel } from '../base/timer-wheel.js';
import { packageVersion } from '../base/version.js';
import { Expiry } from '../query/expiry.js';
import { BackgroundIndexing, fillIndexes } from '../views/background-indexing.js';
import { AutoPurge } from '../documents/auto-purge.js';
import { BatchWrites } from '../documents/batch-writes.js';
import { FileBlobStore } from '../blobs/file-blob-store.js';
import { MemoryBlobStore } from '../blobs/memory-blob-store.js';
import { AutoCompaction } from '../node/auto-compaction.js';
import { AutoDivision } from '../node/auto-division.js';
import { checkStores } from '../node/check-stores.js';
import { designDocGate } from '../design/check-design-doc.js';
import { DatabaseRegistry } from '../node/database-registry.js';
import { DataFolder } from '../node/data-folder.js';
import { partitionedDesignGate, partitionSizeGate } from '../documents/partition-info.js';
import { sweepOrphans } from '../node/sweep-blobs.js';
import { Uuids } from '../node/uuids.js';
import { validationGate } from '../design/validate-docs.js';
import { Config } from '../config/config.js';
import { Compression } from '../http/answer/compression.js';
import { ProxyAndCorsPolicy } from '../http/answer/proxy-and-cors-policy.js';
import { HttpServer } from '../http/connection/http-server.js';
import { MemoryBudgets } from '../http/connection/memory-budgets.js';
import { Metrics } from '../http/metrics/metrics.js';
import type { Services } from '../http/services.js';
import { once, soon } from './calls.js';
import { openLog, type Log } from './logging.js';
import { guardReplications, makeReplicator } from './replicating.js';
import { Restarting } from './restarting.js';
import { Scripting } from './scripting.js';
import { configOptions, type ServerOptions } from './server-options.js';

export interface TuffetServer {
  /** Without a slash at the end. */
  url: string;
  /** The port of `url`. */
  port: number;
  /** The address for TLS, where `[ssl] enable` is set. */
  tlsUrl?: string;
  dataDir?: string;
  /**
   * Takes no new requests, lets those under way finish for as long as `[tuffet] close_timeout_ms` says, and closes the data
   * folder.
   */
  close(): Promise<void>;
}

/** Starts a server inside this process. Many may run side by side, each with a data folder of its own. */
export async function createServer(options: ServerOptions): Promise<TuffetServer> {
  if (options.dataDir === undefined && !options.inMemory) {
    throw new StartupError('A server needs a data folder (dataDir) or inMemory.');
  }
  const runtime = new SystemRuntime();
  const config = new Config(configOptions(options));
  if (!hasAdmin(config)) throw new StartupError('A server needs at least one server admin.');
  const folder = options.inMemory ? undefined : DataFolder.open(options.dataDir!, runtime);
  let log: Log | undefined;
  try {
    log = options.logger === undefined ? openLog(config, folder, runtime) : { logger: options.logger };
    return await start(config, folder, log, runtime);
  } catch (error) {
    log?.close?.();
    folder?.release();
    throw error;
  }
}

async function start(
  config: Config,
  folder: DataFolder | undefined,
  log: Log,
  runtime: Runtime,
): Promise<TuffetServer> {
  const { logger } = log;
  const stopListening = config.onChange('log', 'level', (level) => logger.setLevel(level ?? 'notice'));
  const hasher = new PasswordHasher(runtime);
  reportConfig(config, logger, runtime, await hashPlainAdmins(config, hasher));
  const scripting = new Scripting(runtime, config, logger);
  const registry = (): DatabaseRegistry => services.registry;
  const accounts = new Accounts(config, registry);
  const users = { accounts, gate: new UsersGate(config, hasher) };
  const openRegistry = (): Promise<DatabaseRegistry> =>
    openStores(runtime, config, logger, folder, scripting, users);
  const authenticator = new Authenticator(config, accounts, logger, runtime, hasher);
  const services: Services = {
    ...servicesFor(runtime, config, logger, hasher, folder, registry, scripting.host, authenticator),
    registry: await openRegistry(),
    reload: () => reload(services, () => server.reload()),
    // What is only in memory has nothing to be opened again from.
    restart: () => (folder === undefined ? services.batches.flush() : restarting.restart()),
  };
  const { batches, replicator } = services;
  accounts.onChange = soon(() => services.registry.recheckFeeds(), runtime);
  const server = new HttpServer(services);
  const restarting = new Restarting(services, openRegistry, server.admission);
  const shutDown = async (): Promise<void> => {
    await replicator.close();
    await batches.flush();
    await services.registry.close();
    await scripting.close();
    for (const part of [authenticator, services.policy, accounts, users.gate]) part.close();
    stopListening();
    folder?.release();
  };
  const urls = await server.listen().catch(async (error: unknown) => {
    await shutDown();
    throw error;
  });
  await replicator.start();
  logger.notice({ ...urls, data: folder?.folder ?? null }, 'listening');
  const started = runtime.monotonicMs();
  return {
    ...urls,
    port: Number(new URL(urls.url).port || 80),
    ...(folder === undefined ? {} : { dataDir: folder.folder }),
    close: once(async () => {
      await restarting.settled();
      // Replications are clients too, perhaps of this very server.
      await replicator.close();
      services.registry.endFeeds('server_closing');
      await server.close();
      await shutDown();
      logger.notice({ uptime_s: Math.round((runtime.monotonicMs() - started) / 1000) }, 'stopped');
      log.close?.();
    }),
  };
}

/** What handlers work with, as far as it stands for itself. */
function servicesFor(
  runtime: Runtime,
  config: Config,
  logger: Logger,
  hasher: PasswordHasher,
  folder: DataFolder | undefined,
  registry: () => DatabaseRegistry,
  scripts: Services['scripts'],
  authenticator: Authenticator,
): Omit<Services, 'registry' | 'reload' | 'restart'> {
  const version = packageVersion();
  const budgets = new MemoryBudgets(config, runtime);
  const uuid = config.text('couchdb/uuid') || (folder?.uuid ?? runtime.randomHex(16));
  const serverName = `Tuffet/${version}`;
  authenticator.upgrade = new HashUpgrade(config, registry, logger);
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
      jobs: replicator.scheduler,
      credentials: authenticator.cacheCounts,
    }),
    wheel: new TimerWheel((error) => logger.error({ err: error }, 'a timer failed'), runtime),
    logger,
    policy: new ProxyAndCorsPolicy(config),
    compression: new Compression(config),
    budgets,
    uuid,
    version,
    spoolFolder: folder?.folder ?? os.tmpdir(),
    serverName,
  };
}

function reportConfig(
  config: Config,
  logger: Logger,
  runtime: Runtime,
  { unwritable }: { unwritable: string[] },
): void {
  for (const file of unwritable) {
    logger.warn({ file }, 'a password in clear text could not be replaced in its file');
  }
  ensureSecret(config, runtime);
  checkHandlers(config);
  for (const problem of config.problems()) logger.warn({}, problem);
  for (const hint of config.hints()) logger.notice({}, hint);
}

/** What can't be used stays as it was, and the client that asked for it is told why. */
async function reload(
  { config, logger, runtime, hasher }: Services,
  reloadServer: () => void,
): Promise<void> {
  try {
    reportConfig(config, logger, runtime, await reloadConfig(config, hasher));
    reloadServer();
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    logger.error({}, error.message);
    throw new RequestError('internal_server_error', error.message);
  }
}

async function openStores(
  runtime: Runtime,
  config: Config,
  logger: Logger,
  folder: DataFolder | undefined,
  scripting: Scripting,
  users: { accounts: Accounts; gate: UsersGate },
): Promise<DatabaseRegistry> {
  if (folder !== undefined) await checkStores(folder, logger, runtime);
  const blobs =
    folder === undefined
      ? new MemoryBlobStore()
      : await FileBlobStore.open(folder.path('attachments'), undefined, runtime);
  // The tests run with every command encoded and decoded, and with several groups for each database, too.
  const encodedCommands = process.env['TUFFET_ENCODED_COMMANDS'] === '1';
  const groupsOfNew = Number(process.env['TUFFET_GROUPS'] ?? 1) || 1;
  const views = scripting.openViews(folder);
  const registry = new DatabaseRegistry(
    config,
    logger,
    folder,
    blobs,
    views,
    encodedCommands,
    runtime,
    undefined,
    groupsOfNew,
  );
  registry.saveGates.push(
    designGate,
    partitionedDesignGate,
    users.gate,
    partitionSizeGate(() => config.number('couchdb/max_partition_size')),
    designDocGate(scripting.host),
    validationGate(scripting.host),
  );
  registry.readGates.push(users.gate);
  registry.fillIndexes = (database, indexes) => fillIndexes(registry, database, indexes);
  guardReplications(registry, config);
  users.accounts.watch(registry);
  new BackgroundIndexing(registry);
  new AutoCompaction(registry);
  new AutoDivision(registry);
  new AutoPurge(registry);
  new Expiry(registry);
  await setUp(registry, config);
  new UserDatabases(registry, config, logger);
  sweepOrphans(registry).then(
    (removed) => removed > 0 && logger.info({ removed }, 'removed attachments that no document names'),
    (error: unknown) => logger.error({ err: error }, 'looking for attachments that no document names failed'),
  );
  return registry;
}
