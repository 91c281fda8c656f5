import { noBytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import {
  BufferViews,
  checksumBytes,
  hashKey,
  hashKeyBytes,
  readChecksum,
  viewsOf,
  writeChecksum,
  currentSums,
  type Sums,
} from './checksum.js';
import type { Bytes, Range, Write } from './store.js';

/** Makes the error for a record whose checksum is wrong. */
export type DamageError = (what: string, key: Bytes) => Error;

const damagedRecord: DamageError = (what, key) => new CorruptRecord(what, key);

const wrongChecksum = 'its checksum is wrong';
const wrongPlace = 'it is not where it belongs';

const latin1Slice = Buffer.prototype.latin1Slice;

const loopBytesMax = 80;

export function writeKey(key: Bytes, target: Buffer, position: number): number {
  if (key.length > loopBytesMax) return position + target.latin1Write(key, position);
  // A call into native code costs more than copying a short key byte by byte.
  for (let i = 0; i < key.length; i++) target[position + i] = key.charCodeAt(i);
  return position + key.length;
}

/** The last six bytes of a key. */
function readNumber(source: Uint8Array, end: number): number {
  const high = source[end - 6]! * 0x100 + source[end - 5]!;
  const low = (source[end - 4]! << 16) | (source[end - 3]! << 8) | source[end - 2]!;
  return high * 0x1_0000_0000 + low * 0x100 + source[end - 1]!;
}

/** What is wanted of the entries of a range. */
export interface Wanted {
  /** How much of each value. */
  headBytes: number;
  /** Whether keys are given as numbers. */
  keysAreNumbers: boolean;
  /** How much of the beginning of each key is left out. */
  keyFrom: number;
}

export const wantedOf = ({ headBytes = Infinity, keyFrom = 0 }: Range, keysAreNumbers = false): Wanted => ({
  headBytes,
  keysAreNumbers,
  keyFrom,
});

/**
 * The records of one store as LMDB keeps them: each value is followed by its checksum, which is compared whenever the value
 * is read, whole or in part. The members with names of the library's are called by it.
 */
export class LmdbRecords {
  /** Undefined for a store of an earlier version, whose values stand alone. */
  sums: Sums | undefined = currentSums;
  #wanted: Wanted = { headBytes: Infinity, keysAreNumbers: false, keyFrom: 0 };
  /** The range whose first key is read next. */
  #begun: Range | undefined;
  readonly #views = new BufferViews();
  /** The key that was read last, which is that of the value that is read next. */
  #keySource: Buffer = Buffer.alloc(0);
  #keyStart = 0;
  #keyEnd = 0;
  #damaged: Bytes | undefined;
  #damage = wrongChecksum;

  constructor(private readonly damage: DamageError = damagedRecord) {}

  readonly keyEncoder = {
    writeKey,
    readKey: (source: Buffer, start: number, end: number): Bytes | number => {
      this.#keySource = source;
      this.#keyStart = start;
      this.#keyEnd = end;
      if (this.#begun !== undefined) this.#checkFirst(this.#begun);
      const { keysAreNumbers, keyFrom } = this.#wanted;
      return keysAreNumbers ? readNumber(source, end) : source.latin1Slice(start + keyFrom, end);
    },
  };

  readonly encoder = {
    encode: (bytes: Buffer): Buffer => bytes,
    // An error must not leave the library in the middle of a step: `takeDamage` tells.
    decode: (bytes: Buffer, length: number): Bytes => {
      const seed = this.sums && hashKeyBytes(this.#keySource, this.#keyStart, this.#keyEnd);
      const end = this.#valueEnd(seed, bytes, length);
      if (end < 0) {
        this.#noteDamage(wrongChecksum);
        return noBytes;
      }
      const { headBytes } = this.#wanted;
      return latin1Slice.call(bytes, 0, end > headBytes ? headBytes : end);
    },
  };

  /** To be called before each step of a range, with the range before its first. */
  beforeStep(wanted: Wanted, begun?: Range): void {
    this.#wanted = wanted;
    this.#begun = begun;
  }

  /** Whether the record of the last step was damaged. */
  get isDamaged(): boolean {
    return this.#damaged !== undefined;
  }

  /** The error of that step. */
  takeDamage(): Error {
    const key = this.#damaged!;
    this.#damaged = undefined;
    return this.damage(this.#damage, key);
  }

  #noteDamage(what: string): void {
    this.#damaged = this.#keySource.latin1Slice(this.#keyStart, this.#keyEnd);
    this.#damage = what;
  }

  /**
   * Where the page that LMDB was led to has no key of a range, it goes on with the next page. If a damaged page has led it to
   * a wrong one, the key it finds there is not in the range, and who reads on behind that key would go round in a circle.
   */
  #checkFirst({ start, end, reverse }: Range): void {
    this.#begun = undefined;
    if (reverse ? this.#isFrom(end) : !this.#isFrom(start)) this.#noteDamage(wrongPlace);
  }

  /** Whether the key that was read last is not before another one. */
  #isFrom(key: Bytes): boolean {
    const length = this.#keyEnd - this.#keyStart;
    for (let i = 0; i < key.length; i++) {
      if (i === length) return false;
      const difference = this.#keySource[this.#keyStart + i]! - key.charCodeAt(i);
      if (difference !== 0) return difference > 0;
    }
    return true;
  }

  /** The value that was read for a key. */
  read(key: Bytes, bytes: Uint8Array, length: number): Bytes {
    const end = this.#valueEnd(this.sums && hashKey(key), bytes, length);
    if (end < 0) throw this.damage(wrongChecksum, key);
    return latin1Slice.call(bytes, 0, end);
  }

  /** How long a value is without its checksum; negative where that is wrong. */
  #valueEnd(seed: number | undefined, bytes: Uint8Array, length: number): number {
    if (seed === undefined) return length;
    const end = length - checksumBytes;
    if (end < 0) return -1;
    const views = this.#views.of(bytes, length);
    return this.sums!.hash(views, 0, end, seed) === readChecksum(views, end) ? end : -1;
  }

  /** Room for the values of a batch. */
  batch(writes: readonly Write[]): BatchBytes {
    let bytes = 0;
    for (const { value } of writes) if (value !== undefined) bytes += aligned(value.length + checksumBytes);
    return new BatchBytes(bytes, this.sums);
  }
}

const aligned = (bytes: number): number => (bytes + 3) & ~3;

/** A buffer of which the library stores the part from `start` to `end`. */
type Part = Buffer & { start: number; end: number };

/** The values of a batch as they are stored, one after the other in one buffer. */
export class BatchBytes {
  readonly #part: Part;
  readonly #views;
  #at = 0;

  constructor(
    bytes: number,
    private readonly sums: Sums | undefined,
  ) {
    this.#part = Object.assign(Buffer.allocUnsafeSlow(bytes), { start: 0, end: 0 });
    this.#views = viewsOf(this.#part.buffer);
  }

  /** Adds a value, and gives what is to be passed to the library before the next one is added. */
  add(key: Bytes, value: Bytes): Part {
    const part = this.#part;
    const end = this.#at + value.length;
    part.latin1Write(value, this.#at);
    part.start = this.#at;
    part.end = end;
    if (this.sums !== undefined) {
      writeChecksum(this.#views, end, this.sums.hash(this.#views, this.#at, value.length, hashKey(key)));
      part.end += checksumBytes;
    }
    this.#at = aligned(end + checksumBytes);
    return part;
  }
}

/** A value with its checksum. */
export function withChecksum(key: Bytes, value: Bytes, sums: Sums): Bytes {
  const part = new BatchBytes(aligned(value.length + checksumBytes), sums).add(key, value);
  return part.latin1Slice(part.start, part.end);
}
