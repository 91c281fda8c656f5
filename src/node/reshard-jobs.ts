import { badRequest } from '../base/errors.js';
import { groupsOf } from './catalogue.js';
import type { Database } from './database.js';
import { firstShards, GroupDivision, type Divisions } from './divide-group.js';
import { ReshardBook } from './reshard-book.js';
import {
  describeJob,
  groupName,
  isActive,
  isOver,
  jobId,
  shardName,
  splitStates,
  type ReshardingState,
  type ReshardJob,
} from './reshard-job.js';
import { ReshardRecords } from './reshard-records.js';
import { databaseOf, endless, ReshardRun, type MakeWork, type ReshardHost } from './reshard-run.js';
import { ShardSplit } from './split-shard.js';

/** What is particular to a new job. */
type NewJob = Pick<ReshardJob, 'id' | 'type' | 'shard' | 'group' | 'parts' | 'source' | 'target'>;

/** Shards of one database at most. */
const shardsMax = 256;

const held = { job_state: 'stopped', reason: 'Shard splitting disabled', held: true } as const;
const released = { job_state: 'new', reason: null, held: undefined } as const;

/** What became of a request to split one shard, or to divide a group. */
export type CreatedJob = { id: string; source: string } | { error: string; source: string };

/**
 * The jobs that split shards and divide groups. Each is noted in the catalogue with every state it enters, and goes on from there after a
 * restart. Of one database, one runs at a time; jobs of other databases run beside it.
 */
export class ReshardJobs {
  readonly #host: ReshardHost;
  readonly #makeWork: MakeWork;
  readonly #stored: ReshardBook;
  readonly #runs = new Map<string, ReshardRun>();
  /** Removals of what splits have left over. */
  readonly #clearing = new Set<Promise<void>>();
  #closing = false;
  #isPaused = false;

