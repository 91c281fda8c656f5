import type { Runtime, Timer } from '../base/runtime.js';
import type { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { Job, JobState, StartRun } from './job.js';
import type { LocalDoc } from './peer.js';
import { reasonOf } from './reason.js';
import { retryWaitMs } from './retry-wait.js';

/** One that ran for so long before it failed is taken for healthy: it is tried again as after a first failure. */
const healthyMs = 120_000;

/** Who is told what becomes of a job. */
export interface JobListener {
  started?(job: Job): void;
  completed(job: Job, answer: LocalDoc): void;
  /** Gives false where it is not to be tried again. */
  crashed(job: Job, error: unknown): boolean;
}

/**
 * Runs jobs: so many at once as the configuration allows. Those that are too many wait, and after each interval some
 * that run continuously make room for some that wait. What fails is tried again, after ever longer times.
 */
export class JobScheduler {
  readonly #jobs = new Map<string, { job: Job; listener: JobListener }>();
  /** Those that may run and wait for room, the one that has waited longest first. */
  readonly #ready = new Set<Job>();
  readonly #running = new Set<Job>();
  /** Those that failed, until they are tried again. */
  readonly #retries = new Map<Job, Timer>();
  #rotation: Timer;
  readonly #stopping = new Set<Promise<void>>();
  #closed = false;
  /** How often each has happened since the start. */
  readonly counts = { adds: 0, removes: 0, starts: 0, stops: 0, crashes: 0 };
  readonly #stopListening: () => void;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly startRun: StartRun,
    private readonly runtime: Runtime,
  ) {
    this.#rotation = this.#beginRotation();
    this.#stopListening = config.onChange('replicator', undefined, () => {
      this.#rotation.cancel();
      this.#rotation = this.#beginRotation();
      this.#fill();
    });
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id)?.job;
  }

  list(): Job[] {
    return [...this.#jobs.values()].map(({ job }) => job);
  }

  /** How many jobs are in each state now. */
  states(): Record<JobState | 'total', number> {
    const numbers = { total: this.#jobs.size, running: 0, pending: 0, crashing: 0 };
    for (const { job } of this.#jobs.values()) numbers[job.state]++;
    return numbers;
  }

  /** Takes a job; one with the same id must not be there. */
  add(job: Job, listener: JobListener): void {
    if (this.#closed || this.#jobs.has(job.id))
      throw new Error('the job is there already, or none is wanted');
    job.note({ type: 'added' }, this.#historyMax);
    this.counts.adds++;
    this.#jobs.set(job.id, { job, listener });
    this.#ready.add(job);
    this.#fill();
  }

  /** Ends and removes a job. Waiters are rejected with the reason. */
  async remove(id: string, reason: RequestError): Promise<void> {
    const found = this.#jobs.get(id);
    if (found === undefined) return;
    this.#forget(found.job);
    await this.#stop(found.job);
    found.job.refuse(reason);
    this.#fill();
  }

  /** Ends all jobs; nothing is started any more. */
  async close(reason: RequestError): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    this.#rotation.cancel();
    const jobs = this.list();
    for (const job of jobs) {
      this.#forget(job);
      job.refuse(reason);
    }
    await Promise.all(jobs.map((job) => this.#stop(job)));
    await Promise.all(this.#stopping);
  }

  get #historyMax(): number {
    return this.config.number('replicator/max_history');
  }

  /** Starts what has waited longest, as far as there is room. */
  #fill(): void {
    if (this.#closed) return;
    const room = this.config.number('replicator/max_jobs') - this.#running.size;
    if (room <= 0) return;
    const next = [...this.#first(room)];
    for (const job of next) this.#start(job);
  }

  *#first(count: number): Generator<Job> {
    for (const job of this.#ready) {
      if (count-- <= 0) return;
      yield job;
    }
  }

  #forget(job: Job): void {
    if (this.#jobs.delete(job.id)) this.counts.removes++;
    this.#ready.delete(job);
    this.#retries.get(job)?.cancel();
    this.#retries.delete(job);
  }

  #start(job: Job): void {
    const run = this.startRun(job, this.logger);
    job.run = run;
    this.#ready.delete(job);
    this.#running.add(job);
    job.note({ type: 'started' }, this.#historyMax);
    this.counts.starts++;
    this.#jobs.get(job.id)?.listener.started?.(job);
    run.ended.then(
      (answer) => this.#completed(job, run, answer),
      (error: unknown) => this.#crashed(job, run, error),
    );
  }

  #completed(job: Job, run: Job['run'], answer: LocalDoc): void {
    if (job.run !== run) return;
    const found = this.#jobs.get(job.id);
    this.#endRun(job);
    this.#forget(job);
    found?.listener.completed(job, answer);
    job.answer(answer);
    this.#fill();
  }

  #crashed(job: Job, run: Job['run'], error: unknown): void {
    // One that was stopped ends too, and that is no failure.
    if (run === undefined || job.run !== run) return;
    const found = this.#jobs.get(job.id);
    const ranMs = this.runtime.now() - run.startedAt.getTime();
    this.#endRun(job);
    job.errorCount = ranMs >= healthyMs ? 1 : job.errorCount + 1;
    job.lastError = reasonOf(error);
    job.note({ type: 'crashed', reason: job.lastError }, this.#historyMax);
    this.counts.crashes++;
    this.logger.warn({ replication: job.id, reason: job.lastError }, 'a replication failed');
    if (found?.listener.crashed(job, error) === true) this.#tryLater(job);
    else this.#forget(job);
    job.refuse(error);
    this.#fill();
  }

  #tryLater(job: Job): void {
    const again = (): void => {
      this.#retries.delete(job);
      this.#ready.add(job);
      this.#fill();
    };
    this.#retries.set(job, this.runtime.setIdleTimer(again, retryWaitMs(this.config, job.errorCount)));
  }

  #endRun(job: Job): void {
    job.endRun();
    this.#running.delete(job);
  }

  /** Checkpoints and ends the run of a job; it is no failure of the job. */
  async #stop(job: Job): Promise<void> {
    const { run } = job;
    if (run === undefined) return;
    this.#endRun(job);
    job.note({ type: 'stopped' }, this.#historyMax);
    this.counts.stops++;
    const stopping = run.stop();
    this.#stopping.add(stopping);
    await stopping.finally(() => this.#stopping.delete(stopping));
  }

  #beginRotation(): Timer {
    const rotate = (): void => {
      this.#rotation = this.#beginRotation();
      void this.#rotate().catch(() => undefined);
    };
    return this.runtime.setIdleTimer(rotate, this.config.number('replicator/interval'));
  }

  /** Makes room for those that wait, where there is none. */
  async #rotate(): Promise<void> {
    const tooMany = Math.max(0, this.#running.size - this.config.number('replicator/max_jobs'));
    const wanted = Math.max(this.#ready.size, tooMany);
    if (wanted === 0) return;
    const longest = [...this.#running]
      .filter(({ spec }) => spec.continuous)
      .slice(0, Math.min(this.config.number('replicator/max_churn'), wanted));
    await Promise.all(
      longest.map(async (job) => {
        await this.#stop(job);
        if (this.#jobs.get(job.id)?.job === job) this.#ready.add(job);
      }),
    );
    this.#fill();
  }
}
