import type { Runtime } from '../base/runtime.js';
import type { Bytes } from '../base/bytes.js';
import type { Store } from '../storage/store.js';
import type { LiveDelta } from './write-view.js';

/** The store, and how to read it at a moment when it holds exactly what commits have reported. */
export interface LiveRankSource {
  readonly store: Store;
  readonly runtime: Runtime;
  runBetweenCommits(work: () => void): Promise<void>;
}

/**
 * How many live documents stand before a key: what `offset` and `skip` need. LMDB counts by walking, so the walk is
 * kept short: the documents are divided into buckets whose counts are remembered, and only the rest of one bucket is
 * walked.
 *
 * The buckets are a cache. They are made by one pass over the keys, in slices so that no request waits long, and kept true
 * by the changes that each commit reports. The store shows a commit a little before it is reported; so slices are read
 * between commits, lest a change be counted twice. There are at most `bucketsMax`, so the memory does not grow with the
 * database; in a large one the buckets are larger.
 */
export class LiveRank {
  /** The first key of each bucket; a bucket reaches to the next one's first key. */
  #starts: Bytes[] = [];
  #counts: number[] = [];
  /** Up to where the pass over the keys has come; undefined before it begins, `end` when it is complete. */
  #built: Bytes;
  #width = widthMin;
  #building: Promise<void> | undefined;
  /** Documents before each bucket, remade after a change. */
  #sums: Float64Array | undefined;

  constructor(
    private readonly source: LiveRankSource,
    private readonly start: Bytes,
    private readonly end: Bytes,
  ) {
    this.#built = start;
  }

  /** Resolves when `before` can be asked. */
  async ready(): Promise<void> {
    if (this.#built < this.end) await (this.#building ??= this.#build());
  }

  get isReady(): boolean {
    return this.#built >= this.end;
  }

  /** Takes over what a commit changed. */
  apply(deltas: readonly LiveDelta[]): void {
    if (this.#starts.length === 0) return;
    const full = new Set<Bytes>();
    for (const { key, by } of deltas) {
      // What lies ahead of the pass will be counted by it.
      if (key >= this.#built) continue;
      const bucket = this.#bucketOf(key);
      this.#counts[bucket]! += by;
      if (this.#counts[bucket]! > 2 * this.#width) full.add(this.#starts[bucket]!);
    }
    if (this.#built >= this.end) for (const start of full) this.#split(this.#bucketOf(start));
    this.#sums = undefined;
  }

  get isBegun(): boolean {
    return this.#starts.length > 0;
  }

  /**
   * Where nothing tells what a commit has changed: counts the buckets again that documents with these keys are in, or were.
   * It does no harm to count one again that was counted after the change.
   */
  recount(keys: readonly Bytes[]): void {
    const { store } = this.source;
    const buckets = new Set<number>();
    for (const key of keys) if (key < this.#built) buckets.add(this.#bucketOf(key));
    const full: Bytes[] = [];
    for (const bucket of buckets) {
      const start = this.#starts[bucket]!;
      const count = store.count({ start, end: this.#starts[bucket + 1] ?? this.#built });
      this.#counts[bucket] = count;
      if (count > 2 * this.#width) full.push(start);
    }
    if (this.isReady) for (const start of full) this.#split(this.#bucketOf(start));
    this.#sums = undefined;
  }

  /** Counts everything again; a pass under way begins anew. */
  restart(): void {
    this.#starts = [];
    this.#counts = [];
    this.#built = this.start;
    this.#width = widthMin;
    this.#sums = undefined;
  }

  /** Documents with a key below `key`. */
  before(key: Bytes): number {
    if (key <= this.start || this.#starts.length === 0) return 0;
    const bucket = this.#bucketOf(key);
    const first = this.#starts[bucket]!;
    const next = this.#starts[bucket + 1] ?? this.end;
    const sums = (this.#sums ??= this.#sum());
    if (key >= next) return sums[bucket + 1]!;
    return sums[bucket]! + this.source.store.count({ start: first, end: key });
  }

  #sum(): Float64Array {
    const sums = new Float64Array(this.#counts.length + 1);
    for (let i = 0; i < this.#counts.length; i++) sums[i + 1] = sums[i]! + this.#counts[i]!;
    return sums;
  }

  #bucketOf(key: Bytes): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= key) low = middle;
      else high = middle;
    }
    return low;
  }

  async #build(): Promise<void> {
    while (this.#built < this.end) {
      await this.source.runBetweenCommits(() => this.#buildSlice());
      await this.source.runtime.nextTurn();
    }
    this.#building = undefined;
  }

  /** One bucket after the other, for a few milliseconds. */
  #buildSlice(): void {
    const slice = this.source.runtime.slice(sliceMs);
    while (this.#built < this.end && !slice.isOver) {
      const [next] = this.source.store.keys({
        start: this.#built,
        end: this.end,
        offset: this.#width,
        limit: 1,
      });
      const to = next ?? this.end;
      const count =
        next === undefined ? this.source.store.count({ start: this.#built, end: this.end }) : this.#width;
      this.#starts.push(this.#built);
      this.#counts.push(count);
      this.#built = to;
      if (this.#starts.length >= bucketsMax) this.#coarsen();
    }
    this.#sums = undefined;
  }

  #split(bucket: number): void {
    const start = this.#starts[bucket]!;
    const end = this.#starts[bucket + 1] ?? this.end;
    const half = this.#counts[bucket]! >> 1;
    const [middle] = this.source.store.keys({ start, end, offset: half, limit: 1 });
    if (middle === undefined) return;
    this.#starts.splice(bucket + 1, 0, middle);
    this.#counts.splice(bucket, 1, half, this.#counts[bucket]! - half);
    if (this.#starts.length >= bucketsMax) this.#coarsen();
  }

  /** Joins neighbours, so that half as many buckets are twice as wide. */
  #coarsen(): void {
    const counts: number[] = [];
    for (let i = 0; i < this.#counts.length; i += 2)
      counts.push(this.#counts[i]! + (this.#counts[i + 1] ?? 0));
    this.#starts = this.#starts.filter((_, i) => i % 2 === 0);
    this.#counts = counts;
    this.#width *= 2;
  }
}

const widthMin = 64;
const bucketsMax = 4_096;
const sliceMs = 4;
