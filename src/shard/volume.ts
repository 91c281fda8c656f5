import { asBytes, u16, type Bytes } from '../base/bytes.js';
import type { RecentTimes } from '../base/recent-times.js';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { GroupCommit } from '../storage/group-commit.js';
import { RangeCopy } from '../storage/range-copy.js';
import { copiedKeys, type Store, type Write } from '../storage/store.js';
import type { Command } from './commands.js';
import { GroupFollowers, GroupLog, type CommandRoute } from './group-log.js';
import type { DatabaseKeys } from './keys.js';
import { PlacedSteps, type Work } from './placed-steps.js';
import { workOf } from './stream-work.js';
import { namesFile, releasedBlobs } from './volume-blobs.js';
import { VolumeJournal } from './volume-journal.js';
import { volumeBytes, WriteView, type Touched } from './write-view.js';

/** Keys that may be left to carry over while writers wait, and how often fewer are tried for. */
const lastKeysMax = 500;
const carryRoundsMax = 10;
/** With more than these left after all rounds, writers are faster than the carrying: they would wait for too long. */
const waitedKeysMax = 50_000;
/** Each part is flushed, so few large ones keep up with writers better than many small ones. */
const carriedParts = { keys: 2_000, bytes: 8 * 1024 * 1024 };

/** Where the volume is in a stream. Belongs to no database, as the instance number 0 tells. */
/** Under which a volume keeps its place in a stream. */
export const placeKey = (stream: number): Bytes => asBytes(`\0\0\0\0\0p${u16(stream)}`);

/**
 * A store with the shards of many databases, and the one queue by which commands reach them. The store may be
 * replaced by a compact copy of itself while requests go on using the volume.
 */
export class Volume {
  readonly #view: WriteView;
  readonly #commits: GroupCommit;
  readonly #followers = new GroupFollowers();
  readonly #steps = new Map<number, PlacedSteps>();
  /** What changes the volume itself. */
  readonly journal: VolumeJournal;
  #store: Store;
  /** Told of every batch of writes, when readers see it. */
  readonly #watchers = new Set<(writes: readonly Write[]) => void>();

  constructor(
    readonly slot: number,
    store: Store,
    onCommit: (touched: readonly Touched[]) => void,
    /** Encodes and decodes every command before it is applied: see `log/log.ts`. */
    private readonly encoded = false,
    readonly runtime: Runtime = new SystemRuntime(),
    private readonly route: CommandRoute = {},
  ) {
    this.#store = store;
    this.#view = new WriteView(() => this.#store);
    this.#commits = new GroupCommit(
      () => this.#store,
      this.#view,
      (writes) => {
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
      route: this.route,
    };
    return new GroupLog(logs, () => this.#store, instance);
  }

  /** Applies what a stream brings to groups of this volume. */
  steps(stream: number): PlacedSteps {
    let steps = this.#steps.get(stream);
    if (steps === undefined) {
      const key = placeKey(stream);
      steps = new PlacedSteps(this.#commits, this.#view, key, () => this.#store.get(key));
      this.#steps.set(stream, steps);
    }
    return steps;
  }

  /** Somebody waits for what streams have brought so far. */
  hurry(): void {
    this.#commits.hurry();
  }

  /** How a command that a stream brings is applied. */
  work(command: Command): Work {
    return workOf(command, this.#view);
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

  /** How long commits took, in milliseconds, until they were on disk. */
  get commitTimes(): RecentTimes {
    return this.#commits.times;
  }

  /** How many bytes of the file stand for one byte of records: the slack of pages, shared out. */
  get fileFactor(): number {
    const recorded = volumeBytes(this.#store) ?? 0;
    return recorded === 0 ? 1 : Math.max(1, this.#store.size().used_bytes / recorded);
  }

  get store(): Store {
    return this.#store;
  }

  /** Reads another store from now on, which has the same records; gives the one before. For volumes that only others write. */
  exchangeStore(store: Store): Store {
    const before = this.#store;
    this.#store = store;
    return before;
  }

  /**
   * Puts a compact copy in the place of the store. Writing goes on during the copying; the last of what has changed meanwhile
   * is carried over in the short moment, without writers, in which `adopt` makes the copy the one that counts.
   */
  async replaceStore(copy: (from: Store) => Promise<Store>, adopt: () => Promise<void>): Promise<void> {
    let fresh: Store | undefined;
    const changes = new RangeCopy({
      source: () => this.#store,
      ranges: [copiedKeys],
      write: (writes) => fresh!.write(writes).flushed,
      parts: carriedParts,
      runtime: this.runtime,
    });
    // From before the copying begins: a batch under way may reach the store only after the copy was taken.
    const unwatch = this.watch((writes) => changes.noteWrites(writes));
    try {
      const next = (fresh = await copy(this.#store));
      // Most of what has changed is carried over while writing goes on, so that writers wait for the last of it only.
      for (let round = 0; round < carryRoundsMax && changes.behind > lastKeysMax; round++)
        await changes.carry();
      if (changes.behind > waitedKeysMax)
        throw new Error(`volume ${this.slot} is written to faster than it is copied; it stays as it is`);
      await this.#commits.runExclusive(async () => {
        await changes.carry();
        this.#checkComplete(next);
        await adopt();
        const replaced = this.#store;
        this.#store = next;
        await replaced.close();
      });
    } catch (error) {
      if (fresh !== undefined && fresh !== this.#store) await fresh.close();
      throw error;
    } finally {
      unwatch();
    }
  }

  /** Nothing is removed for a copy that lacks something, however that came to be. */
  #checkComplete(copy: Store): void {
    const [expected, found] = [this.#store.keyCount(), copy.keyCount()];
    if (found !== expected)
      throw new Error(
        `the copy of volume ${this.slot} has ${found} keys instead of ${expected}; it is not used`,
      );
  }

  async close(): Promise<void> {
    await this.#commits.whenIdle();
    await this.#store.close();
  }
}
