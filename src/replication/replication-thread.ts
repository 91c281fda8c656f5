import { RpcThread } from '../base/rpc-thread.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { RemoteEndpoint } from './endpoint.js';
import type { TlsOptions } from './http/dispatcher.js';
import type { LocalDoc } from './peer.js';
import type { ReplicationLogger, ReplicationWork, Standing } from './replication.js';
import type { ReplicationId } from './replication-id.js';
import type { CountsTaken, ReplicatorCounts } from './replicator-counts.js';
import type { ReplicationSpec } from './spec.js';
import { Stats } from './stats.js';

/** What a run between two other servers needs to know. Plain data. */
export interface RemoteSetup {
  spec: ReplicationSpec;
  id: ReplicationId;
  source: RemoteEndpoint;
  target: RemoteEndpoint;
  tls: TlsOptions;
  userAgent: string;
}

export type ThreadRequest =
  | { kind: 'open'; run: number; setup: RemoteSetup }
  /** Both until its end; `checkpoint` may be asked for meanwhile, and `close` ends it. */
  | { kind: 'run' | 'checkpoint' | 'close'; run: number };

export interface LoggedLine {
  level: keyof ReplicationLogger;
  facts: object;
  message: string;
}

/** How far a run has come, and what has happened since the last report. */
export interface Report {
  stats: Partial<Stats>;
  standing: Standing | undefined;
  updatedAt: Date;
  counts: CountsTaken;
  lines: LoggedLine[];
}

/** A thread that has nothing to do for so long is ended. */
const idleMs = 3_000;

/** What other servers send may take so much: beyond that the thread ends, and its replications begin anew. */
const resourceLimits = { maxOldGenerationSizeMb: 1_024 };

type Thread = RpcThread<ThreadRequest, LocalDoc | undefined, Report>;

/**
 * The thread on which replications between two other servers go on. What a replicator has to do for a document, to read answers,
 * to hold them against each other and to write them again, takes a third of what source and target need for it; and an answer
 * that takes long to read keeps no request of this server waiting. It starts with the first of them.
 */
export class ReplicationThread {
  #thread: Thread | undefined;
  #runs = 0;
  #lastRun = 0;
  #idling: Timer | undefined;

  constructor(private readonly runtime: Runtime) {}

  /** To be left again. */
  enter(): { thread: Thread; run: number } {
    this.#idling?.cancel();
    this.#runs++;
    if (this.#thread === undefined || this.#thread.hasEnded) {
      const module = new URL('./replication-worker.js', import.meta.url);
      this.#thread = new RpcThread(module, { name: 'tuffet-replications', resourceLimits });
    }
    return { thread: this.#thread, run: ++this.#lastRun };
  }

  leave(): void {
    this.#runs--;
    if (this.#runs === 0) this.#idling = this.runtime.setIdleTimer(() => void this.close(), idleMs);
  }

  async close(): Promise<void> {
    this.#idling?.cancel();
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.stop();
  }
}

export interface RemoteWorkTools {
  thread: ReplicationThread;
  runtime: Runtime;
  logger: ReplicationLogger;
  counts: ReplicatorCounts;
}

/** A run of a replication on that thread. */
export class RemoteWork implements ReplicationWork {
  readonly stats = new Stats();
  standing: Standing | undefined;
  updatedAt: Date;
  readonly #entered: ReturnType<ReplicationThread['enter']>;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly setup: RemoteSetup,
    private readonly tools: RemoteWorkTools,
  ) {
    this.updatedAt = tools.runtime.date();
    this.#entered = tools.thread.enter();
  }

  async open(): Promise<void> {
    await this.#call({ kind: 'open', run: this.#entered.run, setup: this.setup });
  }

  async run(): Promise<LocalDoc> {
    return (await this.#call({ kind: 'run', run: this.#entered.run }))!;
  }

  async checkpoint(): Promise<void> {
    await this.#call({ kind: 'checkpoint', run: this.#entered.run });
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    try {
      await this.#call({ kind: 'close', run: this.#entered.run });
    } finally {
      this.tools.thread.leave();
    }
  }

  #call(request: ThreadRequest): Promise<LocalDoc | undefined> {
    return this.#entered.thread.call(request, { onNote: (report) => this.#take(report) });
  }

  #take({ stats, standing, updatedAt, counts, lines }: Report): void {
    Object.assign(this.stats, stats);
    this.standing = standing;
    this.updatedAt = updatedAt;
    this.tools.counts.add(counts);
    for (const { level, facts, message } of lines) this.tools.logger[level](facts, message);
  }
}
