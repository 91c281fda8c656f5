import { asBytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import type { TimeSlice } from '../base/turns.js';
import type { Bytes, Store, Write } from './store.js';

/** Keys that are read, or written, at once, and about how many bytes: few, so that others hardly notice. */
const smallParts = { keys: 500, bytes: 1024 * 1024 };
/** So many keys that have changed are carried over while the ranges are still being copied. */
const changedMax = 5_000;
/** More are not remembered: the copy is given up. */
const notedMax = 4_000_000;

export interface CopiedRange {
  /** First key that belongs to the range. */
  start: Bytes;
  /** First key that no longer does. */
  end: Bytes;
}

export interface RangeCopyOptions {
  /** Asked for each time, as it may be replaced by another that holds the same. */
  source: () => Pick<Store, 'entries' | 'getUncached'>;
  ranges: readonly CopiedRange[];
  /** What an entry of the source is in the copy; `value` is undefined for a key that was removed. By itself, the same. */
  map?: (key: Bytes, value: Bytes | undefined) => readonly Write[];
  /** Resolves when the writes are in the copy. */
  write: (writes: readonly Write[]) => Promise<unknown>;
  /** Called between batches, with the keys that were read since: throws when the work is to end. */
  onBatch?: (keys: number) => void;
  /** What is read or written at once, at most. */
  parts?: { keys: number; bytes: number };
  runtime: Pick<Runtime, 'nextTurn' | 'slice'>;
}

/**
 * Copies ranges of keys while others go on changing them: in short reads, each at one moment of its own.
 *
 * Writers to the source report every batch of writes (`noteWrites`) once readers see it, and not before: a key that
 * were noted earlier could be carried over with what it was, and would then be taken as done. A key is noted wherever it
 * stands, also ahead of what is being copied; the copy never has to know how far exactly it has come. So the copy has, of
 * each key, what it is or an older value and a note. When nothing is written any more and all that is noted has been carried
 * over, it has all.
 *
 * `copy` and `carry` are called one after the other, never at the same time. In place of `copy`, anything may bring the target
 * to what the source was at some moment after notes began: `Volume.replaceStore` leaves that to LMDB.
 */
export class RangeCopy {
  #changed = new Set<Bytes>();
  #isIncomplete = false;
  readonly #parts: { keys: number; bytes: number };
  readonly #map: (key: Bytes, value: Bytes | undefined) => readonly Write[];

  constructor(private readonly options: RangeCopyOptions) {
    this.#parts = options.parts ?? smallParts;
    this.#map = options.map ?? ((key, value) => [{ key, value }]);
  }

  /** To be called, from before the copy begins until it is complete, when writes to the source can be read. */
  noteWrites(writes: readonly Write[]): void {
    if (this.#changed.size + writes.length > notedMax) this.#isIncomplete = true;
    else for (const { key } of writes) if (this.#isCopied(key)) this.#changed.add(key);
  }

  #isCopied(key: Bytes): boolean {
    return this.options.ranges.some(({ start, end }) => key >= start && key < end);
  }

  /** How many keys have changed since they were copied. */
  get behind(): number {
    return this.#changed.size;
  }

  /** Goes through the ranges. Changes made meanwhile are carried over at intervals, so that the list of noted keys stays short. */
  async copy(): Promise<void> {
    for (const { start, end } of this.options.ranges) {
      for (let at = start; at < end;) {
        at = await this.#copyBatch(at, end);
        if (this.#changed.size > changedMax) await this.carry();
      }
    }
  }

  /** Copies some keys; gives the first one that is left. */
  async #copyBatch(start: Bytes, end: Bytes): Promise<Bytes> {
    const { runtime, source, onBatch } = this.options;
    const slice = runtime.slice();
    const writes: Write[] = [];
    let next = end;
    let keys = 0;
    let bytes = 0;
    for (const { key, value } of source().entries({ start, end, limit: this.#parts.keys })) {
      for (const write of this.#map(key, value)) writes.push(write);
      keys++;
      bytes += key.length + value.length;
      if (keys < this.#parts.keys && bytes < this.#parts.bytes && !isOver(slice, keys)) continue;
      next = asBytes(`${key}\0`);
      break;
    }
    await this.#write(writes);
    onBatch?.(keys);
    await runtime.nextTurn();
    return next;
  }

  /** Takes the keys that are noted, to be given to `carry`. */
  take(): ReadonlySet<Bytes> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Brings the keys up to date that were noted before it was called; later ones are noted for the next time. */
  async carry(changed = this.take()): Promise<void> {
    if (this.#isIncomplete) throw new Error(`more than ${notedMax} keys have changed during the copying`);
    const { runtime, source, onBatch } = this.options;
    try {
      let writes: Write[] = [];
      let bytes = 0;
      let keys = 0;
      const slice = runtime.slice();
      for (const key of changed) {
        const value = source().getUncached(key);
        for (const write of this.#map(key, value)) writes.push(write);
        bytes += key.length + (value?.length ?? 0);
        const isSmall = writes.length < this.#parts.keys && bytes < this.#parts.bytes;
        if (isSmall && !isOver(slice, ++keys)) continue;
        await this.#write(writes);
        onBatch?.(0);
        await runtime.nextTurn();
        slice.restart();
        writes = [];
        bytes = 0;
      }
      await this.#write(writes);
    } catch (error) {
      // The next attempt must copy them too.
      for (const key of changed) this.#changed.add(key);
      throw error;
    }
  }

  async #write(writes: readonly Write[]): Promise<void> {
    if (writes.length > 0) await this.options.write(writes);
  }
}

/** Looks at the clock after every few keys only. */
const isOver = (slice: TimeSlice, keys: number): boolean => keys % 16 === 0 && slice.isOver;
