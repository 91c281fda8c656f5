import type { Socket } from 'node:net';
import { createLogger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import { TimerWheel } from '../base/timer-wheel.js';
import { Config } from '../config/config.js';
import { Compression } from '../http/answer/compression.js';
import { ProxyAndCorsPolicy } from '../http/answer/proxy-and-cors-policy.js';
import { WholeAnswers } from '../http/answer/whole-answers.js';
import { HttpServer } from '../http/connection/http-server.js';
import { MemoryBudgets } from '../http/connection/memory-budgets.js';
import type { Services } from '../http/services.js';
import { AttachmentPins } from '../node/attachment-pins.js';
import { EpochReader } from './epochs.js';
import { Forwarder } from './forwarder.js';
import { LocalReads } from './local-reads.js';
import type {
  ConfigValues,
  Granted,
  Permit,
  PermitRequest,
  Report,
  WorkerMessage,
  WorkerSettings,
} from './messages.js';
import { Permits, type Reader } from './permits.js';
import { ReadBlobs } from './read-blobs.js';
import { ReadIndexes } from './read-indexes.js';
import { ReadRegistry } from './read-registry.js';
import { ReadStores } from './read-stores.js';
import { ReportBuffer } from './report-buffer.js';
import { WorkerFolder } from './worker-folder.js';
import { WorkerHandler } from './worker-handler.js';

/** How often a worker reports what it has answered, and that it is well. */
const reportMs = 500;

/** The way to the owner of the data folder. */
export interface Owner {
  tell(message: WorkerMessage): void;
  requestPermit(request: PermitRequest): Promise<Granted | undefined>;
}

/** What serves connections in a worker. */
export class WorkerServer {
  readonly #config: Config;
  readonly #server: HttpServer;
  readonly #stores: ReadStores;
  readonly #reports: ReportBuffer;
  readonly #runtime = new SystemRuntime();
  /** Connections that were closed and not told of yet. */
  #closed = 0;

  constructor(
    { config, logsRequests, folder, serverName, blobs: blobFolder }: WorkerSettings,
    private readonly owner: Owner,
  ) {
    const runtime = this.#runtime;
    this.#config = new Config({ overrides: { ...config, ssl: {} } });
    this.#reports = new ReportBuffer(() => this.#report());
    this.#reports.logsRequests = logsRequests;
    const services = workerServices(this.#config, runtime, serverName, this.#reports);
    const indexes = new ReadIndexes(this.#config.number('tuffet/index_cache_bytes'), runtime);
    this.#stores = new ReadStores(indexes, runtime);
    const blobs = new ReadBlobs(blobFolder);
    const node = { ...services, blobs, pins: new AttachmentPins(blobs), indexes };
    const open = (name: string, permit: Permit): Omit<Reader, 'user'> => {
      const database = this.#stores.open(name, permit);
      return {
        database,
        services: { ...services, registry: new ReadRegistry(node, database).asRegistry },
      };
    };
    const shared = new WorkerFolder(folder);
    const epochs = new EpochReader(shared.epochsPath);
    const permits = new Permits(epochs, open, runtime, (request) => owner.requestPermit(request));
    const parts = {
      reads: new LocalReads(services, permits),
      permits,
      forwarder: new Forwarder(shared.socketPath(), runtime),
      reports: this.#reports,
    };
    this.#server = new HttpServer(services, (options) => new WorkerHandler(services, parts, options));
    runtime.setIdleRepeating(() => this.#report(), reportMs);
  }

  give(socket: Socket): void {
    socket.allowHalfOpen = true;
    socket.once('close', () => {
      if (this.#closed++ === 0) this.#runtime.defer(() => this.#tellClosed());
    });
    this.#server.give(socket);
  }

  configure(config: ConfigValues, logsRequests: boolean): void {
    this.#config.override(config);
    this.#reports.logsRequests = logsRequests;
  }

  async release(folder: string, next: string | undefined): Promise<void> {
    await this.#stores.release(folder, next);
  }

  end(group: number): void {
    this.#stores.end(group);
  }

  report(): Report {
    return this.#reports.take();
  }

  /** Finishes what is under way, and gives what is left to report. */
  async close(): Promise<Report> {
    await this.#server.close();
    return this.report();
  }

  #report(): void {
    this.owner.tell({ type: 'report', report: this.report() });
  }

  #tellClosed(): void {
    this.owner.tell({ type: 'closed', connections: this.#closed });
    this.#closed = 0;
  }
}

/** Of all that handlers work with, what those that read need, and connections. */
function workerServices(
  config: Config,
  runtime: SystemRuntime,
  serverName: string,
  { counts }: ReportBuffer,
): Services {
  const logger = createLogger({
    level: config.choice('log/level'),
    format: config.choice('log/format'),
    runtime,
  });
  config.onChange('log', 'level', (level) => logger.setLevel(level ?? 'notice'));
  const services: Partial<Services> = {
    config,
    runtime,
    logger,
    serverName,
    policy: new ProxyAndCorsPolicy(config),
    compression: new Compression(config),
    wholeAnswers: new WholeAnswers(config, runtime),
    budgets: new MemoryBudgets(config, runtime),
    wheel: new TimerWheel((error) => logger.error({ err: error }, 'a timer failed'), runtime),
    // Counted by the owner of the data folder, from what is reported to it.
    metrics: counts as unknown as Services['metrics'],
    // Requests are given one for their database.
    registry: { isClosing: false } as Services['registry'],
  };
  return services as Services;
}
