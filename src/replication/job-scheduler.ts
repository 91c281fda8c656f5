import type { Refusal } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { Job, StartRun } from './job.js';
import type { LocalDoc } from './peer.js';
import { reasonOf } from './reason.js';

/** One that ran for so long before it failed is taken for healthy: it is tried again as after a first failure. */
const healthyMs = 120_000;
const backoffMaxMs = 8 * 3_600_000;

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
  #rotation: NodeJS.Timeout;
  readonly #stopping = new Set<Promise<void>>();
  #wake: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #stopListening: () => void;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly startRun: StartRun,
  ) {
    this.#rotation = this.#beginRotation();
    this.#stopListening = config.onChange('replicator', undefined, () => {
      clearInterval(this.#rotation);
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

  /** Takes a job; one with the same id must not be there. */
  add(job: Job, listener: JobListener): void {
    if (this.#closed || this.#jobs.has(job.id))
      throw new Error('the job is there already, or none is wanted');
    job.note({ type: 'added' }, this.#historyMax);
    this.#jobs.set(job.id, { job, listener });
    this.#fill();
  }

  /** Ends a job and forgets it. Whoever waits for it is told the reason. */
  async remove(id: string, reason: Refusal): Promise<void> {
    const found = this.#jobs.get(id);
    if (found === undefined) return;
    this.#jobs.delete(id);
    await this.#stop(found.job);
    found.job.refuse(reason);
    this.#fill();
  }

  /** Ends all jobs; nothing is started any more. */
  async close(reason: Refusal): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearInterval(this.#rotation);
    clearTimeout(this.#wake);
    const jobs = this.list();
    this.#jobs.clear();
    for (const job of jobs) job.refuse(reason);
    await Promise.all(jobs.map((job) => this.#stop(job)));
    await Promise.all(this.#stopping);
  }

  get #historyMax(): number {
    return this.config.number('replicator/max_history');
  }

  get #running(): Job[] {
    return this.list().filter((job) => job.run !== undefined);
  }

  /** Starts what may run and has waited longest, as far as there is room. */
  #fill(): void {
    if (this.#closed) return;
    const now = Date.now();
    const waiting = this.list().filter((job) => job.run === undefined);
    const ready = waiting
      .filter(({ notBefore }) => notBefore <= now)
      .sort((a, b) => a.lastUpdated.getTime() - b.lastUpdated.getTime());
    const room = this.config.number('replicator/max_jobs') - this.#running.length;
    for (const job of ready.slice(0, Math.max(0, room))) this.#start(job);
    this.#wakeAt(Math.min(...waiting.map(({ notBefore }) => notBefore).filter((time) => time > now)));
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#wake);
    if (time === Infinity) return;
    this.#wake = setTimeout(() => this.#fill(), Math.min(time - Date.now() + 1, 2 ** 31 - 1));
    this.#wake.unref();
  }

  #start(job: Job): void {
    const run = this.startRun(job, this.logger);
    job.run = run;
    job.note({ type: 'started' }, this.#historyMax);
    this.#jobs.get(job.id)?.listener.started?.(job);
    run.ended.then(
      (answer) => this.#completed(job, run, answer),
      (error: unknown) => this.#crashed(job, run, error),
    );
  }

  #completed(job: Job, run: Job['run'], answer: LocalDoc): void {
    if (job.run !== run) return;
    const found = this.#jobs.get(job.id);
    job.endRun();
    this.#jobs.delete(job.id);
    found?.listener.completed(job, answer);
    job.answer(answer);
    this.#fill();
  }

  #crashed(job: Job, run: Job['run'], error: unknown): void {
    // One that was stopped ends too, and that is no failure.
    if (run === undefined || job.run !== run) return;
    const found = this.#jobs.get(job.id);
    const ranMs = Date.now() - run.startedAt.getTime();
    job.endRun();
    job.errorCount = ranMs >= healthyMs ? 1 : job.errorCount + 1;
    job.lastError = reasonOf(error);
    job.notBefore = Date.now() + this.#backoffMs(job.errorCount);
    job.note({ type: 'crashed', reason: job.lastError }, this.#historyMax);
    this.logger.warn({ replication: job.id, reason: job.lastError }, 'a replication failed');
    if (found?.listener.crashed(job, error) === false) this.#jobs.delete(job.id);
    job.refuse(error);
    this.#fill();
  }

  #backoffMs(errors: number): number {
    const first = this.config.number('tuffet/replication_backoff_ms');
    return Math.min(backoffMaxMs, first * 2 ** Math.min(errors - 1, 30));
  }

  /** Checkpoints and ends the run of a job; it is no failure of the job. */
  async #stop(job: Job): Promise<void> {
    const { run } = job;
    if (run === undefined) return;
    job.endRun();
    job.note({ type: 'stopped' }, this.#historyMax);
    const stopping = run.stop();
    this.#stopping.add(stopping);
    await stopping.finally(() => this.#stopping.delete(stopping));
  }

  #beginRotation(): NodeJS.Timeout {
    const rotate = () => void this.#rotate().catch(() => undefined);
    const timer = setInterval(rotate, this.config.number('replicator/interval'));
    timer.unref();
    return timer;
  }

  /** Makes room for those that wait, where there is none. */
  async #rotate(): Promise<void> {
    const now = Date.now();
    const waiting = this.list().filter(({ run, notBefore }) => run === undefined && notBefore <= now);
    const running = this.#running;
    const tooMany = Math.max(0, running.length - this.config.number('replicator/max_jobs'));
    const count = Math.min(this.config.number('replicator/max_churn'), Math.max(waiting.length, tooMany));
    const longest = running
      .filter(({ spec }) => spec.continuous)
      .sort((a, b) => a.run!.startedAt.getTime() - b.run!.startedAt.getTime());
    if (waiting.length + tooMany > 0)
      await Promise.all(longest.slice(0, count).map((job) => this.#stop(job)));
    this.#fill();
  }
}
