import { failedCommit } from '../base/storage-errors.js';
import type { Lmdb } from './lmdb-environment.js';
import type { LmdbRecords, Wanted } from './lmdb-records.js';
import type { Bytes, Range } from './store.js';

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

/** What reading a range depends on. */
export interface RangeSource {
  /** Whether the database that ranges are read from is still open. */
  isOpen: boolean;
  readonly records: LmdbRecords;
  /** Reads something, and throws where that is not possible. */
  probe(): void;
}

/** A range that can be stepped through as long as its database is open. */
export class GuardedRange<T> implements Iterable<T> {
  constructor(
    private readonly found: Iterable<T>,
    private readonly source: RangeSource,
    private readonly range: Range,
    private readonly wanted: Wanted,
  ) {}

  [Symbol.iterator](): Iterator<T> {
    return new RangeIterator(this.found, this.source, this.range, this.wanted);
  }
}

/**
 * Steps through a range for as long as its database is open. After that, a step or the end of an iteration would have the
 * library use memory of a transaction that is gone.
 *
 * The library takes most errors at the beginning of a range for its end, such as that no read transaction can be begun. So
 * where nothing was found, it is looked whether something can be read, and the range is read once more.
 */
class RangeIterator<T> implements Iterator<T> {
  #iterator: Iterator<T> | undefined;

  constructor(
    private readonly found: Iterable<T>,
    private readonly source: RangeSource,
    private readonly range: Range,
    private readonly wanted: Wanted,
  ) {}

  next(): IteratorResult<T> {
    const { source, wanted } = this;
    if (!source.isOpen) throw failedCommit(new Error('it was closed while it was read'));
    source.records.beforeStep(wanted);
    const step = this.#iterator === undefined ? this.#first() : this.#iterator.next();
    if (source.records.isDamaged) this.#refuse();
    return step;
  }

  return(): IteratorResult<T> {
    if (this.source.isOpen) this.#iterator?.return?.();
    return { done: true, value: undefined };
  }

  #first(): IteratorResult<T> {
    try {
      const step = this.#begin();
      if (step.done !== true) return step;
    } catch (error) {
      this.source.probe();
      throw error;
    }
    this.source.probe();
    return this.#begin();
  }

  #begin(): IteratorResult<T> {
    this.source.records.beforeStep(this.wanted, this.range);
    this.#iterator = this.found[Symbol.iterator]();
    return this.#iterator.next();
  }

  #refuse(): never {
    this.#iterator?.return?.();
    throw this.source.records.takeDamage();
  }
}

/** How many keys a range has. As with `RangeIterator`, what seems to be nothing may be an error. */
export function countRange(
  db: Lmdb,
  { start, end }: Pick<Range, 'start' | 'end'>,
  source: RangeSource,
): number {
  if (start >= end) return 0;
  try {
    const count = db.getKeysCount({ start, end });
    if (count > 0) return count;
  } catch (error) {
    source.probe();
    throw error;
  }
  source.probe();
  return db.getKeysCount({ start, end });
}

/** As the library takes them. Every member is always there: objects of one form are made and read fastest. */
export interface LmdbRange {
  start: Bytes;
  end: Bytes;
  reverse: boolean;
  exclusiveStart: boolean;
  inclusiveEnd: boolean;
  offset: number;
  limit: number;
}

/** The library takes a number of 32 bits for what is passed over. */
export const offsetMax = 0xffff_ffff;

/** LMDB walks backwards from `start`, which belongs to the range, down to `end`, which does not. */
export function lmdbRange({ start, end, reverse = false, offset = 0, limit = Infinity }: Range): LmdbRange {
  return {
    start: reverse ? end : start,
    end: reverse ? start : end,
    reverse,
    exclusiveStart: reverse,
    inclusiveEnd: reverse,
    offset: Math.min(offset, offsetMax),
    limit,
  };
}
