import fs from 'node:fs';
import path from 'node:path';
import * as lmdb from 'lmdb';
import type { RootDatabase } from 'lmdb';
import type { Bytes } from '../base/bytes.js';
import { failedCommit } from '../base/storage-errors.js';
import type { DamageError } from './lmdb-records.js';
import { keyBytesMax, type StoreSize } from './store.js';

export type Lmdb = RootDatabase<Bytes, Bytes>;

/** All threads of a process share an environment: for it to be opened again, all must have closed it. */
export interface StoreSharing {
  /** Has other threads close it. Where that was not enough, it is asked for again. */
  release(attempt: number): Promise<void>;
  /** Lets other threads open it again. */
  reopened(): Promise<void>;
}

export const notShared: StoreSharing = {
  release: () => Promise.resolve(),
  reopened: () => Promise.resolve(),
};

export interface LmdbStoreOptions {
  /** What is thrown for a record whose checksum is wrong, in place of `CorruptRecord`. */
  damage?: DamageError;
  /** Read and write what LMDB holds as it is, for an upgrade. */
  asStored?: boolean;
  /** Another process writes to it. */
  readOnly?: boolean;
}

/** Opens the environment in a folder, which is made if need be. */
export function openLmdb(folder: string, codecs: object): Lmdb {
  reserveLockFile(folder);
  try {
    return open(folder, codecs);
  } catch (error) {
    opening?.close();
    throw error;
  } finally {
    opening = undefined;
  }
}

interface NativeEnvironment {
  close(): void;
}

let opening: NativeEnvironment | undefined;

function noteOpening(env: NativeEnvironment): void {
  opening = env;
}

/**
 * All threads of a process share an environment, and one that LMDB has given up after an I/O error (MDB_PANIC) can only be
 * opened again once all of them have closed it. Where `open` of the library fails after it has taken its share, as it does
 * with such an environment, it keeps that share until the garbage collector comes by. So the native object is remembered
 * in the moment in which the library notes its path there, and is closed after a failure.
 */
const { Env } = (lmdb as unknown as { nativeAddon: { Env: { prototype: object } } }).nativeAddon;
Object.defineProperty(Env.prototype, 'path', {
  configurable: true,
  set(this: NativeEnvironment, path: string) {
    noteOpening(this);
    Object.defineProperty(this, 'path', { value: path, writable: true, configurable: true });
  },
});

function open(folder: string, codecs: object): Lmdb {
  return lmdb.open<Bytes, Bytes>({
    path: folder,
    noSubdir: false,
    ...codecs,
    cache: false,
    overlappingSync: false,
    // Batches are put together before they come here. With this on, the library makes a promise of its own for each
    // turn, which rejects with a failed commit and which nothing could handle.
    eventTurnBatching: false,
    // Pages handed to a transaction are filled before they are written: clearing them first is wasted work.
    noMemInit: true,
    maxReaders: readersMax,
  } as never);
}

const readersMax = 512;
const lockFileBytes = 64 * (readersMax + 4);

/**
 * LMDB maps its lock file into memory and writes there: where the disk has no room for that, the process is ended by a
 * signal. So a new lock file gets its room beforehand, or an error.
 */
function reserveLockFile(folder: string): void {
  const file = path.join(folder, 'lock.mdb');
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  fs.mkdirSync(folder, { recursive: true });
  try {
    fs.writeFileSync(file, Buffer.alloc(lockFileBytes));
  } catch (error) {
    fs.rmSync(file, { force: true });
    throw error;
  }
}

interface LmdbStats {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
  lastPageNumber: number;
  entryCount: number;
}

export const lmdbKeyCount = (db: Lmdb): number => (db.getStats() as LmdbStats).entryCount;

export function lmdbSize(db: Lmdb): StoreSize {
  const stats = db.getStats() as LmdbStats;
  const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
  return { file_bytes: (stats.lastPageNumber + 1) * stats.pageSize, used_bytes: pages * stats.pageSize };
}

export function checkKey(key: Bytes): void {
  if (key.length === 0 || key.length > keyBytesMax) throw new Error(`a key has ${key.length} bytes`);
}

/** Stands where an open database was. */
const standIn = (refusal: () => Error): Lmdb => {
  const refuse = (): never => {
    throw refusal();
  };
  return {
    getBinaryFast: refuse,
    getRange: refuse,
    getKeys: refuse,
    getKeysCount: refuse,
    getStats: refuse,
    useReadTransaction: refuse,
    batch: () => Promise.reject(refusal()),
    backup: () => Promise.reject(refusal()),
    resetReadTxn: () => undefined,
    close: () => Promise.resolve(),
  } as unknown as Lmdb;
};

export const closedDatabase = standIn(() => new Error('The store is closed.'));
/** In place of one that is being opened again. */
export const suspendedDatabase = standIn(() =>
  failedCommit(new Error('it is being opened again after an error')),
);
