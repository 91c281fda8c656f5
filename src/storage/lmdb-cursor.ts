import * as lmdb from 'lmdb';
import { asBytes } from '../base/bytes.js';
import type { Lmdb } from './lmdb-environment.js';
import { formatKey } from './lmdb-format.js';
import { hasRoom, offsetMax } from './lmdb-reading.js';
import { writeKey, type LmdbRecords, type Wanted } from './lmdb-records.js';
import { keyBytesMax, type Bytes, type Range } from './store.js';

/** What the library itself reads ranges with. It is not documented, so `package.json` names one version of the library. */
interface Native {
  Cursor: new (database: unknown, transaction: number) => NativeCursor;
  /** Gives the size of the key that was found, 0 where there is none, or the negative number of an error. */
  position(cursor: number, flags: number, offset: number, keySize: number, endAddress: number): number;
  /** The same for the next key. */
  iterate(cursor: number): number;
  getAddress(buffer: ArrayBufferLike): number;
  lmdbError(code: number): Error;
}

interface NativeCursor {
  readonly address: number;
  close(): void;
}

const native = (lmdb as unknown as { nativeAddon: Native }).nativeAddon;

const withValues = 0x100;
const backwards = 0x400;
const inThisTransaction = 0x2000;
const withEnd = 0x8000;
const withoutStart = 0x1_0000;

const forwardFlags = withValues | inThisTransaction;
/** LMDB walks backwards from the end, which does not belong to the range, down to the start, which does. */
const backwardFlags = forwardFlags | backwards | withEnd | withoutStart;

/** Where LMDB puts a key that it has found, behind the length of its value and what tells whether that was copied. */
const keyAt = 32;

/**
 * Reads ranges as a whole. The library's own iterations spend as much time between LMDB and the caller as in LMDB: options,
 * iterators, an object for each step. Nothing else happens while this reads: the read transaction that the library has
 * begun for this turn stays as it is, and the store stays open.
 */
export class LmdbCursor {
  readonly #cursor: NativeCursor;
  /** In which keys are passed to LMDB and back: one for all stores of a thread. */
  readonly #keys: Buffer;
  readonly #keyWords: Uint32Array;
  /** Where LMDB looks for the key that ends a range: its length, and itself. */
  readonly #end = Buffer.from(new ArrayBuffer(4 + keyBytesMax));
  readonly #endAddress = native.getAddress(this.#end.buffer);

  constructor(
    private readonly db: Lmdb,
    private readonly records: LmdbRecords,
    /** Reads a value that does not fit the buffer that LMDB copies values to, which is replaced by a larger one. */
    private readonly readHuge: (key: Bytes) => Bytes | undefined,
  ) {
    this.#keys = keyBufferOf(db);
    this.#keyWords = new Uint32Array(this.#keys.buffer, this.#keys.byteOffset, 2);
    this.#cursor = new native.Cursor((db as unknown as { db: unknown }).db, 0);
  }

  /**
   * Entries up to and with the one that brings them to `bytesMax` bytes of keys and of what is wanted of values. Undefined
   * where the library has to be asked: for a store without a format record, or with bounds that are no keys.
   */
  read<T>(range: Range, wanted: Wanted, bytesMax: number): T[] | undefined {
    const { start, end, limit = Infinity } = range;
    if (start === '' || start.length > keyBytesMax || end.length > keyBytesMax) return undefined;
    if (limit <= 0 || start >= end) return [];
    const values = this.#values();
    return values && this.#read(range, wanted, bytesMax, values);
  }

  /** Begins the transaction of this turn, and gives the buffer that values are copied to: another program part may replace it. */
  #values(): Buffer | undefined {
    return this.db.getBinaryFast(formatKey) as Buffer | undefined;
  }

  #read<T>(range: Range, wanted: Wanted, bytesMax: number, buffer: Buffer): T[] {
    const { records } = this;
    const { address } = this.#cursor;
    let values = buffer;
    const { limit = Infinity } = range;
    const found: T[] = [];
    records.beforeStep(wanted, range);
    let bytes = 0;
    for (let size = this.#begin(range); size !== 0; size = native.iterate(address)) {
      if (size < 0) throw native.lmdbError(size);
      const key = records.keyEncoder.readKey(this.#keys, keyAt, keyAt + size);
      let value: Bytes;
      if (this.#keyWords[1] === 0 && hasRoom(this.#keyWords[0]!)) {
        value = records.encoder.decode(values, this.#keyWords[0]!);
      } else {
        value = this.readHuge(this.#keys.latin1Slice(keyAt, keyAt + size))!.slice(0, wanted.headBytes);
        values = this.#values()!;
      }
      if (records.isDamaged) throw records.takeDamage();
      found.push({ key, value } as T);
      bytes += size + value.length;
      if (found.length >= limit || bytes >= bytesMax) break;
    }
    return found;
  }

  #begin({ start, end, reverse = false, offset = 0 }: Range): number {
    const last = reverse ? start : end;
    this.#end.writeUint32LE(last.length);
    writeKey(last, this.#end, 4);
    const size = writeKey(reverse ? end : start, this.#keys, 0);
    const flags = reverse ? backwardFlags : forwardFlags;
    return native.position(this.#cursor.address, flags, Math.min(offset, offsetMax), size, this.#endAddress);
  }

  /**
   * LMDB looks at the transaction of a cursor that it closes, and that of the last list may be gone. So the cursor is moved
   * to the transaction of this turn first. Where there is none, after an I/O error, the memory of the cursor is not freed.
   */
  close(): void {
    try {
      this.#values();
      if (this.#begin({ start: formatKey, end: asBytes(`${formatKey}\0`) }) >= 0) this.#cursor.close();
    } catch {
      // The environment is given up.
    }
  }
}

interface KeyWriting {
  writeKey: typeof writeKey;
}

function keyBufferOf(db: Lmdb): Buffer {
  const store = db as unknown as KeyWriting;
  const usual = store.writeKey;
  let buffer: Buffer | undefined;
  store.writeKey = (key, target, position) => usual(key, (buffer = target), position);
  try {
    db.getBinaryFast(formatKey);
  } finally {
    store.writeKey = usual;
  }
  return buffer!;
}
