import type { Runtime } from '../base/runtime.js';
import { notFound } from '../base/errors.js';
import { changedJob, type JobState, type ReshardingState, type ReshardJob } from './reshard-job.js';
import type { ReshardRecords } from './reshard-records.js';

/** All resharding jobs, as they are in memory and as they are stored. */
export class ReshardBook {
  readonly #jobs = new Map<string, ReshardJob>();
  #resharding!: ReshardingState;

  constructor(
    private readonly records: ReshardRecords,
    /** Events that are remembered of each. */
    private readonly historyMax: () => number,
    private readonly runtime: Runtime,
  ) {
    this.load();
  }

  /** Takes over what is stored: in a cluster, another node may have changed it. */
  load(): void {
    this.#resharding = this.records.resharding;
    this.#jobs.clear();
    for (const job of this.records.jobs()) this.#jobs.set(job.id, job);
  }

  get resharding(): ReshardingState {
    return this.#resharding;
  }

  async setResharding(state: ReshardingState): Promise<void> {
    this.#resharding = state;
    await this.records.setResharding(state);
  }

  get summary(): Record<string, unknown> {
    const { state, reason } = this.#resharding;
    return {
      state,
      state_reason: reason,
      completed: this.count('completed'),
      failed: this.count('failed'),
      running: this.count('running'),
      stopped: this.count('stopped'),
      total: this.#jobs.size,
    };
  }

  all(): ReshardJob[] {
    return [...this.#jobs.values()];
  }

  count(state: JobState): number {
    return this.all().filter(({ job_state }) => job_state === state).length;
  }

  find(id: string): ReshardJob | undefined {
    return this.#jobs.get(id);
  }

  get(id: string): ReshardJob {
    const job = this.#jobs.get(id);
    if (job === undefined) throw notFound('missing');
    return job;
  }

  /** Changed in memory before it is stored, here and below, so that no caller acts on the old state. */
  async add(made: ReshardJob, change: Partial<ReshardJob>): Promise<void> {
    const job = changedJob(made, {}, this.historyMax(), this.runtime.nowSeconds());
    this.#jobs.set(job.id, job);
    await this.note(job, change).catch((error: unknown) => {
      // The request is refused: the job must neither wait forever nor keep another one from being created.
      this.#jobs.delete(job.id);
      throw error;
    });
  }

  async note(job: ReshardJob, change: Partial<ReshardJob>): Promise<ReshardJob> {
    const next = changedJob(job, change, this.historyMax(), this.runtime.nowSeconds());
    if (!this.#jobs.has(job.id)) return next;
    this.#jobs.set(job.id, next);
    await this.records.set(next);
    return next;
  }

  async noteIf(
    id: string,
    applies: (job: ReshardJob) => boolean,
    change: Partial<ReshardJob>,
  ): Promise<void> {
    const job = this.#jobs.get(id);
    if (job !== undefined && applies(job)) await this.note(job, change);
  }

  async remove(id: string): Promise<void> {
    if (!this.#jobs.delete(id)) throw notFound('missing');
    await this.records.remove(id);
  }
}
