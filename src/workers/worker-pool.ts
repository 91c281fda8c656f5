import type { Socket } from 'node:net';
import type { Accounts } from '../auth/accounts.js';
import { backoffMs } from '../base/backoff.js';
import { openSections, schema } from '../config/schema.js';
import type { HttpServer } from '../http/connection/http-server.js';
import type { Services } from '../http/services.js';
import type { DataFolder } from '../node/data-folder.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { OtherReaders } from '../storage/other-readers.js';
import { EpochWriter } from './epochs.js';
import { listenForWorkers } from './inner-listener.js';
import type { OwnerMessage, Report, WorkerMessage } from './messages.js';
import { noteReport } from './note-report.js';
import { PermitIssuer } from './permit-issuer.js';
import { workerConfig } from './worker-config.js';
import { workersOf } from './worker-count.js';
import { WorkerFolder } from './worker-folder.js';
import { WorkerHandle } from './worker-handle.js';

/** How long to wait before a worker that has ended is replaced: at once, unless it never got to work. */
const replacing = { firstMs: 100, longestMs: 30_000 };
const startMs = 30_000;
const reportMs = 2_000;
const notStarted = 'a worker could not be started, which is tried again';

/**
 * The workers of a server. This process, which owns the data folder, accepts all connections, and shares them out among the
 * workers and itself.
 */
export class WorkerPool implements OtherReaders {
  readonly #workers = new Set<WorkerHandle>();
  readonly #folder: WorkerFolder;
  readonly #blobs: string;
  readonly #epochs: EpochWriter;
  readonly #issuer: PermitIssuer;
  readonly #stopListening: (() => void)[];
  #endListening: () => void = () => undefined;
  #configChanged = false;
  #failures = 0;
  #turn = 0;
  #closing = false;
  #closed: Promise<void> | undefined;

  /** The pool of a server; undefined where one process serves it. */
  static for(
    services: Services,
    server: HttpServer,
    accounts: Accounts,
    folder: DataFolder | undefined,
  ): WorkerPool | undefined {
    const count = workersOf(services.config, folder);
    if (folder === undefined || count === 1) return undefined;
    const pool = new WorkerPool(services, server, accounts, folder, count - 1);
    services.gather = () => pool.gather();
    return pool;
  }

  private constructor(
    private readonly services: Services,
    private readonly server: HttpServer,
    accounts: Accounts,
    folder: DataFolder,
    /** Processes beside this one. */
    private readonly count: number,
  ) {
    const { config, logger } = services;
    this.#folder = new WorkerFolder(folder.path('workers'));
    this.#blobs = folder.path('attachments');
    this.#epochs = new EpochWriter((error) => {
      logger.error({ err: error }, 'workers cannot be told of changes, and are ended');
      this.#closing = true;
      for (const worker of this.#workers) worker.kill();
    });
    this.#issuer = new PermitIssuer(services, this.#epochs);
    accounts.listeners.push(() => this.#epochs.raise());
    const options = [...Object.keys(schema), ...Object.keys(openSections)];
    const sections = new Set(options.map((name) => name.split('/')[0]!));
    this.#stopListening = [...sections].map((section) =>
      config.onChange(section, undefined, () => this.#configure()),
    );
  }