  constructor(host: ReshardHost, divisions: Divisions) {
    this.#host = host;
    this.#makeWork = (job, database, control) =>
      job.type === 'divide'
        ? new GroupDivision(host, divisions, database, job, control)
        : new ShardSplit(database, job.shard, control.check, control.onCopied);
    const records = new ReshardRecords(divisions.catalogue, host.membership);
    this.#stored = new ReshardBook(records, () => host.config.number('reshard/max_history'), host.runtime);
    // The host is being made. In a cluster, its owner runs them.
    this.#host.runtime.defer(() => {
      if (!divisions.catalogue.isOfCluster && !records.isShared) this.start();
    });
  }

  /** Begins to run those that are stored. */
  start(): void {
    this.#stored.load();
    this.#isPaused = false;
    this.#start();
    // A server that stopped while it removed a database has not forgotten them.
    void this.forget();
  }

  /** Another node of the cluster goes on with them. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await Promise.all([...this.#runs.values()].map((run) => run.interrupt('closing')));
  }

  /** As another node has changed them, where that runs them. */
  get #book(): ReshardBook {
    if (!this.#host.membership.isOwner) this.#stored.load();
    return this.#stored;
  }

  get resharding(): ReshardingState {
    return this.#book.resharding;
  }

  get summary(): Record<string, unknown> {
    return this.#book.summary;
  }

  list(): object[] {
    return this.#book.all().map((job) => describeJob(job, this.#host.membership.ownerName));
  }

  describe(id: string): object {
    return describeJob(this.get(id), this.#host.membership.ownerName);
  }

  /** Refuses where there is none. */
  get(id: string): ReshardJob {
    return this.#book.get(id);
  }

  /** Has shards of a database split, by their numbers. */
  async create(database: Database, shards: readonly number[]): Promise<CreatedJob[]> {
    const created: CreatedJob[] = [];
    for (const shard of shards) created.push(await this.#createSplit(database, shard));
    this.#start();
    return created;
  }

  /** Has groups of a database divided, each into so many. */
  async divide(database: Database, groups: readonly number[], parts: number): Promise<CreatedJob[]> {
    if (this.#host.membership.cluster !== undefined)
      throw badRequest('Databases of a cluster cannot be divided yet.');
    const created: CreatedJob[] = [];
    for (const group of groups) created.push(await this.#createDivision(database, group, parts));
    this.#start();
    return created;
  }

  async #createDivision(database: Database, group: number, count: number): Promise<CreatedJob> {
    const { name, record } = database;
    const source = groupName(name, record, group);
    const id = jobId(source);
    const placed = groupsOf(record).find((each) => each.group === group);
    const shards = placed === undefined ? [] : firstShards(placed, record.q);
    const error = this.#refusal(id) ?? (shards.length < 2 ? 'group_cannot_be_divided' : undefined);
    if (error !== undefined) return { error, source };
    const parts = Math.min(count, shards.length);
    return await this.#add(database, {
      id,
      type: 'divide',
      shard: shards[0]!,
      group,
      parts,
      source,
      target: [],
    });
  }

  async #createSplit(database: Database, shard: number): Promise<CreatedJob> {
    const { name, record, collection } = database;
    const { first, last } = collection.shards.range(shard);
    const nameOf = (from: number, to: number): string => shardName(name, record, { first: from, last: to });
    const source = nameOf(first, last);
    const id = jobId(source);
    const error = this.#refusal(id) ?? this.#splitRefusal(database, last - first);
    if (error !== undefined) return { error, source };
    const middle = first + Math.floor((last - first + 1) / 2) - 1;
    const target = [nameOf(first, middle), nameOf(middle + 1, last)];
    return await this.#add(database, { id, shard, source, target });
  }

  async #add({ name, record }: Database, made: NewJob): Promise<CreatedJob> {
    const job: ReshardJob = {
      ...made,
      database: name,
      instance: record.instance,
      job_state: 'new',
      split_state: 'new',
      reason: null,
      retries: 0,
      start_time: 0,
      update_time: this.#host.runtime.nowSeconds(),
      history: [],
    };
    await this.#book.add(job, this.resharding.state === 'stopped' ? held : {});
    return { id: job.id, source: job.source };
  }

  #refusal(id: string): string | undefined {
    if (this.#book.find(id) !== undefined) return 'job_already_exists';
    const left = this.#book.all().filter((job) => !isOver(job)).length;
    return left >= this.#host.config.number('reshard/max_jobs') ? 'max_jobs_exceeded' : undefined;
  }

  #splitRefusal({ q, record }: Database, width: number): string | undefined {
    const swapped = splitStates.indexOf('update_shardmap');
    const coming = this.#book
      .all()
      .filter(
        ({ type, instance, job_state, split_state }) =>
          type === undefined &&
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
    const isIdle = ({ job_state }: ReshardJob): boolean => job_state === 'stopped' || job_state === 'failed';
    await this.#book.noteIf(id, isIdle, { ...released, retries: 0 });
    this.#start();
  }

  /** Restarts a job that failed at least so many seconds ago. */
  async retryFailed(id: string, seconds: number): Promise<void> {
    const job = this.#book.find(id);
    const isDue = job?.job_state === 'failed' && this.#host.runtime.nowSeconds() - job.update_time >= seconds;
    if (isDue && this.resharding.state === 'running') await this.resumeJob(id);
  }

  /** Removes a job; one that runs is stopped first. What is not complete is taken back. */
  async remove(id: string): Promise<void> {
    const job = this.get(id);
    await this.#runs.get(id)?.interrupt('stopped');
    await this.#book.remove(id);
    const clearing = this.#clear(job);
    this.#clearing.add(clearing);
    void clearing.finally(() => this.#clearing.delete(clearing));
    this.#start();
  }

  /** Removes the completed jobs of databases, or of one, that are gone; those that this made fail stay, to be looked at. */
  async forget(database?: string): Promise<void> {
    const { membership, logger } = this.#host;
    if (!membership.isOwner) return;
    const completed = this.#book.all().filter((job) => {
      const isMeant = database === undefined || job.database === database;
      return isMeant && job.job_state === 'completed' && databaseOf(job, this.#host) === undefined;
    });
    const removed = completed.map(({ id }) => this.#book.remove(id));
    await Promise.all(removed).catch((err: unknown) =>
      logger.error({ err }, 'old jobs could not be removed'),
    );
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.pause();
    await Promise.all(this.#clearing);
  }

  /** Starts the jobs that wait and may run. */
  #start(): void {
    const isRunning = !this.#closing && !this.#isPaused && this.#host.membership.isOwner;
    if (!isRunning || this.resharding.state === 'stopped') return;
    const busy = new Set([...this.#runs.keys()].map((id) => this.#book.find(id)?.instance));
    // One that was under way when the server stopped comes first.
    const waiting = this.#book.all().filter((job) => isActive(job) && !this.#runs.has(job.id));
    waiting.sort((a, b) => Number(b.job_state === 'running') - Number(a.job_state === 'running'));
    for (const { id, instance } of waiting) {
      if (busy.has(instance)) continue;
      busy.add(instance);
      const run = new ReshardRun(this.#host, this.#stored, this.#makeWork, id);
      this.#runs.set(id, run);
      void run.ended.finally(() => {
        this.#runs.delete(id);
        this.#host.runtime.defer(() => this.#start());
      });
    }
  }

  /** Should it be broken off, the next job of the database does it. */
  async #clear(job: ReshardJob): Promise<void> {
    const database = databaseOf(job, this.#host);
    if (database === undefined) return;
    const check = (): void => {
      if (this.#closing) throw new Error('the server is closing');
    };
    const work = this.#makeWork(job, database, endless(check));
    await work.clear().catch((error: unknown) => {
      if (!this.#closing)
        this.#host.logger.error({ err: error, job: job.id }, 'removing what a job has left over failed');
    });
  }
}
