import type { Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { TimeSlice } from '../base/turns.js';
import type { Row } from '../indexes/tree/row.js';
import { DocBits } from './doc-bits.js';
import { docsOf, type Place, type SearchReader } from './search-reader.js';

/** What all patterns and ranges of a query may take in memory. */
const bitsBytesMax = 256 * 1024 * 1024;
/** Blocks of a key that are read to pass over them, before the next key is looked for. */
const passedMax = 4;
/** Blocks that are read before the time is looked at. A test of a long term may take milliseconds: then it is one. */
const blocksAtOnce = 64;

/** Keys from the first to before the last. */
export interface KeyRange {
  start: Bytes;
  end: Bytes;
}

/** Goes through the blocks of an index, in slices. `reader` gives it as it is at the moment; `check` throws when time is up. */
export class BlockWalk {
  #bitsBytes = 0;

  constructor(
    private readonly reader: () => SearchReader,
    private readonly check: () => void,
    private readonly slice: TimeSlice,
  ) {}

  /** Lets others run where it is time for that. */
  async pause(): Promise<void> {
    if (!this.slice.isOver) return;
    await this.slice.next();
    this.check();
  }

  /** The documents of all blocks from one key to before another, for any of several such pairs. */
  async between(ranges: readonly KeyRange[]): Promise<DocBits> {
    const bits = this.#newBits();
    for (const { start, end } of merged(ranges)) {
      await this.pause();
      await this.#add(bits, start, end);
    }
    return bits;
  }

  /** Documents that were found are not needed any more. */
  release(bits: DocBits): void {
    this.#bitsBytes -= bits.end / 8;
  }

  #newBits(): DocBits {
    const { end } = this.reader();
    this.#bitsBytes += end / 8;
    if (this.#bitsBytes > bitsBytesMax)
      throw badRequest('The query has too many patterns and ranges for an index of this size.');
    return new DocBits(end);
  }

  /** The documents of all blocks between two keys, of those that pass the test. */
  async bits(start: Bytes, end: Bytes, test?: (key: Bytes) => boolean): Promise<DocBits> {
    const bits = this.#newBits();
    await this.#add(bits, start, end, test);
    return bits;
  }

  async #add(bits: DocBits, start: Bytes, end: Bytes, test?: (key: Bytes) => boolean): Promise<void> {
    if (start >= end) return;
    let known: Bytes | undefined;
    const atOnce = test === undefined ? blocksAtOnce : 1;
    await this.#walk(start, end, atOnce, (key, row) => {
      if (test !== undefined && key !== known) {
        if (!test(key)) return 'skip';
        known = key;
      }
      for (const doc of docsOf(row)) bits.add(doc);
      return 'next';
    });
  }

  /** Every term between two keys, once. */
  async terms(start: Bytes, end: Bytes, take: (key: Bytes) => void): Promise<void> {
    await this.#walk(start, end, 1, (key) => {
      take(key);
      return 'skip';
    });
  }

  /** Goes through blocks in slices, each read at one moment. Where one says `skip`, the rest of its key is passed over. */
  async #walk(
    start: Bytes,
    end: Bytes,
    atOnce: number,
    take: (key: Bytes, row: Row) => 'next' | 'skip',
  ): Promise<void> {
    let place: Place | undefined = { key: start, isAfter: false };
    let reader = this.reader();
    for (let steps = 0; place !== undefined;) {
      let next: Place | undefined;
      let skipped: Bytes | undefined;
      let passed = 0;
      for (const block of reader.blocks(place, end)) {
        if (block.key !== skipped) {
          const isSkipped = take(block.key, block.row) === 'skip';
          skipped = isSkipped ? block.key : undefined;
          passed = 0;
        } else if (++passed > passedMax) next = { key: block.key, isAfter: true };
        if (++steps % atOnce === 0 && this.slice.isOver) next ??= placeBehind(block, skipped);
        if (next !== undefined) break;
      }
      place = next;
      if (place === undefined || !this.slice.isOver) continue;
      await this.pause();
      reader = this.reader();
    }
  }
}

/** The same keys in ranges that don't overlap. */
function merged(ranges: readonly KeyRange[]): KeyRange[] {
  const all: KeyRange[] = [];
  for (const { start, end } of ranges.toSorted((a, b) =>
    a.start < b.start ? -1 : a.start > b.start ? 1 : 0,
  )) {
    const last = all.at(-1);
    if (last === undefined || start > last.end) all.push({ start, end });
    else if (end > last.end) last.end = end;
  }
  return all;
}

const placeBehind = ({ key, place }: { key: Bytes; place: Place }, skipped: Bytes | undefined): Place =>
  key === skipped ? { key, isAfter: true } : place;
