import { badRequest } from '../base/errors.js';
import type { Catalogue } from './catalogue.js';
import type { Database } from './database.js';
import { ReshardBook } from './reshard-book.js';
import {
  describeJob,
  isActive,
  jobId,
  shardName,
  splitStates,
  type ReshardingState,
  type ReshardJob,
} from './reshard-job.js';
import { databaseOf, ReshardRun, type ReshardHost } from './reshard-run.js';
import { ShardSplit } from './split-shard.js';

/** Shards of one database at most. */
const shardsMax = 256;

const held = { job_state: 'stopped', reason: 'Shard splitting disabled', held: true } as const;
const released = { job_state: 'new', reason: null, held: undefined } as const;

/** What became of a request to split one shard. */
export type CreatedJob = { id: string; shard: string } | { error: string; shard: string };

/**
 * The jobs that split shards. Each is noted in the catalogue with every state it enters, and goes on from there after a
 * restart. Of one database, one shard is split at a time; jobs of other databases run beside it.
 */
export class ReshardJobs {
  readonly #host: ReshardHost;
  readonly #book: ReshardBook;
  readonly #runs = new Map<string, ReshardRun>();
  /** Removals of what splits have left over. */
  readonly #clearing = new Set<Promise<void>>();
  #closing = false;

  constructor(host: ReshardHost, catalogue: Catalogue) {
    this.#host = host;
    this.#book = new ReshardBook(catalogue, () => host.config.number('reshard/max_history'), host.runtime);
    // The host is being made.
    this.#host.runtime.defer(() => this.#start());
  }

  get resharding(): ReshardingState {
    return this.#book.resharding;
  }

  get summary(): Record<string, unknown> {
    const book = this.#book;
    const { state, reason } = book.resharding;
    return {
      state,
      state_reason: reason,
      completed: book.count('completed'),
      failed: book.count('failed'),
      running: book.count('running'),
      stopped: book.count('stopped'),
      total: book.size,
    };
  }

  list(): object[] {
    return this.#book.all().map((job) => describeJob(job, this.#host.nodeName));
  }

  describe(id: string): object {
    return describeJob(this.get(id), this.#host.nodeName);
  }

  /** Refuses where there is none. */
  get(id: string): ReshardJob {
    return this.#book.get(id);
  }

  /** Has shards of a database split, by their numbers. */
  async create(database: Database, shards: readonly number[]): Promise<CreatedJob[]> {
    const created: CreatedJob[] = [];
    for (const shard of shards) created.push(await this.#create(database, shard));
    this.#start();
    return created;
  }

  async #create(database: Database, shard: number): Promise<CreatedJob> {
    const { name, record, collection } = database;
    const { first, last } = collection.shards.range(shard);
    const nameOf = (from: number, to: number): string => shardName(name, record, { first: from, last: to });
    const source = nameOf(first, last);
    const id = jobId(source);
    const error = this.#refusal(id, database, last - first);
    if (error !== undefined) return { error, shard: source };
    const middle = first + Math.floor((last - first + 1) / 2) - 1;
    const job: ReshardJob = {
      id,
      database: name,
      instance: record.instance,
      shard,
      source,
      target: [nameOf(first, middle), nameOf(middle + 1, last)],
      job_state: 'new',
      split_state: 'new',
      reason: null,
      retries: 0,
      start_time: 0,
      update_time: this.#host.runtime.nowSeconds(),
      history: [],
    };
    await this.#book.add(job, this.resharding.state === 'stopped' ? held : {});
    return { id, shard: source };
  }

  #refusal(id: string, { q, record }: Database, width: number): string | undefined {
    if (this.#book.find(id) !== undefined) return 'job_already_exists';
    if (this.#book.size >= this.#host.config.number('reshard/max_jobs')) return 'max_jobs_exceeded';
    const swapped = splitStates.indexOf('update_shardmap');
    const coming = this.#book
      .all()
      .filter(
        ({ instance, job_state, split_state }) =>
          instance === record.instance &&
          job_state !== 'completed' &&
          splitStates.indexOf(split_state as 'topoff3') <= swapped,
      );
    if (q + coming.length >= shardsMax) return 'max_shards_exceeded';
    return width < 1 ? 'shard_range_cannot_be_split' : undefined;
  }

  /** Stops all jobs. */
  async stop(reason: string): Promise<void> {
    if (this.resharding.state === 'stopped') return;
    await this.#book.setResharding({ state: 'stopped', reason });
    for (const { id } of this.#book.all().filter(isActive)) {
      await this.#runs.get(id)?.interrupt('stopped');
      await this.#book.noteIf(id, isActive, held);
    }
  }

  /** Lets jobs go on that were not stopped for themselves. */
  async resume(): Promise<void> {
    if (this.resharding.state === 'stopped')
      await this.#book.setResharding({ state: 'running', reason: null });
    for (const { id } of this.#book.all()) await this.#book.noteIf(id, (job) => job.held === true, released);
    this.#start();
  }

  async stopJob(id: string, reason: string): Promise<void> {
    this.get(id);
    await this.#runs.get(id)?.interrupt('stopped');
    const isStoppable = (job: ReshardJob): boolean => isActive(job) || job.job_state === 'stopped';
    await this.#book.noteIf(id, isStoppable, { job_state: 'stopped', reason, held: undefined });
  }

  async resumeJob(id: string): Promise<void> {
    this.get(id);
    if (this.resharding.state === 'stopped') throw badRequest('Resharding is stopped.');
    const isOver = ({ job_state }: ReshardJob): boolean => job_state === 'stopped' || job_state === 'failed';
    await this.#book.noteIf(id, isOver, { ...released, retries: 0 });
    this.#start();
  }

  /** Removes a job; one that runs is stopped first. A split that is not complete is taken back. */
  async remove(id: string): Promise<void> {
    const job = this.get(id);
    await this.#runs.get(id)?.interrupt('stopped');
    await this.#book.remove(id);
    const clearing = this.#clear(job);
    this.#clearing.add(clearing);
    void clearing.finally(() => this.#clearing.delete(clearing));
    this.#start();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#runs.values()].map((run) => run.interrupt('closing')));
    await Promise.all(this.#clearing);
  }

  /** Starts the jobs that wait and may run. */
  #start(): void {
    if (this.#closing || this.resharding.state === 'stopped') return;
    const busy = new Set([...this.#runs.keys()].map((id) => this.#book.find(id)?.instance));
    // One that was under way when the server stopped comes first.
    const waiting = this.#book.all().filter((job) => isActive(job) && !this.#runs.has(job.id));
    waiting.sort((a, b) => Number(b.job_state === 'running') - Number(a.job_state === 'running'));
    for (const { id, instance } of waiting) {
      if (busy.has(instance)) continue;
      busy.add(instance);
      const run = new ReshardRun(this.#host, this.#book, id);
      this.#runs.set(id, run);
      void run.ended.finally(() => {
        this.#runs.delete(id);
        this.#host.runtime.defer(() => this.#start());
      });
    }
  }

  /** Should it be broken off, the next split of the database does it. */
  async #clear(job: ReshardJob): Promise<void> {
    const database = databaseOf(job, this.#host);
    if (database === undefined) return;
    const check = (): void => {
      if (this.#closing) throw new Error('the server is closing');
    };
    await new ShardSplit(database, job.shard, check).clear().catch((error: unknown) => {
      if (!this.#closing)
        this.#host.logger.error({ err: error, job: job.id }, 'removing what a split has left over failed');
    });
  }
}
