import { hashPlainAdmins, hasAdmin, reloadConfig } from '../auth/admins.js';
import { checkHandlers } from '../auth/handlers.js';
import { PasswordHasher } from '../auth/passwords.js';
import { ensureSecret } from '../auth/session-cookies.js';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import { FileBlobStore } from '../blobs/file-blob-store.js';
import { MemoryBlobStore } from '../blobs/memory-blob-store.js';
import { Config } from '../config/config.js';
import { HttpServer } from '../http/connection/http-server.js';
import type { Services } from '../http/services.js';
import { WorkerFolder } from '../workers/worker-folder.js';
import { WorkerPool } from '../workers/worker-pool.js';
import { DataFolder } from '../node/data-folder.js';
import { removeUnfinishedCopies } from '../node/received-copy.js';
import { assemble, type StoreSource } from './assemble.js';
import { once } from './calls.js';
import { becomingNode } from './becoming-node.js';
import { cookieSecret, openCluster } from './clustering.js';
import { openLog, type Log } from './logging.js';
import { OwnedWork } from './owned-work.js';
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
  const config = configOf(options);
  if (!hasAdmin(config)) throw new StartupError('A server needs at least one server admin.');
  const folder = options.inMemory ? undefined : DataFolder.open(options.dataDir!, runtime);
  let log: Log | undefined;
  try {
    if (folder !== undefined) {
      new WorkerFolder(folder.path('workers')).clear();
      removeUnfinishedCopies(folder);
    }
    log = options.logger === undefined ? openLog(config, folder, runtime) : { logger: options.logger };
    return await start(config, folder, log, runtime, options.onRecreate);
  } catch (error) {
    await log?.close?.();
    folder?.release();
    throw error;
  }
}

function configOf(options: ServerOptions): Config {
  const config = new Config(configOptions(options));
  const secret = cookieSecret(config);
  if (secret === undefined) return config;
  const chttpd_auth = { ...options.config?.['chttpd_auth'], secret };
  return new Config(configOptions({ ...options, config: { ...options.config, chttpd_auth } }));
}

async function start(
  config: Config,
  folder: DataFolder | undefined,
  log: Log,
  runtime: Runtime,
  onRecreate: (() => void) | undefined,
): Promise<TuffetServer> {
  const { logger } = log;
  const stopListening = config.onChange('log', 'level', (level) => logger.setLevel(level ?? 'notice'));
  const hasher = new PasswordHasher(runtime);
  reportConfig(config, logger, runtime, await hashPlainAdmins(config, hasher));
  const scripting = new Scripting(runtime, config, logger);
  const cluster = await openCluster(config, logger, runtime);
  const stores = storesOf(folder, scripting, runtime);
  const foundation = { runtime, config, logger, folder, hasher, cluster, stores, scripts: scripting.host };
  const assembly = await assemble(foundation, {
    reload: () => reload(services, () => server.reload()),
    // What is only in memory has nothing to be opened again from.
    restart: () => (folder === undefined ? services.batches.flush() : restarting.restart()),
  });
  const { services } = assembly;
  const server = new HttpServer(services);
  Object.assign(services, becomingNode(services, server.admission, folder, onRecreate));
  const owned = new OwnedWork(services, cluster, logger);
  const pool = WorkerPool.for(services, server, assembly.accounts, folder);
  const restarting = new Restarting(assembly, server.admission, owned, pool);
  const shutDown = async (): Promise<void> => {
    await assembly.shutDown();
    await cluster?.close();
    await scripting.close();
    stopListening();
    folder?.release();
  };
  const urls = await server.listen(pool?.share).catch(async (error: unknown) => {
    await shutDown();
    throw error;
  });
  cluster?.advertise(urls.url);
  await Promise.all([owned.start(), pool?.start()]);
  logger.notice({ ...urls, data: folder?.folder ?? null }, 'listening');
  const started = runtime.monotonicMs();
  return {
    ...urls,
    port: Number(new URL(urls.url).port || 80),
    ...(folder === undefined ? {} : { dataDir: folder.folder }),
    close: once(async () => {
      await restarting.settled();
      // Replications are clients too, perhaps of this very server.
      await services.replicator.close();
      services.registry.endFeeds('server_closing');
      await Promise.all([server.close(), pool?.close()]);
      await shutDown();
      logger.notice({ uptime_s: Math.round((runtime.monotonicMs() - started) / 1000) }, 'stopped');
      await log.close?.();
    }),
  };
}

/** The stores of a data folder, or of a server that keeps everything in memory. */
function storesOf(folder: DataFolder | undefined, scripting: Scripting, runtime: Runtime): StoreSource {
  return {
    openBlobs: async () =>
      folder === undefined
        ? new MemoryBlobStore()
        : await FileBlobStore.open(folder.path('attachments'), undefined, runtime),
    openViews: () => scripting.openViews(folder),
    // The tests run with every command encoded and decoded, and with several groups for each database, too.
    encodedCommands: process.env['TUFFET_ENCODED_COMMANDS'] === '1',
    groupsOfNew: Number(process.env['TUFFET_GROUPS'] ?? 1) || 1,
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
