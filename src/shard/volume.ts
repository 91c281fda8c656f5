import { TimeSlice } from '../base/turns.js';
import { StorageError } from '../base/storage-errors.js';
import { GroupCommit, unfinished } from '../storage/group-commit.js';
import { prefixEnd, type Bytes, type Store, type Write } from '../storage/store.js';
import { apply } from './apply.js';
import { countInVolume, fromHex, releasedPrefix, toHex, volumeKey } from './blob-refs.js';
import type { Command, EditCommand, EditResult, ResultOf } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import { decodeState } from './shard-state.js';
import { readVolumeBytes, recordBytes, volumeBytesKey, WriteView, type Touched } from './write-view.js';

/** Keys that are carried over to a copy of the store in one commit, and about how many bytes. */
const carriedKeysMax = 2_000;
const carriedBytesMax = 8 * 1024 * 1024;
/** How often that is done before writers are kept waiting, however much they have changed meanwhile. */
const carryRoundsMax = 10;

/** Edits of one command that are applied together at most. */
const editsAtOnce = 1_000;

/** A command was refused when some of its edits were stored already. */
export class PartlyStored extends StorageError {
  constructor(
    refusal: StorageError,
    /** Of the edits that are stored: the first ones of the command. */
    readonly results: readonly EditResult[],
  ) {
    super(refusal.error as 'service_unavailable', refusal.reason, refusal.cause);
  }
}

/**
 * A store with the shards of many databases, and the one queue by which commands reach them. The store may be
 * replaced by a compact copy of itself while everybody goes on using the volume.
 */
export class Volume {
  readonly #view: WriteView;
  readonly #commits: GroupCommit;
  #store: Store;
  /** The batch that was handed to the store last. */
  #sealed: readonly Write[] = [];
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
        this.#sealed = writes;
        for (const { key } of this.#changed === undefined ? [] : writes) this.#changed!.add(key);
        const touched = this.#view.takeTouched();
        return () => onCommit(touched);
      },
    );
  }

  submit<C extends Command>(command: C): Promise<ResultOf<C>> {
    if (command.type === 'edit' && command.edits.length > 1)
      return this.#submitEdits(command) as Promise<ResultOf<C>>;
    return this.#commits.submit(() => apply(command, this.#view));
  }

  /**
   * Many edits are applied in parts, each of which is all or nothing. Where some are on disk when the store refuses
   * another, the refusal tells which.
   */
  async #submitEdits(command: EditCommand): Promise<EditResult[]> {
    const results: EditResult[] = [];
    const parts: number[] = [];
    let stored = 0;
    const { edits } = command;
    const step = (): EditResult[] | typeof unfinished => {
      const part = edits.slice(results.length, results.length + editsAtOnce);
      const done = apply({ ...command, edits: part }, this.#view);
      for (const each of done) results.push(each);
      parts.push(results.length);
      return results.length < edits.length ? unfinished : results;
    };
    try {
      return await this.#commits.submit(step, () => (stored = parts.shift()!));
    } catch (error) {
      if (stored === 0 || !(error instanceof StorageError)) throw error;
      throw new PartlyStored(error, results.slice(0, stored));
    }
  }

  /** Removes up to `keysMax` keys of a database that is gone; tells whether any are left. */
  async erase(keys: DatabaseKeys, keysMax: number): Promise<boolean> {
    // Steps are run in order: after an empty one, nothing of that database is on its way any more.
    await this.#commits.submit(() => {});
    const found = [...this.#store.keys({ ...keys.range, limit: keysMax })];
    if (found.length > 0) await this.#commits.submit(() => this.#eraseKeys(keys, found));
    return found.length === keysMax;
  }

  #eraseKeys(keys: DatabaseKeys, found: readonly Bytes[]): void {
    const refs = keys.blobRefsRange;
    const states = keys.state(0).slice(0, -2);
    for (const key of found) {
      if (key.startsWith(states)) this.#view.addVolumeBytes(-recordBytes(decodeState(this.#view.get(key))));
      this.#view.remove(key);
      if (key >= refs.start && key < refs.end)
        countInVolume(this.#view, toHex(key.slice(refs.start.length + 2)), -1, undefined);
    }
  }

  /** Blobs kept as files that no shard of this volume needs any more. */
  releasedBlobs(limit: number): string[] {
    const range = { start: releasedPrefix, end: prefixEnd(releasedPrefix), limit };
    return [...this.#store.keys(range)].map((key) => toHex(key.slice(releasedPrefix.length)));
  }

  /** Takes a blob off that list; tells whether this volume can do without it. */
  forgetReleased(blob: string): Promise<boolean> {
    return this.#commits.submit(() => {
      if (this.#view.get(volumeKey(blob)) !== undefined) return false;
      this.#view.remove(releasedPrefix + fromHex(blob));
      return true;
    });
  }

  /** Puts it back, unless it is needed by now. */
  async markReleased(blob: string): Promise<void> {
    await this.#commits.submit(() => {
      if (this.#view.get(volumeKey(blob)) === undefined) this.#view.put(releasedPrefix + fromHex(blob), '');
    });
  }

  /** Runs `work` while the store holds exactly what readers have been told of. */
  runBetweenCommits(work: () => void): Promise<void> {
    return this.#commits.runBetweenCommits(work);
  }

  /** How many bytes of the file stand for one byte of records: the slack of pages, shared out. */
  get fileFactor(): number {
    const recorded = readVolumeBytes(this.#store.get(volumeBytesKey));
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
    const slice = new TimeSlice();
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
