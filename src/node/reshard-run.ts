import type { Runtime } from '../base/runtime.js';
import { notFound, RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import type { Views } from '../indexes/views.js';
import type { Database } from './database.js';
import type { Membership } from './membership.js';
import type { ReshardBook } from './reshard-book.js';
import { splitStates, type ReshardJob, type SplitState } from './reshard-job.js';
import type { TaskList } from './task-list.js';

/** What jobs need of the node. */
export interface ReshardHost {
  readonly config: Config;
  readonly logger: Logger;
  readonly tasks: TaskList;
  readonly nodeName: string;
  readonly membership: Pick<Membership, 'cluster' | 'isOwner' | 'ownerName' | 'shared' | 'share'>;
  readonly runtime: Runtime;
  readonly views: Views;
  find(name: string): Database | undefined;
  indexed(database: Database): DatabaseIndexes;
  /** `check` is called regularly, and throws when the indexes are no longer needed. */
  fillIndexes(database: Database, indexes: DatabaseIndexes, check: () => void): Promise<void>;
}

/** What a job does. */
export interface ReshardWork {
  /** The type of its active task. */
  readonly task: string;
  /** How much there is to be copied. */
  readonly total: number;
  /** What comes of it, where that is known only now. */
  readonly target?: string[] | undefined;
  /** The place of the state with which it goes on, when it was in a state before. */
  from(state: SplitState): number;
  enter(state: SplitState): Promise<void>;
  /** Takes back what was begun. Tells whether that could be done; otherwise the job goes on from where it is. */
  abort(): Promise<boolean>;
  /** Removes what is left over. */
  clear(): Promise<void>;
  /** To be called when the work ends, however that is. */
  end(): void;
}

/** How work is told to end, and tells what it does. */
export interface WorkControl {
  /** Throws when the work is to end. */
  check: () => void;
  onCopied: (records: number) => void;
  /** Waits, unless the work is to end. */
  pause: (ms: number) => Promise<void>;
  /** Waits for something that may take long, and throws when the work is to end; it is then left to itself. */
  unlessEnded: (slow: Promise<void>) => Promise<void>;
}

/** For what is done to the end. */
export const endless = (check: () => void): WorkControl => ({
  check,
  onCopied: () => {},
  pause: () => Promise.resolve(),
  unlessEnded: (slow) => slow,
});

/** Makes the work of a job. */
export type MakeWork = (job: ReshardJob, database: Database, control: WorkControl) => ReshardWork;

/** Ends a run that was stopped by a request or by the end of the server. */
class Interrupted extends Error {
  constructor() {
    super('a resharding job was interrupted');
  }
}

/** A job that runs. */
export class ReshardRun {
  #interrupted: 'stopped' | 'closing' | undefined;
  #wake = (): void => {};
  readonly ended: Promise<void>;

  constructor(
    private readonly host: ReshardHost,
    private readonly book: ReshardBook,
    private readonly makeWork: MakeWork,
    readonly id: string,
  ) {
    this.ended = this.#run().catch((error: unknown) =>
      host.logger.error({ err: error, job: id }, 'a resharding job broke off'),
    );
  }

  /** One that is stopped is restarted when it is resumed; when the server closes, it goes on from where it is. */
  async interrupt(why: 'stopped' | 'closing'): Promise<void> {
    this.#interrupted ??= why;
    this.#wake();
    await this.ended;
  }

  async #run(): Promise<void> {
    for (;;) {
      try {
        await this.#work();
        return;
      } catch (error) {
        if (error instanceof Interrupted) break;
        if (!(await this.#isTriedAgain(error))) return;
        await this.#pause(this.host.config.number('reshard/retry_interval_sec') * 1000);
      }
    }
    if (this.#interrupted === 'stopped') await this.#abort();
  }

  readonly #check = (): void => {
    if (this.#interrupted !== undefined) throw new Interrupted();
  };

  async #work(): Promise<void> {
    this.#check();
    let job = this.book.get(this.id);
    const database = databaseOf(job, this.host);
    if (database === undefined) throw notFound('Database does not exist.');
    const { tasks, nodeName } = this.host;
    const onCopied = (records: number): void => task.advance(records);
    const pause = (ms: number): Promise<void> => this.#pause(ms);
    const unlessEnded = (slow: Promise<void>): Promise<void> => this.#unlessEnded(slow);
    const work = this.makeWork(job, database, { check: this.#check, onCopied, pause, unlessEnded });
    const task = tasks.begin(work.task, job.source, nodeName, work.total);
    try {
      for (const split_state of splitStates.slice(work.from(job.split_state))) {
        this.#check();
        const start_time = job.start_time === 0 ? this.host.runtime.nowSeconds() : job.start_time;
        const { target = job.target } = work;
        const change = { job_state: 'running', split_state, reason: null, start_time, target } as const;
        job = await this.book.note(job, change);
        await work.enter(split_state);
      }
      await this.book.note(job, { job_state: 'completed', split_state: 'completed', reason: null });
    } finally {
      work.end();
      task.end();
    }
  }

  async #isTriedAgain(error: unknown): Promise<boolean> {
    const job = this.book.find(this.id);
    if (job === undefined || this.#interrupted === 'closing') return false;
    const { logger, config } = this.host;
    logger.error({ err: error, job: job.id, shard: job.source }, 'a resharding job failed');
    const reason = reasonOf(error);
    const isGone = databaseOf(job, this.host) === undefined;
    if (!isGone && job.retries < config.number('reshard/max_retries')) {
      await this.book.note(job, { reason, retries: job.retries + 1 });
      return true;
    }
    await this.#abort().catch(() => undefined);
    await this.book.note(this.book.find(this.id) ?? job, { job_state: 'failed', reason });
    return false;
  }

  /** Takes back what was begun; where that cannot be done any more, the job goes on from there. */
  async #abort(): Promise<void> {
    const job = this.book.find(this.id);
    const database = job && databaseOf(job, this.host);
    if (job === undefined || database === undefined) return;
    if (
      await this.makeWork(
        job,
        database,
        endless(() => {}),
      ).abort()
    )
      await this.book.note(job, { split_state: 'new' });
  }

  /** Whatever becomes of `slow` after an interruption is of no interest. */
  async #unlessEnded(slow: Promise<void>): Promise<void> {
    const interrupted = new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#interrupted !== undefined) this.#wake();
    slow.catch(() => undefined);
    await Promise.race([slow, interrupted]);
    this.#check();
  }

  /** Waits, unless the run is interrupted. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.host.runtime.setTimer(resolve, ms);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
      if (this.#interrupted !== undefined) this.#wake();
    });
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof RequestError ? error.reason : error instanceof Error ? error.message : String(error);

/** The database that a job is about; by now the name may mean another. */
export function databaseOf({ database, instance }: ReshardJob, host: ReshardHost): Database | undefined {
  const found = host.find(database);
  return found?.record.instance === instance ? found : undefined;
}
