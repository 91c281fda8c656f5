import fs from 'node:fs';
import path from 'node:path';
import '../base/bytes.js';
import { storageRefusal } from '../base/storage-errors.js';
import { checkKey, closedDatabase, openLmdb, suspendedDatabase, type Lmdb } from './lmdb-environment.js';
import { DiskRoom } from './disk-room.js';
import { LmdbWriter, probeKey } from './lmdb-writer.js';
import type { Bytes, Commit, Entry, NumberedEntry, Range, Store, StoreSize, Write } from './store.js';
import { syncFolder } from './sync-folder.js';

/** All threads of a process share an environment: for it to be opened anew, all must have closed it. */
export interface StoreSharing {
  /** Has other threads close it. Where that was not enough, it is asked for again. */
  release(attempt: number): Promise<void>;
  /** Lets other threads open it again. */
  reopened(): Promise<void>;
}

const resumeMs = 250;

const notShared: StoreSharing = { release: () => Promise.resolve(), reopened: () => Promise.resolve() };

/**
 * A store in one LMDB environment (one folder).
 *
 * Reads go straight to the memory map on the calling thread. Writes are queued by the library and carried out by its
 * writer thread, so that the B-tree work of a commit runs beside the serving thread. Commit and flush are one step
 * here (`overlappingSync: false`): what a reader can see is on disk, which is what feeds and 201 answers rely on.
 */
export class LmdbStore implements Store {
  #db: Lmdb;
  /** A copy that is under way; it does not reject. */
  #copying: Promise<unknown> = Promise.resolve();
  readonly #writer: LmdbWriter;
  readonly #room: DiskRoom;

