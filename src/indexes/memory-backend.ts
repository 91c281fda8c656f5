import type { Store } from '../storage/store.js';
import type { Runtime } from '../base/runtime.js';
import type { ScriptHost } from '../script/script-host.js';
import type { StoreSize } from '../storage/store.js';
import { MemoryStore } from '../storage/memory-store.js';
import type { Documents, IndexBackend } from './index-backend.js';
import type { FailedView, IndexJob, OnProgress } from './index-job.js';
import { Indexer } from './indexer.js';

/** Indexes of a server that keeps everything in memory: they are filled on the serving thread. */
export class MemoryBackend implements IndexBackend {
  readonly storeFolder = undefined;
  readonly #indexer: Indexer;

  constructor(
    scripts: ScriptHost,
    runtime: Runtime,
    readonly store: Store = new MemoryStore(),
  ) {
    this.#indexer = new Indexer(store, scripts, 2, runtime);
  }

  update(job: IndexJob, { store }: Documents, onProgress: OnProgress): Promise<readonly FailedView[]> {
    return this.#indexer.update(job, store, onProgress);
  }

  keepOnly(instance: number, signatures: readonly string[]): Promise<void> {
    return this.#indexer.keepOnly(instance, signatures);
  }

  drop(instance: number): Promise<void> {
    return this.#indexer.drop(instance);
  }

  discard(number: number, root: number): Promise<void> {
    return this.#indexer.discard(number, root);
  }

  size(): StoreSize {
    return this.store.size();
  }

  share(): void {}

  async released(): Promise<void> {}

  async restart(): Promise<void> {}

  /** Its functions run on the threads of requests. */
  async renew(): Promise<void> {
    this.#indexer.limits.forget();
    await Promise.resolve();
  }

  async reclaim(): Promise<void> {}

  close(): Promise<void> {
    return this.#indexer.close();
  }
}
