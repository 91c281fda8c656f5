import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { GroupCommit } from '../storage/group-commit.js';
import { type Bytes, type Store, type Write } from '../storage/store.js';
import { GroupFollowers, GroupLog } from './group-log.js';
import type { DatabaseKeys } from './keys.js';
import { namesFile, releasedBlobs } from './volume-blobs.js';
import { VolumeJournal } from './volume-journal.js';
import { volumeBytes, WriteView, type Touched } from './write-view.js';

/** Keys that are carried over to a copy of the store in one commit, and about how many bytes. */
const carriedKeysMax = 2_000;
const carriedBytesMax = 8 * 1024 * 1024;
/** How often that is done before writers are kept waiting, however much they have changed meanwhile. */
const carryRoundsMax = 10;

/**
 * A store with the shards of many databases, and the one queue by which commands reach them. The store may be
 * replaced by a compact copy of itself while requests go on using the volume.
 */
export class Volume {
  readonly #view: WriteView;
  readonly #commits: GroupCommit;
  readonly #followers = new GroupFollowers();
  /** What changes the volume itself. */
  readonly journal: VolumeJournal;
  #store: Store;
  /** The batch that was handed to the store last. */
  #sealed: readonly Write[] = [];
  /** Told of every batch of writes, when readers see it. */
  readonly #watchers = new Set<(writes: readonly Write[]) => void>();
  /** While the store is being copied: the keys that changed since. */
  #changed: Set<Bytes> | undefined;

  constructor(
    readonly slot: number,
    store: Store,
    onCommit: (touched: readonly Touched[]) => void,
    /** Encodes and decodes every command before it is applied: see `log/log.ts`. */
    private readonly encoded = false,
    readonly runtime: Runtime = new SystemRuntime(),
  ) {
    this.#store = store;
    this.#view = new WriteView(() => this.#store);
    this.#commits = new GroupCommit(
      () => this.#store,
      this.#view,
      (writes) => {
        this.#sealed = writes;
        for (const { key } of this.#changed === undefined ? [] : writes) this.#changed!.add(key);
        const touched = this.#view.takeTouched();
        return () => {
          for (const watch of this.#watchers) watch(writes);
          onCommit(touched);
          this.#followers.deliver(touched);
        };
      },
      runtime,
    );
    this.journal = new VolumeJournal({ commits: this.#commits, view: this.#view, encoded });
  }

  /** The log of a database's group. */
  log(instance: number): GroupLog {
    const logs = {
      commits: this.#commits,
      view: this.#view,
      followers: this.#followers,
      encoded: this.encoded,
      runtime: this.runtime,
    };
    return new GroupLog(logs, () => this.#store, instance);
  }

  /** Tells of every batch of writes that readers see from now on. Gives the function that ends it. */
  watch(onWrites: (writes: readonly Write[]) => void): () => void {
    this.#watchers.add(onWrites);
    return () => void this.#watchers.delete(onWrites);
  }

  /** Removes up to `keysMax` keys of a database that is gone; tells whether any are left. */
  async erase(keys: DatabaseKeys, keysMax: number): Promise<boolean> {
    // The database takes no commands any more; those it has taken are applied before its keys are looked for.
    await this.#commits.whenDurable();
    const found = [...this.#store.keys({ ...keys.range, limit: keysMax })];
    if (found.length > 0) await this.journal.record({ type: 'erase', instance: keys.instance, keys: found });
    return found.length === keysMax;
  }

  /** Blobs kept as files that no group of this volume names any more. */
  releasedBlobs(limit: number): string[] {
    return releasedBlobs(this.#store, limit);
  }

  /** Whether a kept revision names a blob that is kept as a file. */
  namesFile(blob: string): boolean {
    return namesFile(this.#store, blob);
  }

  /** Runs `work` while the store holds exactly what readers have been told of. */
  runBetweenCommits(work: () => void): Promise<void> {
    return this.#commits.runBetweenCommits(work);
  }

  /** How many bytes of the file stand for one byte of records: the slack of pages, shared out. */
  get fileFactor(): number {
    const recorded = volumeBytes(this.#store) ?? 0;
    return recorded === 0 ? 1 : Math.max(1, this.#store.size().used_bytes / recorded);
  }

  get store(): Store {
    return this.#store;
  }

  /**
   * Puts a compact copy in the place of the store. Writing goes on during the copying; what has changed meanwhile is
   * carried over in the short moment, without writers, in which `adopt` makes the copy the one that counts.
   */
  async replaceStore(copy: (from: Store) => Promise<Store>, adopt: () => Promise<void>): Promise<void> {
    // A batch under way may reach the store only after the copy was taken.
    this.#changed = new Set(this.#sealed.map(({ key }) => key));
    let fresh: Store | undefined;
    try {
      fresh = await copy(this.#store);
      const next = fresh;
      // Most of what has changed is carried over while writing goes on, so that writers have to wait for the last of it only.
      for (let round = 0; round < carryRoundsMax && this.#changed.size > carriedKeysMax; round++) {
        const changed = this.#changed;
        this.#changed = new Set(this.#sealed.map(({ key }) => key));
        await this.#carry(changed, next);
      }
      await this.#commits.runExclusive(async () => {
        await this.#carry(this.#changed!, next);
        await adopt();
        const replaced = this.#store;
        this.#store = next;
        await replaced.close();
      });
    } catch (error) {
      if (fresh !== undefined && fresh !== this.#store) await fresh.close();
      throw error;
    } finally {
      this.#changed = undefined;
    }
  }

  /** Brings keys of a copy up to date with the store. */
  async #carry(changed: ReadonlySet<Bytes>, copy: Store): Promise<void> {
    const slice = this.runtime.slice();
    let writes: Write[] = [];
    let bytes = 0;
    for (const key of changed) {
      const value = this.#store.get(key);
      writes.push({ key, value });
      bytes += key.length + (value?.length ?? 0);
      if (slice.isOver) await slice.next();
      if (writes.length < carriedKeysMax && bytes < carriedBytesMax) continue;
      await copy.write(writes).flushed;
      writes = [];
      bytes = 0;
    }
    if (writes.length > 0) await copy.write(writes).flushed;
  }

  async close(): Promise<void> {
    await this.#commits.whenIdle();
    await this.#store.close();
  }
}
