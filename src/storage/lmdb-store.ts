import fs from 'node:fs';
import path from 'node:path';
import { asBytes } from '../base/bytes.js';
import { SystemRuntime, type Runtime, type Timer } from '../base/runtime.js';
import { failedCommit, storageRefusal } from '../base/storage-errors.js';
import {
  closedDatabase,
  lmdbKeyCount,
  lmdbSize,
  notShared,
  openLmdb,
  suspendedDatabase,
  type Lmdb,
  type LmdbStoreOptions,
  type StoreSharing,
} from './lmdb-environment.js';
import { DiskRoom } from './disk-room.js';
import { currentSums } from './checksum.js';
import { upToBytes } from './list-range.js';
import { commitBatch } from './lmdb-commit.js';
import { LmdbCopies } from './lmdb-copies.js';
import { LmdbCursor } from './lmdb-cursor.js';
import { formatKey, formatOf } from './lmdb-format.js';
import {
  countRange,
  GuardedRange,
  hasRoom,
  lmdbRange,
  makeRoom,
  valueBytesUsualMax,
  type RangeSource,
} from './lmdb-reading.js';
import { LmdbRecords, wantedOf, type Wanted } from './lmdb-records.js';
import { LmdbWriter, primeCopy, probeKey } from './lmdb-writer.js';
import type {
  Bytes,
  Commit,
  Entry,
  NumberedEntry,
  Range,
  Store,
  StoreSize,
  StoreSnapshot,
  Write,
} from './store.js';
import { syncNewFolder } from './sync-folder.js';

const resumeMs = 250;

/**
 * A store in one LMDB environment (one folder).
 *
 * Reads go straight to the memory map on the calling thread. Writes are queued by the library and carried out by its
 * writer thread, so that the B-tree work of a commit runs beside the serving thread. Commit and flush are one step
 * here (`overlappingSync: false`): what a reader can see is on disk, which is what feeds and 201 answers rely on.
 */
export class LmdbStore implements Store {
  #db: Lmdb;
  /** For ranges of the database that is open now, or was last. */
  #source!: RangeSource;
  /** Of the database that is open. */
  #cursor: LmdbCursor | undefined;
  readonly #copies = new LmdbCopies();
  /** The last time that it was suspended. */
  #closing: Promise<void> = Promise.resolve();
  #resuming: Timer | undefined;
  readonly #writer: LmdbWriter;
  readonly #room: DiskRoom;
  readonly #records: LmdbRecords;
  /** Set where the next commit has to say of which format the store is. */
  #isUnmarked = false;

  constructor(
    private readonly folder: string,
    private readonly sharing: StoreSharing = notShared,
    private readonly runtime: Runtime = new SystemRuntime(),
    private readonly options: LmdbStoreOptions = {},
  ) {
    this.#records = new LmdbRecords(options.damage);
    const isNew = !fs.existsSync(folder);
    if (isNew && options.readOnly) throw new Error(`${folder} does not exist`);
    try {
      this.#db = this.#open();
      if (isNew) syncNewFolder(path.resolve(folder));
    } catch (error) {
      // What was begun on a full disk must not be taken for a store that is damaged.
      if (isNew) fs.rmSync(folder, { recursive: true, force: true });
      throw storageRefusal(error) ?? error;
    }
    this.#room = new DiskRoom(folder, runtime);
    const host = {
      commit: (writes: readonly Write[]) => this.#commit(writes),
      isBroken: () => this.#isBroken(),
      reopen: (attempt: number) => this.#reopen(attempt),
      reopened: () => this.sharing.reopened(),
      get: (key: Bytes) => this.get(key),
    };
    this.#writer = new LmdbWriter(host, runtime);
  }

  /** Whether values are protected by checksums; not in a store of an earlier version. */
  get hasChecksums(): boolean {
    return this.#records.sums !== undefined;
  }

