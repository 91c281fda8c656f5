import { failedCommit } from '../base/storage-errors.js';
import type { Lmdb } from './lmdb-environment.js';
import type { LmdbRecords, Wanted } from './lmdb-records.js';
import type { Range } from './store.js';

/** A document is read whole into memory before it is stored; hardly any value is larger than such a body may be. */
export const valueBytesUsualMax = 64 * 1024 * 1024;

let roomBytes = 0;

/** Whether a value fits the buffer that the library reads into. */
export const hasRoom = (bytes: number): boolean => bytes <= roomBytes;

/**
 * The library copies a value it reads into a buffer, one for all stores of a thread, of 16 MB at first. A larger value is
 * given as a view of the memory map, which is no `Buffer`, and wrong or not to be had once the map has grown. So the
 * buffer is made large enough beforehand; what is never read into it takes no memory.
 */
export function makeRoom(db: Lmdb, bytes: number): void {
  if (bytes <= roomBytes) return;
  // Twice what it is asked for is what it allocates.
  (db as unknown as { _allocateGetBuffer(bytes: number): void })._allocateGetBuffer(Math.ceil(bytes / 2));
  roomBytes = bytes;
}

/**
 * Steps through a range for as long as its database is open. After that, a step or the end of an iteration would have the
 * library use memory of a transaction that is gone. Plain objects instead of a generator: this stands on the way of every
 * row of a listing.
 */
export function guarded<T>(
  iterator: Iterator<T>,
  isOpen: () => boolean,
  records: LmdbRecords,
  wanted: Wanted,
): Iterator<T> {
  return {
    next() {
      if (!isOpen()) throw failedCommit(new Error('it was closed while it was read'));
      records.wanted = wanted;
      const step = iterator.next();
      const damage = records.takeDamage();
      if (damage === undefined) return step;
      iterator.return?.();
      throw damage;
    },
    return: () => (isOpen() ? iterator.return?.() : undefined) ?? { done: true, value: undefined },
  };
}

/** LMDB walks backwards from `start`, which belongs to the range, down to `end`, which does not. */
export function lmdbRange({ start, end, reverse, offset, limit }: Range): object {
  const bounds = reverse
    ? { start: end, end: start, reverse, exclusiveStart: true, inclusiveEnd: true }
    : { start, end };
  return {
    ...bounds,
    ...(offset === undefined ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  };
}
