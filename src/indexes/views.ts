import type { Bytes } from '../base/bytes.js';
import { refusalOf, type RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { ScriptHost } from '../script/script-host.js';
import type { ShardState } from '../shard/shard-state.js';
import type { Store } from '../storage/store.js';
import type { DesignViews, ViewDefinition } from './definition.js';
import { FileShare } from './file-share.js';
import type { Documents } from './index-backend.js';
import type { IndexBackends } from './index-backends.js';
import { IndexDamage } from './index-damage.js';
import { IndexKeys, numberOf } from './index-keys.js';
import { spaceOf } from './index-job.js';
import { indexNumber } from './index-register.js';
import { decodeIndexState, isCurrent } from './index-state.js';
import { queryReduce, type QueryReduce } from './reduce/query-reduce.js';
import { NodeCache } from './tree/node-cache.js';
import { UpdateTasks, type OnUpdate, type ShownUpdate } from './update-tasks.js';
import { GroupViewReader } from './view-reader.js';

/** How often an index is brought up to date for one query before that is given up. */
const attemptsMax = 100;

/** A group of a database, as far as its indexes need to know it. */
export interface Indexed {
  /** The number of the group. */
  instance: number;
  /** The number of the database. */
  database: number;
  q: number;
  /** The shards' counters as of the last commit. */
  states: readonly ShardState[];
  documents: () => Documents;
}

/** A view's index as it was found last; it is that still as long as its state is. */
interface Opened {
  instance: number;
  store: Store;
  number: number;
  stateKey: Bytes;
  state: Bytes;
  reader: GroupViewReader;
}

interface Updating {
  /** The number of requests that wait. */
  clients: number;
  current: Promise<Failures>;
  /** For requests that came after the current one began. */
  next: Promise<Failures> | undefined;
}

/** Why views of a design document could not be brought up to date, by their signatures. */
export type Failures = ReadonlyMap<string, RequestError>;

/** The indexes of all databases, for readers. */
export class Views {
  readonly #cache: NodeCache;
  readonly #updating = new Map<string, Updating>();
  readonly #tasks = new UpdateTasks();
  #opened = new WeakMap<ViewDefinition, Map<number, Opened>>();
  #reclaiming = 0;
  readonly fileShare: FileShare;
  /** Numbers of damaged indexes that are being removed. */
  readonly #discarding = new Set<number>();
  /** Views whose functions have exceeded their limits too often, by database and signature. */
  readonly #stopped = new Map<string, RequestError>();

  constructor(
    readonly backends: IndexBackends,
    private readonly scripts: ScriptHost,
    cacheBytes: number,
    private readonly logger: Logger,
    runtime: Runtime,
  ) {
    this.fileShare = new FileShare(runtime, backends);
    this.#cache = new NodeCache(cacheBytes);
    this.#cache.onDamage = (prefix, root) => this.#discard(numberOf(prefix), root);
  }

  /** What the index of a view has, which may be nothing yet. */
  reader({ instance }: Indexed, view: ViewDefinition): GroupViewReader | undefined {
    const { store } = this.backends.of(instance);
    const before = this.#opened.get(view)?.get(instance);
    if (before?.store === store) {
      const state = this.#state(store, before.number, before.stateKey);
      if (state === before.state) return before.reader;
      if (state !== undefined) return this.#open({ ...before, state }, view);
    }
    const number = indexNumber(store, instance, view.signature);
    if (number === undefined) return undefined;
    const stateKey = new IndexKeys(number).state;
    const state = this.#state(store, number, stateKey);
    return state === undefined ? undefined : this.#open({ instance, store, number, stateKey, state }, view);
  }

  #state(store: Store, number: number, key: Bytes): Bytes | undefined {
    try {
      return store.get(key);
    } catch (error) {
      if (error instanceof IndexDamage) this.#discard(number, 0);
      throw error;
    }
  }

  #open(index: Omit<Opened, 'reader'>, view: ViewDefinition): GroupViewReader {
    const { store, number, state } = index;
    try {
      const reader = new GroupViewReader(store, number, view, decodeIndexState(state), this.#cache);
      const opened = this.#opened.get(view);
      if (opened === undefined) this.#opened.set(view, new Map([[index.instance, { ...index, reader }]]));
      else opened.set(index.instance, { ...index, reader });
      return reader;
    } catch (error) {
      this.#discard(number, 0);
      throw error;
    }
  }

  /** Removes a damaged index: the next request that needs it rebuilds it. */
  #discard(number: number, root: number): void {
    if (this.#discarding.has(number)) return;
    this.#discarding.add(number);
    this.logger.error({ index: number }, 'an index is damaged; it is discarded and built anew');
    this.backends
      .discard(number, root)
      .catch((error: unknown) => this.logger.error({ err: error }, 'a damaged index could not be discarded'))
      .finally(() => {
        this.#discarding.delete(number);
        this.forget();
      });
  }

  /** Indexes come and go with updates and removals: which number a view has must be looked up again then. */
  forget(): void {
    this.#opened = new WeakMap();
  }

  /** Whether all indexes of a design document have all that is committed now. */
  isFresh(indexed: Indexed, design: DesignViews): boolean {
    return [...design.views.values()].every((view) => {
      if (this.#stopped.has(stoppedKey(indexed.instance, view.signature))) return true;
      const reader = this.reader(indexed, view);
      return reader !== undefined && isCurrent(reader.state, indexed.states);
    });
  }

  /** The index of a view with all that is committed now. */
  freshReader(
    indexed: Indexed,
    design: DesignViews,
    view: ViewDefinition,
    onUpdate: OnUpdate,
  ): GroupViewReader | Promise<GroupViewReader> {
    const reader = this.reader(indexed, view);
    if (reader !== undefined && isCurrent(reader.state, indexed.states)) return reader;
    const stopped = this.#stopped.get(stoppedKey(indexed.instance, view.signature));
    if (stopped !== undefined) throw stopped;
    return this.#wait({ ...indexed, states: [...indexed.states] }, design, view, onUpdate);
  }

  async #wait(
    indexed: Indexed,
    design: DesignViews,
    view: ViewDefinition,
    onUpdate: OnUpdate,
  ): Promise<GroupViewReader> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const failure = (await this.update(indexed, design, onUpdate)).get(view.signature);
      if (failure !== undefined) throw failure;
      const reader = this.reader(indexed, view);
      if (reader !== undefined && isCurrent(reader.state, indexed.states)) return reader;
    }
    throw new Error('an index could not be brought up to date');
  }

  /** Brings the indexes of a design document up to date with what is committed now. Requests for the same indexes share it. */
  update(indexed: Indexed, design: DesignViews, onUpdate: OnUpdate): Promise<Failures> {
    const key = `${indexed.instance}/${design.signature}`;
    const running = this.#updating.get(key);
    if (running !== undefined) {
      running.clients++;
      return (running.next ??= running.current
        .catch(() => {})
        .then(() => this.update(indexed, design, onUpdate)));
    }
    const current = this.#run(indexed, design, onUpdate).finally(() => this.#updating.delete(key));
    this.#updating.set(key, { clients: 1, current, next: undefined });
    return current;
  }

  async #run(indexed: Indexed, design: DesignViews, onUpdate: OnUpdate): Promise<Failures> {
    const { instance, q, documents } = indexed;
    const { lib, localSeq, includeDesign } = design;
    const failures = new Map<string, RequestError>();
    const views = [...design.views.values()].filter(({ signature }) => {
      const stopped = this.#stopped.get(stoppedKey(instance, signature));
      if (stopped !== undefined) failures.set(signature, stopped);
      return stopped === undefined;
    });
    if (views.length === 0) return failures;
    const job = { instance, q, views, lib, localSeq, includeDesign };
    let shown: ShownUpdate | undefined;
    const key = `${indexed.database}/${design.signature}`;
    try {
      const failed = await this.backends
        .of(instance)
        .update(job, documents(), (done, total) =>
          (shown ??= this.#tasks.begin(key, total, onUpdate)).progress(done, total),
        );
      for (const { signature, refusal, isStopped } of failed) {
        failures.set(signature, refusalOf(refusal));
        if (isStopped) this.#stopped.set(stoppedKey(instance, signature), refusalOf(refusal));
      }
      return failures;
    } finally {
      this.forget();
      shown?.end();
    }
  }

  isUpdating({ instance }: Indexed, design: DesignViews): boolean {
    return this.#updating.has(`${instance}/${design.signature}`);
  }

  waiting({ instance }: Indexed, design: DesignViews): number {
    return this.#updating.get(`${instance}/${design.signature}`)?.clients ?? 0;
  }

  get isReclaiming(): boolean {
    return this.#reclaiming > 0;
  }

  updateLater(indexed: Indexed, design: DesignViews, onUpdate: OnUpdate): void {
    const failing = this.update(indexed, design, onUpdate).then(throwFirst);
    failing.catch((error: unknown) => {
      this.logger.warn(
        { err: error, instance: indexed.instance },
        'an index could not be brought up to date',
      );
    });
  }

  reduce({ instance }: Indexed, source: string): QueryReduce {
    return queryReduce(source, this.scripts, spaceOf(instance));
  }

  /** Removes the indexes of views that no design document has any more. */
  async keepOnly(instance: number, designs: readonly DesignViews[]): Promise<void> {
    const signatures = designs.flatMap(({ views }) => [...views.values()].map(({ signature }) => signature));
    const { backends } = this;
    await backends
      .of(instance)
      .keepOnly(instance, signatures)
      .finally(() => this.forget());
    await this.reclaim();
  }

  async drop(instance: number): Promise<void> {
    for (const key of this.#stopped.keys())
      if (key.startsWith(stoppedKey(instance, ''))) this.#stopped.delete(key);
    const { backends } = this;
    await backends
      .of(instance)
      .drop(instance)
      .finally(() => this.forget());
    await this.reclaim();
  }

  /** What functions have left in memory while they filled indexes is forgotten. */
  renew(): Promise<void> {
    this.#stopped.clear();
    return this.backends.each((backend) => backend.renew());
  }

  async reclaim(isAsked = false): Promise<void> {
    this.#reclaiming++;
    try {
      await this.backends.each((backend) => backend.reclaim(isAsked));
    } finally {
      this.#reclaiming--;
      this.fileShare.forget();
    }
  }

  close(): Promise<void> {
    this.fileShare.close();
    return this.backends.each((backend) => backend.close());
  }
}

const stoppedKey = (instance: number, signature: string): string => `${instance}/${signature}`;

/** For callers that need all views. */
export function throwFirst(failures: Failures): void {
  for (const failure of failures.values()) throw failure;
}
