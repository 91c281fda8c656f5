import { asBytes } from '../base/bytes.js';
import type { Bytes, Entry, Range } from './store.js';

/** A longer list is not remembered: its reader goes on to the next one, and rarely returns. */
const listedMax = 256;
/** Nor are lists of more than the beginnings of values: documents are remembered one by one. */
const headBytesMax = 64;
/** Runs that follow each other are joined up to this many entries; what is written to one is forgotten with all of it. */
const runEntriesMax = 128;
/** What an entry takes beside the bytes of its key and value. */
const entryBytes = 90;

/** All entries from one key to before another, without a gap. */
interface Run {
  readonly start: Bytes;
  end: Bytes;
  /** So many bytes of their keys are left out, which are the same for all. */
  readonly keyFrom: number;
  readonly entries: Entry[];
}

/**
 * Remembers what was listed: where lists overlap, or are asked for again, they are put together from what earlier ones have
 * found, and entries are counted without walking over them. Only short lists of the beginnings of values are remembered, as
 * pages of `_all_docs` read them.
 *
 * Invariants: runs are in the order of their keys and don't overlap, and what the store holds between the ends of a run is
 * what the run holds. So each key that is written has to be reported. When there are too many bytes, all is forgotten.
 */
export class ListedRuns {
  #runs: Run[] = [];
  #bytes = 0;

  constructor(private readonly bytesMax: () => number) {}

  /** Whether a list is one of those that are remembered. */
  static concerns({
    start,
    end,
    reverse,
    offset = 0,
    limit = Infinity,
    headBytes,
    keyFrom = 0,
  }: Range): boolean {
    if (reverse === true || offset > 0 || limit > listedMax || limit < 1 || keyFrom === 0) return false;
    if (headBytes === undefined || headBytes > headBytesMax || start >= end) return false;
    // All keys of the range begin alike then.
    return end.length > keyFrom && start.slice(0, keyFrom) === end.slice(0, keyFrom);
  }

  /** The list, where all of it is remembered. */
  list({ start, end, limit = Infinity, keyFrom = 0 }: Range, bytesMax: number): Entry[] | undefined {
    const found: Entry[] = [];
    const lastKey = end.slice(keyFrom);
    let bytes = 0;
    let from = start;
    for (let at = this.#at(from); ; at++) {
      const run = this.#runs[at];
      if (run === undefined || from < run.start || from >= run.end || run.keyFrom !== keyFrom)
        return undefined;
      const { entries } = run;
      for (let i = placeIn(run, from); i < entries.length; i++) {
        const entry = entries[i]!;
        if (entry.key >= lastKey) return found;
        found.push(entry);
        bytes += keyFrom + entry.key.length + entry.value.length;
        if (found.length >= limit || bytes >= bytesMax) return found;
      }
      if (run.end >= end) return found;
      from = run.end;
    }
  }

  /** How many entries there are from one key to before another, where all of them are remembered. */
  count(start: Bytes, end: Bytes): number | undefined {
    let count = 0;
    let from = start;
    for (let at = this.#at(from); from < end; at++) {
      const run = this.#runs[at];
      if (run === undefined || from < run.start || from >= run.end) return undefined;
      count += (end < run.end ? placeIn(run, end) : run.entries.length) - placeIn(run, from);
      from = run.end;
    }
    return count;
  }

  /** Remembers what a list has found: what lies in the gaps between the runs that are there. */
  add({ start, end, limit = Infinity, keyFrom = 0 }: Range, bytesMax: number, found: readonly Entry[]): void {
    const last = found.at(-1);
    const isCut = found.length >= limit || bytesOf(found, keyFrom, 0) >= bytesMax;
    // A list has at least one entry if there is one, however few bytes it may have.
    const to = isCut && last !== undefined ? asBytes(`${start.slice(0, keyFrom)}${last.key}\0`) : end;
    let next = this.#at(start) + 1;
    const before = this.#runs[next - 1];
    let from = before !== undefined && before.end > start ? before.end : start;
    while (from < to) {
      const follower = this.#runs[next];
      const gapEnd = follower === undefined || follower.start > to ? to : follower.start;
      if (from < gapEnd && this.#fill(next, from, gapEnd, keyFrom, found)) next++;
      if (gapEnd === to) break;
      from = follower!.end;
      next++;
    }
    if (this.#bytes > this.bytesMax()) this.clear();
  }

  /** Closes a gap before the run of that number. Tells whether it has made a run of its own for it. */
  #fill(next: number, start: Bytes, end: Bytes, keyFrom: number, found: readonly Entry[]): boolean {
    const [first, last] = [start.slice(keyFrom), end.slice(keyFrom)];
    const entries = found.filter(({ key }) => key >= first && key < last);
    this.#bytes += bytesOf(entries, keyFrom);
    const before = this.#runs[next - 1];
    const isNear = before?.end === start && before.keyFrom === keyFrom;
    if (isNear && before.entries.length + entries.length <= runEntriesMax) {
      before.entries.push(...entries);
      before.end = end;
      return false;
    }
    this.#runs.splice(next, 0, { start, end, keyFrom, entries });
    return true;
  }

  /** Forgets what is written to. */
  forget(key: Bytes): void {
    if (this.#runs.length === 0) return;
    const at = this.#at(key);
    const run = this.#runs[at];
    if (run === undefined || key >= run.end) return;
    this.#runs.splice(at, 1);
    this.#bytes -= bytesOf(run.entries, run.keyFrom);
  }

  clear(): void {
    this.#runs = [];
    this.#bytes = 0;
  }

  /** The last run that begins at the key or before it; -1 where there is none. */
  #at(key: Bytes): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]!.start <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** The first entry of a run that is not before the key. */
function placeIn({ start, keyFrom, entries }: Run, key: Bytes): number {
  if (key === start) return 0;
  const wanted = key.slice(keyFrom);
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.key < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

const bytesOf = (entries: readonly Entry[], keyFrom: number, perEntry = entryBytes): number =>
  entries.reduce((sum, { key, value }) => sum + perEntry + keyFrom + key.length + value.length, 0);
