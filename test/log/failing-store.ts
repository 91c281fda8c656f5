import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Write } from '../../src/storage/store.js';

/** A disk that can be told to refuse every batch. */
export class FailingStore extends MemoryStore {
  failing = false;
  #onFailed!: () => void;
  /** Resolves when a batch was refused. */
  readonly failed = new Promise<void>((resolve) => (this.#onFailed = resolve));

  override write(batch: readonly Write[]): Commit {
    if (!this.failing) return super.write(batch);
    this.#onFailed();
    const refused = Promise.reject(new Error('the disk is full'));
    refused.catch(() => undefined);
    return { committed: refused, flushed: refused };
  }
}
