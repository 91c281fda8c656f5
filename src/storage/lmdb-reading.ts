import { failedCommit } from '../base/storage-errors.js';
import type { Lmdb } from './lmdb-environment.js';
import type { Bytes, Range } from './store.js';

/** A document is read whole into memory before it is stored; hardly any value is larger than such a body may be. */
export const valueBytesUsualMax = 64 * 1024 * 1024;

export const latin1Slice = Buffer.prototype.latin1Slice;

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

const loopBytesMax = 80;

export const keyEncoder = {
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

export const readHead = (bytes: number) => (): void => {
  headBytes = bytes;
};

export const readNumbers = (): void => {
  keysAreNumbers = true;
};

/** The last six bytes of a key. */
function readNumber(source: Buffer, end: number): number {
  const high = source[end - 6]! * 0x100 + source[end - 5]!;
  const low = (source[end - 4]! << 16) | (source[end - 3]! << 8) | source[end - 2]!;
  return high * 0x1_0000_0000 + low * 0x100 + source[end - 1]!;
}

export const encoder = {
  encode: (value: Bytes): Buffer => Buffer.from(value, 'latin1'),
  // A range read passes the length, a single read a buffer of the right length.
  decode(bytes: Buffer, passed?: number | { end: number }): Bytes {
    const length = passed === undefined ? bytes.length : typeof passed === 'number' ? passed : passed.end;
    return latin1Slice.call(bytes, 0, length > headBytes ? headBytes : length);
  },
};

/**
 * Steps through a range for as long as its database is open. After that, a step or the end of an iteration would have the
 * library use memory of a transaction that is gone. Plain objects instead of a generator: this stands on the way of every
 * row of a listing.
 */
export function guarded<T>(
  iterator: Iterator<T>,
  isOpen: () => boolean,
  prepare: (() => void) | undefined,
): Iterator<T> {
  return {
    next() {
      if (!isOpen()) throw failedCommit(new Error('it was closed while it was read'));
      if (prepare === undefined) return iterator.next();
      prepare();
      try {
        return iterator.next();
      } finally {
        headBytes = Infinity;
        keysAreNumbers = false;
      }
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
