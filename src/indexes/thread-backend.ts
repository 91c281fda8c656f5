import fs from 'node:fs';
import { RequestError, Unavailable } from '../base/errors.js';
import { RpcThread } from '../base/rpc-thread.js';
import { SystemRuntime, type Runtime, type Timer } from '../base/runtime.js';
import { StorageError } from '../base/storage-errors.js';
import type { MapCounts } from '../script/call-counts.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { OtherReaders } from '../storage/other-readers.js';
import type { StoreSize } from '../storage/store.js';
import { indexStoreOptions } from './index-damage.js';
import type { Documents, IndexBackend } from './index-backend.js';
import { copyToNext, currentFolder, hasFolder } from './index-folder.js';
import type { FailedView, IndexJob, OnProgress } from './index-job.js';
import { hasIndexes, isErasing } from './index-register.js';
import { threadMemory } from './thread-memory.js';
import type { Asked, Progress, Request, ThreadSettings } from './thread-messages.js';

/** The store is copied when it could give back this much, and this share of its size. */
const reclaimBytesMin = 8 * 1024 * 1024;
const reclaimShareMin = 0.4;
/** An explicit request needs less, also for small stores. */
const askedShareMin = 0.1;
/** But not for the few pages that every store has beside its records: a copy has them too. */
const askedBytesMin = 16 * 4_096;
/** How long a moment without requests is waited for, and how long requests then wait for those before them. */
const idleMomentMs = 2_000;
const drainMs = 1_000;
/** When a server that has indexes starts their threads, unless they are needed before: its own start comes first. */
const warmAfterMs = 1_000;

type IndexThread = RpcThread<Request, readonly FailedView[], Progress, Asked>;

export interface ThreadBackendOptions extends Omit<ThreadSettings, 'folder' | 'slot'> {
  log: (space: string, message: string) => void;
  /** Told of the functions that the thread has called. */
  onCalls?: (counts: MapCounts) => void;
}

/**
 * Indexes in a store of their own, filled by a thread of their own. Thread and store are there from the first view on, or soon
 * after the start where there are indexes; a server without views has neither. This thread reads the store, that one writes it.
 *
 * The store lies in a numbered folder below `folder`, beside those of other slots. It never shrinks; where that is worth it, a compact copy takes its
 * place under the next number, while the filling (not the reading) of indexes waits.
 */
export class ThreadBackend implements IndexBackend {
  #store: LmdbStore | undefined;
  #storeFolder: string | undefined;
  #otherReaders: OtherReaders | undefined;
  #thread: IndexThread | undefined;
  /** Set while the store is being replaced: requests wait for it. */
  #replacing: Promise<void> | undefined;
  #closed = false;
  readonly #warming: Timer;

  constructor(
    private readonly folder: string,
    private readonly options: ThreadBackendOptions,
    private readonly runtime: Runtime = new SystemRuntime(),
    private readonly slot = 0,
  ) {
    this.#warming = runtime.setIdleTimer(() => void this.#warm(), warmAfterMs);
  }