  constructor(
    private readonly folder: string,
    private readonly sharing: StoreSharing = notShared,
  ) {
    const isNew = !fs.existsSync(folder);
    try {
      this.#db = this.#open();
      if (isNew) syncFolder(path.resolve(folder));
    } catch (error) {
      // What was begun on a full disk must not be taken for a store that is damaged.
      if (isNew) fs.rmSync(folder, { recursive: true, force: true });
      throw storageRefusal(error) ?? error;
    }
    this.#room = new DiskRoom(folder);
    this.#writer = new LmdbWriter({
      commit: (writes) => this.#commit(writes),
      isBroken: () => this.#isBroken(),
      reopen: (attempt) => this.#reopen(attempt),
      reopened: () => this.sharing.reopened(),
      get: (key) => this.get(key),
    });
  }

  #open(): Lmdb {
    const db = openLmdb(this.folder, { keyEncoder, encoder });
    makeRoom(db, valueBytesUsualMax);
    return db;
  }

  get(key: Bytes): Bytes | undefined {
    const bytes = this.#db.getBinaryFast(key) as Buffer | undefined;
    if (bytes === undefined) return undefined;
    return bytes.length <= roomBytes ? bytes.latin1Slice(0, bytes.length) : this.#getHuge(key, bytes);
  }

  /** What does not fit into the buffer of the library comes as a view of the memory map; then that buffer is too small. */
  #getHuge(key: Bytes, view: Uint8Array): Bytes | undefined {
    makeRoom(this.#db, view.length);
    const bytes = this.#db.getBinaryFast(key) as Uint8Array | undefined;
    return bytes === undefined ? undefined : latin1Slice.call(bytes, 0, bytes.length);
  }

  getUncached(key: Bytes): Bytes | undefined {
    return this.get(key);
  }

  entries(range: Range): Iterable<Entry> {
    const found = this.#db.getRange(lmdbRange(range) as never) as Iterable<Entry>;
    const { headBytes: bytes } = range;
    return bytes === undefined ? found : stepwise(found, () => (headBytes = bytes));
  }

  keys(range: Range): Iterable<Bytes> {
    return this.#db.getKeys(lmdbRange(range) as never);
  }

  numbered(range: Range): Iterable<NumberedEntry> {
    const found = this.#db.getRange(lmdbRange(range) as never) as unknown as Iterable<NumberedEntry>;
    return stepwise(found, () => (keysAreNumbers = true));
  }

  count(range: { start: Bytes; end: Bytes }): number {
    return range.start < range.end ? this.#db.getKeysCount(range) : 0;
  }

  write(batch: readonly Write[]): Commit {
    const done = this.#writer.write(batch);
    return { committed: done, flushed: done };
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const db = this.#db;
    // The library would commit what comes before a key that it refuses.
    for (const { key } of writes) checkKey(key);
    this.#room.check(writes, () => this.size());
    try {
      await db.batch(() => {
        for (const { key, value } of writes) {
          if (value !== undefined && value.length > roomBytes) makeRoom(db, value.length);
          // One await for the batch stands for all of them: the library commits it as a whole.
          if (value === undefined) void db.remove(key);
          else void db.put(key, value);
        }
      });
    } catch (error) {
      // The cause comes by a promise of its own, which rejects.
      throw await Promise.resolve((error as { commitError?: Promise<never> }).commitError).then(
        () => error,
        (cause: unknown) => cause,
      );
    }
    // The reader that this turn has already opened must not go on showing the state before the commit.
    db.resetReadTxn();
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

  /** Closes the environment for a while, in which reads are refused. */
  async suspend(): Promise<void> {
    const db = this.#db;
    if (db === closedDatabase) return;
    this.#db = suspendedDatabase;
    // The library would go on copying from memory that is not there any more.
    await this.#copying;
    await db.close();
  }

  /** Opens it again, now or as soon as that can be done. */
  resume(): void {
    if (this.#db !== suspendedDatabase) return;
    try {
      this.#db = this.#open();
    } catch {
      setTimeout(() => this.resume(), resumeMs).unref();
    }
  }

  refresh(): void {
    this.#db.resetReadTxn();
  }

  size(): StoreSize {
    const stats = this.#db.getStats() as LmdbStats;
    const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
    return { file_bytes: (stats.lastPageNumber + 1) * stats.pageSize, used_bytes: pages * stats.pageSize };
  }

  async copyTo(folder: string): Promise<void> {
    const copying = this.#db.backup(folder, true);
    this.#copying = copying.catch(() => undefined);
    await copying;
    const copy = new LmdbStore(folder);
    await copy.#prime().finally(() => copy.close());
  }

  /**
   * A compact copy has an empty list of free pages. The library breaks off when the first commit to such a store frees so
   * many pages that their list takes a page of its own; so the list gets its first entries from commits that free few.
   */
  async #prime(): Promise<void> {
    for (const value of ['1', '2', undefined]) await this.write([{ key: probeKey, value }]).flushed;
  }

  /** Who reads or writes later gets an error: the library would go on with memory that is not there any more. */
  async close(): Promise<void> {
    const writing = this.#writer.close();
    // Those who wait for a failed environment to be opened again must not wait for that.
    if (this.#db === suspendedDatabase) this.#db = closedDatabase;
    await writing;
    const db = this.#db;
    this.#db = closedDatabase;
    await db.close();
  }
}

interface LmdbStats {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
  lastPageNumber: number;
}

/** A document is read whole into memory before it is stored; hardly any value is larger than such a body may be. */
const valueBytesUsualMax = 64 * 1024 * 1024;

const { latin1Slice } = Buffer.prototype;

let roomBytes = 0;

/**
 * The library copies a value it reads into a buffer, one for all stores of a thread, of 16 MB at first. A larger value is
 * given as a view of the memory map, which is no `Buffer`, and wrong or not to be had once the map has grown. So the
 * buffer is made large enough beforehand; what is never read into it takes no memory.
 */
function makeRoom(db: Lmdb, bytes: number): void {
  if (bytes <= roomBytes) return;
  // Twice what it is asked for is what it allocates.
  (db as unknown as { _allocateGetBuffer(bytes: number): void })._allocateGetBuffer(Math.ceil(bytes / 2));
  roomBytes = bytes;
}

const loopBytesMax = 80;

const keyEncoder = {
  writeKey(key: Bytes, target: Buffer, position: number): number {
    if (key.length > loopBytesMax) return position + target.latin1Write(key, position);
    // A call into native code costs more than copying a short key byte by byte.
    for (let i = 0; i < key.length; i++) target[position + i] = key.charCodeAt(i);
    return position + key.length;
  },
  readKey: (source: Buffer, start: number, end: number): Bytes | number =>
    keysAreNumbers ? readNumber(source, end) : source.latin1Slice(start, end),
};

/** How much of a value is read, and what is made of a key; changed only while an iteration takes its next step. */
let headBytes = Infinity;
let keysAreNumbers = false;

/** The last six bytes of a key. */
function readNumber(source: Buffer, end: number): number {
  const high = source[end - 6]! * 0x100 + source[end - 5]!;
  const low = (source[end - 4]! << 16) | (source[end - 3]! << 8) | source[end - 2]!;
  return high * 0x1_0000_0000 + low * 0x100 + source[end - 1]!;
}

const encoder = {
  encode: (value: Bytes): Buffer => Buffer.from(value, 'latin1'),
  // A range read passes the length, a single read a buffer of the right length.
  decode(bytes: Buffer, passed?: number | { end: number }): Bytes {
    const length = passed === undefined ? bytes.length : typeof passed === 'number' ? passed : passed.end;
    return latin1Slice.call(bytes, 0, length > headBytes ? headBytes : length);
  },
};

/** Plain objects instead of a generator: this stands on the way of every row of a listing. */
function stepwise<T>(entries: Iterable<T>, prepare: () => void): Iterable<T> {
  return {
    [Symbol.iterator]() {
      const iterator = entries[Symbol.iterator]();
      return {
        next() {
          prepare();
          try {
            return iterator.next();
          } finally {
            headBytes = Infinity;
            keysAreNumbers = false;
          }
        },
        return: () => iterator.return?.() ?? { done: true, value: undefined },
      };
    },
  };
}

/** LMDB walks backwards from `start`, which belongs to the range, down to `end`, which does not. */
function lmdbRange({ start, end, reverse, offset, limit }: Range): object {
  const bounds = reverse
    ? { start: end, end: start, reverse, exclusiveStart: true, inclusiveEnd: true }
    : { start, end };
  return {
    ...bounds,
    ...(offset === undefined ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  };
}