  #open(): Lmdb {
    const { keyEncoder, encoder } = this.#records;
    const readOnly = this.options.readOnly ?? false;
    const db = openLmdb(this.folder, { keyEncoder, encoder, readOnly });
    makeRoom(db, valueBytesUsualMax);
    try {
      const format = this.options.asStored ? 'plain' : formatOf(db);
      this.#records.sums = format === 'plain' ? undefined : format === 'new' ? currentSums : format;
      this.#isUnmarked = format === 'new';
      this.#cursor = new LmdbCursor(db, this.#records, (key) => this.get(key));
    } catch (error) {
      void db.close();
      throw error;
    }
    this.#source = { isOpen: true, records: this.#records, probe: () => void this.#read(probeKey) };
    return db;
  }

  get(key: Bytes): Bytes | undefined {
    const bytes = this.#read(key);
    if (bytes === undefined) return undefined;
    return hasRoom(bytes.length) ? this.#records.read(key, bytes, bytes.length) : this.#getHuge(key, bytes);
  }

  /** What does not fit into the buffer of the library comes as a view of the memory map; then that buffer is too small. */
  #getHuge(key: Bytes, view: Uint8Array): Bytes | undefined {
    makeRoom(this.#db, view.length);
    const bytes = this.#read(key);
    return bytes === undefined ? undefined : this.#records.read(key, bytes, bytes.length);
  }

  #read(key: Bytes): Uint8Array | undefined {
    try {
      return this.#db.getBinaryFast(key);
    } catch (error) {
      throw this.#isBroken() ? failedCommit(error) : error;
    }
  }

  getUncached(key: Bytes): Bytes | undefined {
    return this.get(key);
  }

  entries(range: Range): Iterable<Entry> {
    return this.#range(range, wantedOf(range));
  }

  keys(range: Range): Iterable<Bytes> {
    return this.#guarded(this.#db.getKeys(lmdbRange(range) as never), range);
  }

  list(range: Range, bytesMax: number): Entry[] {
    const wanted = wantedOf(range);
    return (
      this.#readAtOnce(range, wanted, bytesMax) ?? upToBytes(this.#range(range, wanted), range, bytesMax)
    );
  }

  listNumbered(range: Range): NumberedEntry[] {
    const wanted = wantedOf(range, true);
    return this.#readAtOnce(range, wanted, Infinity) ?? [...(this.#range(range, wanted) as Iterable<never>)];
  }

  #readAtOnce<T>(range: Range, wanted: Wanted, bytesMax: number): T[] | undefined {
    try {
      return this.#cursor?.read<T>(range, wanted, bytesMax);
    } catch (error) {
      throw this.#isBroken() ? failedCommit(error) : error;
    }
  }

  count(range: { start: Bytes; end: Bytes }): number {
    return countRange(this.#db, range, this.#source);
  }

  #range(range: Range, wanted: Wanted): Iterable<Entry> {
    return this.#guarded<Entry>(this.#db.getRange(lmdbRange(range) as never) as never, range, wanted);
  }

  #guarded<T>(found: Iterable<T>, range: Range, wanted = wantedOf(range)): Iterable<T> {
    return new GuardedRange(found, this.#source, range, wanted);
  }

  write(batch: readonly Write[]): Commit {
    const done = this.#writer.write(batch);
    return { committed: done, flushed: done };
  }

  async #commit(batch: readonly Write[]): Promise<void> {
    const writes = this.#isUnmarked ? [...batch, { key: formatKey, value: currentSums.complete }] : batch;
    this.#room.check(writes, () => this.size());
    await commitBatch(this.#db, writes, this.#records.batch(writes));
    this.#isUnmarked = false;
    // The reader that this turn has already opened must not go on showing the state before the commit.
    this.refresh();
  }

  /** An environment whose meta page could not be written is given up by LMDB: even reading fails. */
  #isBroken(): boolean {
    try {
      this.#db.resetReadTxn();
      this.#db.getBinaryFast(probeKey);
      return false;
    } catch {
      return this.#db !== closedDatabase;
    }
  }

  async #reopen(attempt: number): Promise<void> {
    await this.suspend();
    await this.sharing.release(attempt);
    this.resume();
  }

  /** Closes the environment for a while, in which reads are refused. Resolves when it is closed. */
  async suspend(): Promise<void> {
    this.#resuming?.cancel();
    const db = this.#db;
    if (db === closedDatabase) return;
    this.#db = suspendedDatabase;
    this.#endReads();
    if (db !== suspendedDatabase) this.#closing = this.#copies.close(db);
    await this.#closing;
  }

  #endReads(): void {
    this.#source.isOpen = false;
    this.#cursor?.close();
    this.#cursor = undefined;
  }

  /** Opens it again, now or as soon as that can be done. */
  resume(): void {
    if (this.#db !== suspendedDatabase) return;
    try {
      this.#db = this.#open();
    } catch {
      this.#resuming = this.runtime.setIdleTimer(() => this.resume(), resumeMs);
    }
  }

  refresh(): void {
    try {
      this.#db.resetReadTxn();
    } catch {
      // The library has already let go of a read transaction that it finds invalid.
    }
  }

  forgetReaders(): void {
    (this.#db as { readerCheck?: () => void }).readerCheck?.();
  }

  size(): StoreSize {
    return lmdbSize(this.#db);
  }

  keyCount(): number {
    return lmdbKeyCount(this.#db) - (this.#read(probeKey) === undefined ? 0 : 1);
  }

  /** What is committed now, until it is released: pages in use from now on stay as they are meanwhile. */
  snapshot(): StoreSnapshot {
    const db = this.#db;
    const transaction = db.useReadTransaction();
    const entries = (range: Range): Iterable<Entry> =>
      this.#guarded(db.getRange({ ...lmdbRange(range), transaction } as never) as never, range);
    const get = (key: Bytes): Bytes | undefined =>
      [...entries({ start: key, end: asBytes(`${key}\0`) })][0]?.value;
    return { get, entries, release: () => transaction.done() };
  }

  async copyTo(folder: string): Promise<void> {
    await this.#copies.copy(this.#db, folder);
    const copy = new LmdbStore(folder);
    await primeCopy(copy).finally(() => copy.close());
  }

  /** Later reads and writes get an error: the library would access memory that is no longer mapped. */
  async close(): Promise<void> {
    const writing = this.#writer.close();
    // Callers that wait for a failed environment to be opened again must not wait any longer.
    if (this.#db === suspendedDatabase) this.#db = closedDatabase;
    await writing;
    this.#room.close();
    const db = this.#db;
    this.#db = closedDatabase;
    this.#endReads();
    await this.#copies.close(db);
  }
}