  get store(): LmdbStore {
    if (this.#store !== undefined) return this.#store;
    const folder = this.#currentFolder();
    const store = (this.#store = new LmdbStore(folder, undefined, undefined, indexStoreOptions));
    // Others may have been told that there is none, or of another one.
    if (this.#storeFolder !== folder) this.#otherReaders?.moved();
    this.#storeFolder = folder;
    return store;
  }

  get storeFolder(): string | undefined {
    return this.#storeFolder;
  }

  share(readers: OtherReaders): void {
    this.#otherReaders = readers;
    if (this.#isUsed()) this.#storeFolder ??= this.#currentFolder();
  }

  async update(job: IndexJob, { folder }: Documents, onProgress: OnProgress): Promise<readonly FailedView[]> {
    const asked = this.#ask({ type: 'update', job, documents: folder! }, onProgress);
    const failed = await asked.catch((error: unknown) => {
      throw error instanceof RequestError && error.error === 'insufficient_storage'
        ? indexNotUpdated(error)
        : error;
    });
    this.#store?.refresh();
    return failed;
  }

  async keepOnly(instance: number, signatures: readonly string[]): Promise<void> {
    if (this.#hasWork(instance)) await this.#ask({ type: 'keep_only', instance, signatures });
  }

  async drop(instance: number): Promise<void> {
    if (this.#hasWork(instance)) await this.#ask({ type: 'drop', instance });
  }

  async discard(number: number, root: number): Promise<void> {
    await this.#ask({ type: 'discard', number, root });
    this.#store?.refresh();
  }

  async released(folder: string): Promise<void> {
    if (this.#thread !== undefined) await this.#ask({ type: 'released', folder });
  }

  restart(): Promise<void> {
    return this.#stop();
  }

  async renew(): Promise<void> {
    if (this.#thread !== undefined) await this.#ask({ type: 'renew' });
  }

  set settings(settings: Pick<ThreadSettings, 'timeout_ms' | 'reduce_limit'>) {
    Object.assign(this.options, settings);
    this.#thread?.tell({ type: 'settings', settings });
  }

  /**
   * Waits for a moment in which nothing is asked of the thread. Under constant load there is none; then further requests
   * are kept waiting until what the thread is at has ended. A long update is not waited for: the next call tries again.
   * Of several who ask for the same, one does it.
   */
  async reclaim(isAsked: boolean): Promise<void> {
    await this.#isIdleWithin(idleMomentMs);
    if (this.#replacing === undefined && !this.#closed && this.#isWorthwhile(isAsked)) {
      this.#replacing = this.#replaceWhenDrained().finally(() => {
        this.#replacing = undefined;
        // The thread was stopped, and may have been erasing: a new one goes on with it.
        void this.#warm(() => isErasing(this.store));
      });
    }
    await this.#replacing;
  }

  async #replaceWhenDrained(): Promise<void> {
    if (await this.#isIdleWithin(drainMs)) await this.#replaceStore();
  }

  async #isIdleWithin(ms: number): Promise<boolean> {
    let timer: Timer | undefined;
    const isOver = new Promise<boolean>((resolve) => {
      timer = this.runtime.setIdleTimer(() => resolve(true), ms);
    });
    try {
      while (this.#thread !== undefined && this.#thread.pending > 0)
        if (await Promise.race([isOver, this.#thread.whenIdle().then(() => false)])) return false;
      return true;
    } finally {
      timer?.cancel();
    }
  }

  #isWorthwhile(isAsked: boolean): boolean {
    if (!this.#isUsed()) return false;
    const { file_bytes, used_bytes } = this.store.size();
    const free = file_bytes - used_bytes;
    if (isAsked) return free >= askedBytesMin && free >= askedShareMin * file_bytes;
    return free >= reclaimBytesMin && free >= reclaimShareMin * file_bytes;
  }

  /** The first update finds its threads there. An error, of opening the store too, is left to those who need them. */
  async #warm(isWorthwhile = () => this.#hasWork()): Promise<void> {
    try {
      if (!this.#closed && isWorthwhile()) await this.#ask({ type: 'warm' });
    } catch {
      // A full disk, most likely.
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#warming.cancel();
    // What could not be copied is not copied.
    await this.#replacing?.catch(() => {});
    await this.#stop();
    await this.#store?.close();
    this.#store = undefined;
  }

  /** Whether it has indexes of a group. */
  has(instance: number): boolean {
    return this.#isUsed() && hasIndexes(this.store, instance);
  }

  size(): StoreSize | undefined {
    return this.#isUsed() ? this.store.size() : undefined;
  }

  #isUsed(): boolean {
    return this.#store !== undefined || hasFolder(this.folder, this.slot);
  }

  /** Whether the thread has something to do, or would have: a folder without indexes needs none. */
  #hasWork(instance?: number): boolean {
    if (this.#thread !== undefined) return true;
    if (!this.#isUsed()) return false;
    this.store.refresh();
    return hasIndexes(this.store, instance);
  }

  #currentFolder(): string {
    return currentFolder(this.folder, this.slot);
  }

  async #replaceStore(): Promise<void> {
    await this.#stop();
    const old = this.#currentFolder();
    const next = await copyToNext(this.store, old);
    const replaced = this.#store;
    this.#store = undefined;
    await replaced?.close();
    this.#storeFolder = next;
    await this.#otherReaders?.release(old, next);
    await fs.promises.rm(old, { recursive: true, force: true });
  }

  async #ask(request: Request, onProgress?: OnProgress): Promise<readonly FailedView[]> {
    while (this.#replacing !== undefined) await this.#replacing.catch(() => {});
    if (this.#closed) throw new Unavailable('The server is being stopped.');
    return await this.#start().call(request, {
      onNote: ({ done, total }) => onProgress?.(done, total),
    });
  }

  #start(): IndexThread {
    if (this.#thread !== undefined) return this.#thread;
    // The folder must be there, and of the right number, before the thread opens it.
    void this.store;
    const { threads, memory_bytes, timeout_ms, reduce_limit } = this.options;
    const settings: ThreadSettings = {
      folder: this.#currentFolder(),
      slot: this.slot,
      threads,
      memory_bytes,
      timeout_ms,
      reduce_limit,
    };
    const thread: IndexThread = new RpcThread(new URL('./index-thread.js', import.meta.url), {
      name: 'tuffet-index',
      workerData: settings,
      resourceLimits: threadMemory,
      handle: (asked) => this.#answer(thread, asked),
      onEnd: () => this.#lost(thread),
    });
    this.#thread = thread;
    return thread;
  }

  /** A message of a thread that has ended meanwhile may still come: it would never give the store back. */
  #answer(thread: IndexThread, asked: Asked): void | Promise<void> {
    if (asked.type === 'log') return this.options.log(asked.space, asked.message);
    if (asked.type === 'calls') return this.options.onCalls?.(asked.counts);
    if (thread !== this.#thread) return;
    if (asked.type === 'release') return this.#release(thread);
    this.#resume();
  }

  async #release(thread: IndexThread): Promise<void> {
    await this.#store?.suspend();
    if (this.#storeFolder !== undefined) await this.#otherReaders?.release(this.#storeFolder);
    if (thread !== this.#thread) this.#resume();
  }

  #resume(): void {
    this.#store?.resume();
    if (this.#storeFolder !== undefined) this.#otherReaders?.reopened(this.#storeFolder);
  }

  /** The next request starts a new thread. */
  #lost(thread: IndexThread): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#resume();
  }

  async #stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    await thread.call({ type: 'close' }).catch(() => {});
    this.#thread = undefined;
    await thread.stop();
    // It may have asked for the store to be closed, and cannot ask for it to be opened any more.
    this.#resume();
  }
}

const indexNotUpdated = (cause: unknown): StorageError =>
  new StorageError(
    'insufficient_storage',
    'The disk of the server is full: the index could not be updated. With update=false it is read as it is.',
    cause,
  );
