import { GroupCommit } from '../storage/group-commit.js';
import type { Bytes, Store } from '../storage/store.js';
import { apply } from './apply.js';
import type { Command, ResultOf } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import { WriteView, type Touched } from './write-view.js';

/**
 * A store with the shards of many databases, and the one queue by which commands reach them. The store may be
 * replaced by a compact copy of itself while everybody goes on using the volume.
 */
export class Volume {
  readonly #view: WriteView;
  readonly #commits: GroupCommit;
  #store: Store;
  /** While the store is being copied: the keys that changed since. */
  #changed: Set<Bytes> | undefined;

  constructor(
    readonly slot: number,
    store: Store,
    onCommit: (touched: readonly Touched[]) => void,
  ) {
    this.#store = store;
    this.#view = new WriteView(() => this.#store);
    this.#commits = new GroupCommit(
      () => this.#store,
      this.#view,
      (writes) => {
        for (const { key } of this.#changed === undefined ? [] : writes) this.#changed!.add(key);
        const touched = this.#view.takeTouched();
        return () => onCommit(touched);
      },
    );
  }

  submit<C extends Command>(command: C): Promise<ResultOf<C>> {
    return this.#commits.submit(() => apply(command, this.#view));
  }

  /** Removes up to `keysMax` keys of a database that is gone; tells whether any are left. */
  async erase(keys: DatabaseKeys, keysMax: number): Promise<boolean> {
    const found = [...this.#store.keys({ ...keys.range, limit: keysMax })];
    if (found.length > 0) await this.#commits.submit(() => found.forEach((key) => this.#view.remove(key)));
    return found.length === keysMax;
  }

  get store(): Store {
    return this.#store;
  }

  /**
   * Puts a compact copy in the place of the store. Writing goes on during the copying; what has changed meanwhile is
   * carried over in the short moment, without writers, in which `adopt` makes the copy the one that counts.
   */
  async replaceStore(copy: (from: Store) => Promise<Store>, adopt: () => Promise<void>): Promise<void> {
    this.#changed = new Set();
    try {
      const fresh = await copy(this.#store);
      await this.#commits.hold(async () => {
        const writes = [...this.#changed!].map((key) => ({ key, value: this.#store.get(key) }));
        if (writes.length > 0) await fresh.write(writes).flushed;
        await adopt();
        const replaced = this.#store;
        this.#store = fresh;
        await replaced.close();
      });
    } finally {
      this.#changed = undefined;
    }
  }

  async close(): Promise<void> {
    await this.#commits.drained();
    await this.#store.close();
  }
}
