import { setMaxListeners } from 'node:events';
import type { Logger } from '../base/logger.js';
import type { Job, JobRun } from './job.js';
import { addressOf, type Endpoint } from './endpoint.js';
import { readTls } from './http/dispatcher.js';
import type { LocalDoc, Peer } from './peer.js';
import { makePeer, placeOf, type PeerHost } from './peers.js';
import { Replication, type ReplicationWork, type Standing } from './replication.js';
import { RemoteWork, type ReplicationThread } from './replication-thread.js';
import { Stats } from './stats.js';

/** A replication that is stopped, or has failed, gets this long to note where it is. */
const lastCheckpointMs = 2_000;

/** One attempt at a job: both sides are opened, documents go from one to the other, and all is closed again. */
export class ActiveRun implements JobRun {
  readonly startedAt: Date;
  readonly pid: string;
  readonly opened: Promise<void>;
  readonly ended: Promise<LocalDoc>;
  readonly #controller = new AbortController();
  /** What is to be closed at its end. */
  readonly #closing: { close(): Promise<void> }[] = [];
  #replication: ReplicationWork | undefined;
  #isStopped = false;

  constructor(
    private readonly host: PeerHost,
    private readonly job: Job,
    private readonly logger: Logger,
    private readonly thread: ReplicationThread,
  ) {
    this.startedAt = host.runtime.date();
    this.pid = host.registry().tasks.nextPid();
    // Every request under way listens to it.
    setMaxListeners(0, this.#controller.signal);
    let opened!: () => void;
    let refused!: (error: unknown) => void;
    this.opened = new Promise((resolve, reject) => {
      opened = resolve;
      refused = reject;
    });
    this.ended = this.#go(opened);
    // There may be no waiter for the opening; errors are reported by the end of the run.
    this.ended.catch(refused);
    this.opened.catch(() => {
      if (!this.#isStopped) host.counts.failed_starts++;
    });
  }

  get stats(): Stats {
    return this.#replication?.stats ?? new Stats();
  }

  get standing(): Standing | undefined {
    return this.#replication?.standing;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#lastCheckpoint();
    await this.#close();
    await this.ended.catch(() => undefined);
  }

  async #lastCheckpoint(): Promise<void> {
    const patience = this.host.runtime.idleSleep(lastCheckpointMs);
    await Promise.race([this.#replication?.checkpoint().catch(() => undefined), patience]);
  }

  async #go(opened: () => void): Promise<LocalDoc> {
    let endTask = (): void => undefined;
    try {
      // A constructor that throws would leave a job without a run.
      await Promise.resolve();
      const { signal } = this.#controller;
      await this.#jitter(signal);
      this.#replication = this.#begin(signal);
      await this.#replication.open();
      endTask = this.host.registry().tasks.show(() => this.#describe());
      opened();
      return await this.#replication.run();
    } catch (error) {
      // What has arrived by then need not be compared again by the next run.
      if (!this.#controller.signal.aborted) await this.#lastCheckpoint();
      throw error;
    } finally {
      endTask();
      await this.#close();
    }
  }

  /** Between two other servers it goes on beside this thread. */
  #begin(signal: AbortSignal): ReplicationWork {
    const { host, job, logger } = this;
    const { runtime, counts, userAgent } = host;
    const { spec, replicationId: id } = job;
    const [source, target] = [spec.source, spec.target].map((endpoint) =>
      placeOf(host, endpoint, spec.user),
    ) as [Endpoint, Endpoint];
    if (source.kind === 'remote' && target.kind === 'remote') {
      const setup = { spec, id, source, target, tls: readTls(host.config), userAgent };
      const work = new RemoteWork(setup, { thread: this.thread, runtime, logger, counts });
      this.#closing.push(work);
      return work;
    }
    const peers = [source, target].map((place) => makePeer(host, place, spec, signal)) as [Peer, Peer];
    this.#closing.push(...peers);
    return new Replication({ spec, id, source: peers[0], target: peers[1], logger, signal, runtime, counts });
  }

  /** Replications of documents begin at different moments, so that a start of the server does not open all connections at once. */
  async #jitter(signal: AbortSignal): Promise<void> {
    const mostMs = this.host.config.number('replicator/startup_jitter');
    if (mostMs === 0 || this.job.origin === undefined) return;
    await this.host.runtime.sleep(this.host.runtime.randomBelow(mostMs), signal);
  }

  async #close(): Promise<void> {
    this.#controller.abort();
    await Promise.allSettled(this.#closing.map((each) => each.close()));
  }

  /** As `_active_tasks` shows it. */
  #describe(): LocalDoc {
    const { job, standing } = this;
    return {
      type: 'replication',
      pid: this.pid,
      node: this.host.registry().nodeName,
      database: job.origin?.database ?? null,
      doc_id: job.origin?.docId ?? null,
      replication_id: job.id,
      user: job.spec.user.name,
      source: addressOf(job.spec.source),
      target: addressOf(job.spec.target),
      continuous: job.spec.continuous,
      checkpoint_interval: job.spec.checkpointIntervalMs,
      ...job.stats.members(),
      changes_pending: standing?.pending ?? null,
      progress: progressOf(job.stats.missingChecked, standing?.pending),
      source_seq: standing?.sourceSeq ?? null,
      through_seq: standing?.throughSeq ?? null,
      checkpointed_source_seq: standing?.checkpointedSeq ?? null,
      started_on: seconds(this.startedAt),
      updated_on: seconds(this.#replication?.updatedAt ?? this.startedAt),
    };
  }
}

/** Of the changes that are known of so far, in percent. */
const progressOf = (done: number, pending: number | null | undefined): number =>
  pending === 0 ? 100 : Math.floor((100 * done) / (done + (pending ?? Infinity)));

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