  /** Starts the workers. Resolves when they are ready, or have failed to start. */
  async start(): Promise<void> {
    const { config, logger, registry } = this.services;
    this.watch(registry);
    try {
      this.#folder.create();
      this.#epochs.open(this.#folder.epochsPath);
      this.#endListening = await listenForWorkers(this.#folder.socketPath(), this.server, config);
    } catch (error) {
      logger.error({ err: error }, 'workers cannot be started: one process serves all connections');
      return;
    }
    await Promise.all(Array.from({ length: this.count }, () => this.#begin()));
  }

  /** To be called for each registry that is opened. */
  watch(registry: DatabaseRegistry): void {
    this.#epochs.raise();
    this.#issuer.volumes = registry.shareVolumes(this);
    for (const backend of registry.views.backends.all) backend.share(this);
    registry.watch({
      committed: () => undefined,
      catalogued: (name) => this.#epochs.raiseFor(name),
      closing: () => this.#epochs.raise(),
    });
  }

  /** Gives a new connection to who has the fewest. */
  readonly share = (socket: Socket): void => {
    const { metrics, config } = this.services;
    const all = [this.server, ...[...this.#workers].filter(({ isReady }) => isReady)];
    const total = all.reduce((sum, { connections }) => sum + connections, 0);
    if (total >= config.number('tuffet/connections_max')) return void socket.destroy();
    // Of several with equally many, each gets its turn.
    this.#turn++;
    let chosen = all[this.#turn % all.length]!;
    for (const each of all) if (each.connections < chosen.connections) chosen = each;
    if (chosen !== this.server) metrics.connections++;
    chosen.give(socket);
  };

  moved(): void {
    this.#epochs.raise();
  }

  async release(folder: string, next?: string): Promise<void> {
    this.#issuer.closedFolders.add(folder);
    this.#epochs.raise();
    await this.#askAll({ type: 'release', folder, next });
  }

  reopened(folder: string): void {
    this.#issuer.closedFolders.delete(folder);
  }

  async ended(group: number): Promise<void> {
    await this.#askAll({ type: 'ended', group });
  }

  /** Workers that have not begun have nothing open. */
  async #askAll(message: OwnerMessage): Promise<void> {
    const begun = [...this.#workers].filter(({ isReady }) => isReady);
    await Promise.all(begun.map((worker) => worker.ask(message)));
  }

  /** Brings the figures of requests that workers have answered up to date. */
  async gather(): Promise<void> {
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        if (!worker.isReady) return;
        const report = await Promise.race([
          worker.ask<Report>({ type: 'report' }),
          this.services.runtime.idleSleep(reportMs),
        ]);
        if (report) noteReport(this.services, report);
      }),
    );
  }

  /** Has the workers finish what they are at, and end. No connection may come any more. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closing = true;
    const waitMs = this.services.config.number('tuffet/close_timeout_ms') + startMs;
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        if (worker.isReady) {
          const report = await worker.ask<Report>({ type: 'close' }, waitMs);
          if (report) noteReport(this.services, report);
        }
        worker.kill();
        await worker.exited();
      }),
    );
    this.#endListening();
    for (const stop of this.#stopListening) stop();
    this.#epochs.close();
    this.#folder.remove();
  }

  async #begin(): Promise<void> {
    const { config, logger, runtime, serverName } = this.services;
    const worker = this.#fork();
    if (worker === undefined) return;
    const timer = runtime.setIdleTimer(() => worker.kill(), startMs);
    try {
      await worker.start({
        config: workerConfig(config.all()),
        logsRequests: logger.logsRequests,
        folder: this.#folder.folder,
        serverName,
        blobs: this.#blobs,
      });
      this.#failures = 0;
      logger.info({ worker: worker.pid }, 'a worker is ready');
    } catch {
      // It may run, and yet not be able to work. Its end is seen to where it is told.
      worker.kill();
    } finally {
      timer.cancel();
    }
  }

  /** Undefined where that fails: then it is tried again later. */
  #fork(): WorkerHandle | undefined {
    const { logger, runtime } = this.services;
    try {
      const worker = new WorkerHandle(runtime, {
        asked: (from, message) => this.#answer(from, message),
        ended: (ended, left) => this.#replace(ended, left),
      });
      this.#workers.add(worker);
      return worker;
    } catch (error) {
      logger.error({ err: error }, notStarted);
      this.#beginLater();
      return undefined;
    }
  }

  #replace(worker: WorkerHandle, left: readonly Socket[]): void {
    const { logger, metrics } = this.services;
    this.#workers.delete(worker);
    metrics.connections -= worker.connections;
    this.#issuer.volumes?.forgetReaders();
    for (const backend of this.services.registry.views.backends.all)
      if (backend.storeFolder !== undefined && !this.#closing) backend.store.forgetReaders?.();
    for (const socket of left) this.server.give(socket);
    if (this.#closing) return;
    if (worker.failure) logger.error({ err: worker.failure }, notStarted);
    else logger.warn({ worker: worker.pid }, 'a worker has ended, and is replaced');
    this.#beginLater();
  }

  #beginLater(): void {
    const waitMs = backoffMs(++this.#failures, replacing);
    this.services.runtime.setIdleTimer(() => this.#closing || void this.#begin(), waitMs);
  }

  #answer(worker: WorkerHandle, message: WorkerMessage): unknown {
    switch (message.type) {
      case 'permit':
        return this.#issuer.grant(message.request).then((granted) => {
          // It goes by the configuration that the worker has when it comes.
          this.#sendConfig();
          return granted;
        });
      case 'report':
        return noteReport(this.services, message.report);
      case 'closed':
        worker.connections -= message.connections;
        this.services.metrics.connections -= message.connections;
        return undefined;
    }
  }

  #configure(): void {
    this.#epochs.raise();
    if (this.#configChanged) return;
    this.#configChanged = true;
    this.services.runtime.defer(() => this.#sendConfig());
  }

  #sendConfig(): void {
    if (!this.#configChanged) return;
    this.#configChanged = false;
    const { config, logger } = this.services;
    const message = {
      type: 'config',
      config: workerConfig(config.all()),
      logsRequests: logger.logsRequests,
    } as const;
    for (const worker of this.#workers) worker.tell(message);
  }
}
