import type { Runtime } from '../base/runtime.js';
import type { Logger } from '../base/logger.js';
import { addressOf, proxyAddressOf } from './endpoint.js';
import type { LocalDoc } from './peer.js';
import type { Standing } from './replication.js';
import { fullId, type ReplicationId } from './replication-id.js';
import type { ReplicationSpec } from './spec.js';
import { Stats } from './stats.js';

/** The document that asks for a replication. */
export interface JobOrigin {
  database: string;
  docId: string;
}

export type JobState = 'pending' | 'running' | 'crashing';

interface JobEvent {
  type: 'added' | 'started' | 'stopped' | 'crashed';
  time: Date;
  reason?: string;
}

/** What runs for a job: to be stopped, and looked at. */
export interface JobRun {
  readonly startedAt: Date;
  readonly pid: string;
  readonly stats: Stats;
  readonly standing: Standing | undefined;
  /** Resolves when both sides are open; rejects where they can't be. */
  readonly opened: Promise<void>;
  /** The answer of one that came to its end. */
  readonly ended: Promise<LocalDoc>;
  /** Notes how far it has come and ends it. */
  stop(): Promise<void>;
}

export type StartRun = (job: Job, logger: Logger) => JobRun;

/** A replication that is to be done, whether it runs or not. */
export class Job {
  readonly id: string;
  readonly addedAt: Date;
  /** The newest first. */
  readonly #events: JobEvent[] = [];
  /** What runs before this one did. */
  readonly #done = new Stats();
  run: JobRun | undefined;
  #waiting: { resolve(answer: LocalDoc): void; reject(error: unknown): void }[] = [];
  #lastStanding: Standing | undefined;
  /** Failures in a row. */
  errorCount = 0;
  lastError: string | undefined;

  constructor(
    readonly replicationId: ReplicationId,
    readonly spec: ReplicationSpec,
    /** Undefined for one that `/_replicate` asked for. */
    readonly origin: JobOrigin | undefined,
    private readonly runtime: Runtime,
  ) {
    this.addedAt = runtime.date();
    this.id = fullId(replicationId);
  }

  get state(): JobState {
    if (this.run !== undefined) return 'running';
    return this.errorCount > 0 ? 'crashing' : 'pending';
  }

  get lastUpdated(): Date {
    return this.#events[0]?.time ?? this.addedAt;
  }

  note(event: Omit<JobEvent, 'time'>, historyMax: number): void {
    this.#events.unshift({ ...event, time: this.runtime.date() });
    if (this.#events.length > historyMax) this.#events.length = historyMax;
  }

  /** What all its runs have done together. */
  get stats(): Stats {
    const total = new Stats();
    total.add(this.#done);
    if (this.run !== undefined) total.add(this.run.stats);
    return total;
  }

  /** The run is over; what it did is remembered. */
  endRun(): void {
    if (this.run === undefined) return;
    this.#done.add(this.run.stats);
    this.#lastStanding = this.run.standing ?? this.#lastStanding;
    this.run = undefined;
  }

  get standing(): Standing | undefined {
    return this.run?.standing ?? this.#lastStanding;
  }

  /** The answer at its end, or what makes it fail next. */
  wait(): Promise<LocalDoc> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Answers the requests that wait. */
  answer(answer: LocalDoc): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(answer);
  }

  refuse(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** What is told of its work: counts, or why it failed. */
  get info(): LocalDoc | null {
    if (this.state === 'crashing') return { error: this.lastError };
    const { standing } = this;
    if (standing === undefined) return null;
    return {
      ...this.stats.members(),
      changes_pending: standing.pending,
      checkpointed_source_seq: standing.checkpointedSeq,
      source_seq: standing.sourceSeq,
      through_seq: standing.throughSeq,
    };
  }

  /** As `_scheduler/jobs` shows it. */
  describe(node: string): LocalDoc {
    return {
      database: this.origin?.database ?? null,
      doc_id: this.origin?.docId ?? null,
      id: this.id,
      node,
      pid: this.run?.pid ?? null,
      source: addressOf(this.spec.source),
      target: addressOf(this.spec.target),
      user: this.spec.user.name,
      info: this.info,
      history: this.#events.map(({ type, time, reason }) => ({
        timestamp: isoSeconds(time),
        type,
        ...(reason === undefined ? {} : { reason }),
      })),
      start_time: isoSeconds(this.addedAt),
    };
  }

  /** As `_scheduler/docs` shows it. */
  describeDoc(node: string): LocalDoc {
    return {
      database: this.origin?.database ?? null,
      doc_id: this.origin?.docId ?? null,
      id: this.id,
      node,
      source: addressOf(this.spec.source),
      target: addressOf(this.spec.target),
      state: this.state,
      info: this.info,
      error_count: this.errorCount,
      last_updated: isoSeconds(this.lastUpdated),
      start_time: isoSeconds(this.addedAt),
      source_proxy: proxyAddressOf(this.spec.source),
      target_proxy: proxyAddressOf(this.spec.target),
    };
  }
}

export const isoSeconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
