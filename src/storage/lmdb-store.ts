import fs from 'node:fs';
import path from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import '../base/bytes.js';
import type { Bytes, Commit, Entry, NumberedEntry, Range, Store, StoreSize, Write } from './store.js';
import { syncFolder } from './sync-folder.js';

/**
 * A store in one LMDB environment (one folder).
 *
 * Reads go straight to the memory map on the calling thread. Writes are queued by the library and carried out by its
 * writer thread, so that the B-tree work of a commit runs beside the serving thread. Commit and flush are one step
 * here (`overlappingSync: false`): what a reader can see is on disk, which is what feeds and 201 answers rely on.
 */
export class LmdbStore implements Store {
  #db: RootDatabase<Bytes, Bytes>;

  constructor(folder: string) {
    const isNew = !fs.existsSync(folder);
    this.#db = open<Bytes, Bytes>({
      path: folder,
      noSubdir: false,
      keyEncoder,
      encoder,
      cache: false,
      overlappingSync: false,
      // Pages handed to a transaction are filled before they are written: clearing them first is wasted work.
      noMemInit: true,
      maxReaders: 512,
    } as never);
    makeRoom(this.#db, valueBytesUsualMax);
    if (isNew) syncFolder(path.resolve(folder));
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

  getOnce(key: Bytes): Bytes | undefined {
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
    const committed = this.#db.batch(() => {
      for (const { key, value } of batch) {
        if (value !== undefined && value.length > roomBytes) makeRoom(this.#db, value.length);
        // One await for the batch stands for all of them: the library commits it as a whole.
        if (value === undefined) void this.#db.remove(key);
        else void this.#db.put(key, value);
      }
    });
    const done = committed.then(() => {
      // The reader that this turn has already opened must not go on showing the state before the commit.
      this.#db.resetReadTxn();
    });
    return { committed: done, flushed: done };
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
    await this.#db.backup(folder, true);
    const copy = new LmdbStore(folder);
    await copy.#prime();
    await copy.close();
  }

  /**
   * A compact copy has an empty list of free pages. The library breaks off when the first commit to such a store frees so
   * many pages that their list takes a page of its own; so the list gets its first entries from commits that free few.
   */
  async #prime(): Promise<void> {
    for (const value of ['1', '2', undefined]) await this.write([{ key: primeKey, value }]).flushed;
  }

  /** Who reads or writes later gets an error: the library would go on with memory that is not there any more. */
  async close(): Promise<void> {
    const db = this.#db;
    this.#db = closedDatabase;
    await db.close();
  }
}

const isClosed = (): never => {
  throw new Error('The store is closed.');
};

/** Stands where an open database was. */
const closedDatabase = {
  getBinaryFast: isClosed,
  getRange: isClosed,
  getKeys: isClosed,
  getKeysCount: isClosed,
  getStats: isClosed,
  batch: () => Promise.reject(new Error('The store is closed.')),
  backup: () => Promise.reject(new Error('The store is closed.')),
  resetReadTxn: () => undefined,
  close: () => Promise.resolve(),
} as unknown as RootDatabase<Bytes, Bytes>;

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
function makeRoom(db: RootDatabase<Bytes, Bytes>, bytes: number): void {
  if (bytes <= roomBytes) return;
  // Twice what it is asked for is what it allocates.
  (db as unknown as { _allocateGetBuffer(bytes: number): void })._allocateGetBuffer(Math.ceil(bytes / 2));
  roomBytes = bytes;
}

/** Below every other key. */
const primeKey = '\0';

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
