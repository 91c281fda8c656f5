import { ListedRuns } from './listed-runs.js';
import type { Bytes, Commit, Entry, NumberedEntry, Range, Store, StoreSize, Write } from './store.js';

/** Larger values are not worth their room. */
const valueBytesMax = 8 * 1024;

/** What short lists may take beside the records, as a part of what those may. */
const listedShare = 0.25;

/**
 * Remembers values that were read one by one, and short lists (`ListedRuns`), up to a number of bytes. Documents are read far
 * more often than written, and a look-up in a map costs a tenth of one in the store.
 *
 * Two maps stand in for an order of use: what is read goes into the young one; when that is full it becomes the old
 * one, and what was in the old one and not asked for since is forgotten. Right only as long as every write to the store
 * goes through here, which the lock on the data folder ensures. Callers that read a whole database use `getUncached`, so that
 * they don't evict the records that other requests use.
 */
export class CachedStore implements Store {
  #young = new Map<Bytes, Bytes>();
  #old = new Map<Bytes, Bytes>();
  #youngBytes = 0;
  readonly #lists = new ListedRuns(() => this.bytesMax() * listedShare);

  constructor(
    private readonly store: Store,
    /** Asked whenever something is added: stores may share one number of bytes. */
    private readonly bytesMax: () => number,
  ) {}

  get(key: Bytes): Bytes | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const value = this.#old.get(key) ?? this.store.get(key);
    if (value !== undefined && value.length <= valueBytesMax) this.#remember(key, value);
    return value;
  }

  getUncached(key: Bytes): Bytes | undefined {
    return this.#young.get(key) ?? this.#old.get(key) ?? this.store.getUncached(key);
  }

  entries(range: Range): Iterable<Entry> {
    return this.store.entries(range);
  }

  keys(range: Range): Iterable<Bytes> {
    return this.store.keys(range);
  }

  list(range: Range, bytesMax: number): Entry[] {
    if (!ListedRuns.concerns(range)) return this.store.list(range, bytesMax);
    const known = this.#lists.list(range, bytesMax);
    if (known !== undefined) return known;
    const found = this.store.list(range, bytesMax);
    this.#lists.add(range, bytesMax, found);
    return found;
  }

  listNumbered(range: Range): NumberedEntry[] {
    return this.store.listNumbered(range);
  }

  count(range: { start: Bytes; end: Bytes }): number {
    return this.#lists.count(range.start, range.end) ?? this.store.count(range);
  }

  write(batch: readonly Write[]): Commit {
    const { committed, flushed } = this.store.write(batch);
    const renewed = committed.then(
      () => {
        for (const { key, value } of batch) this.#renew(key, value);
      },
      (error: unknown) => {
        this.#lists.clear();
        throw error;
      },
    );
    // The flush resolves after the cache is updated, and rejects where the write failed.
    renewed.catch(() => undefined);
    return { committed: renewed, flushed: flushed.then(() => renewed) };
  }

  refresh(): void {
    this.store.refresh();
  }

  forgetReaders(): void {
    this.store.forgetReaders?.();
  }

  size(): StoreSize {
    return this.store.size();
  }

  keyCount(): number {
    return this.store.keyCount();
  }

  copyTo(folder: string): Promise<void> {
    return this.store.copyTo(folder);
  }

  close(): Promise<void> {
    this.#young.clear();
    this.#old.clear();
    this.#lists.clear();
    return this.store.close();
  }

  #remember(key: Bytes, value: Bytes): void {
    this.#young.set(key, value);
    this.#youngBytes += key.length + value.length;
    if (this.#youngBytes < this.bytesMax() / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  /** Only what is remembered is renewed: most of what is written is not read soon. */
  #renew(key: Bytes, value: Bytes | undefined): void {
    this.#lists.forget(key);
    this.#old.delete(key);
    if (!this.#young.has(key)) return;
    if (value !== undefined && value.length <= valueBytesMax) this.#young.set(key, value);
    else this.#young.delete(key);
  }
}
