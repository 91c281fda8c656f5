import type { Bytes } from '../base/bytes.js';
import { fromBytes, toBytes } from '../base/bytes.js';
import { hashOf, rangeOf, shardOf, type HashRange } from './shard-ranges.js';

/** A shard that was divided in two. The first one of a database made the shards `q` and `q + 1`, and so on. */
export interface SplitRecord {
  source: number;
  /** The last hash of the first target. */
  middle: number;
  /** The source's last sequence: its targets have gone on from there. */
  seq: number;
  /**
   * The number of the first target, where it is not the next one of this map: then shards of other groups of the database
   * were split before.
   */
  target?: number;
}

/**
 * The shards of a database: which there are, which documents each has, and which one each was split from. A shard is known
 * by its number, which stands in keys and is never used again. One that was split is *gone*; lists that have an entry for
 * each number keep an empty one in its place.
 *
 * Bodies stay where they are when a shard is split: their numbers are sequences, so a number tells whether a body is older
 * than the split. References to blobs are counted together by all that come from one of the first shards.
 */
export class ShardMap {
  readonly #ranges: HashRange[];
  readonly #gone: boolean[];
  readonly #parents: (SplitRecord | undefined)[] = [];
  /** The first target of each split. */
  readonly #targets: number[] = [];
  /** The numbers of the shards there are, in the order of their ranges; undefined as long as none was split. */
  readonly #ordered: readonly number[] | undefined;

  constructor(
    /** The shards that the database began with. */
    readonly q: number,
    readonly splits: readonly SplitRecord[] = [],
  ) {
    this.#ranges = Array.from({ length: q }, (_, shard) => rangeOf(shard, q));
    this.#gone = new Array<boolean>(q).fill(false);
    for (const split of splits) {
      const { first, last } = this.#ranges[split.source]!;
      this.#gone[split.source] = true;
      while (this.size < (split.target ?? 0)) this.#leaveOut();
      this.#targets.push(this.size);
      this.#ranges.push({ first, last: split.middle }, { first: split.middle + 1, last });
      this.#gone.push(false, false);
      this.#parents.push(split, split);
    }
    this.#ordered = splits.length === 0 ? undefined : this.#inOrder();
  }

  /** How many numbers have been given out. */
  get size(): number {
    return this.#ranges.length;
  }

  /** How many shards there are. */
  get count(): number {
    return this.q + this.splits.length;
  }

  /** The numbers of the shards there are, in the order of their ranges. */
  get shards(): readonly number[] {
    return this.#ordered ?? this.#inOrder();
  }

  isGone(shard: number): boolean {
    return this.#gone[shard] ?? false;
  }

  range(shard: number): HashRange {
    return this.#ranges[shard]!;
  }

  /** The shard of an id, or of the part of it that documents are placed by. */
  shardOf(placed: Bytes): number {
    const ordered = this.#ordered;
    if (ordered === undefined) return shardOf(placed, this.q);
    const hash = hashOf(placed);
    let low = 0;
    for (let high = ordered.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#ranges[ordered[middle]!]!.last < hash) low = middle + 1;
      else high = middle;
    }
    return ordered[low]!;
  }

  /** The shard in whose keys a body stands. */
  bodyHome(shard: number, ref: number): number {
    for (let split = this.#split(shard); split !== undefined; split = this.#split(shard)) {
      if (ref > split.seq) return shard;
      shard = split.source;
    }
    return shard;
  }

  /** The shard in whose keys references to blobs are counted. */
  blobHome(shard: number): number {
    for (let split = this.#split(shard); split !== undefined; split = this.#split(shard))
      shard = split.source;
    return shard;
  }

  /** A list with an entry for each number of an earlier map, or of this one, made one of this map: a shard has what its source had. */
  inherit<T>(given: readonly T[]): T[] {
    const all = given.slice(0, this.size);
    for (let shard = all.length; shard < this.size; shard++) all.push(all[this.#split(shard)?.source ?? 0]!);
    return all;
  }

  /** The same for sequences: of shards that are gone, none is left. An empty list is the beginning. */
  positions(given: readonly number[]): number[] {
    if (given.length === 0) return new Array<number>(this.size).fill(0);
    return this.inherit(given).map((seq, shard) => (this.#gone[shard] ? 0 : seq));
  }

  /** Gives each shard that is gone what is made of what its targets have. */
  settle<T>(given: readonly T[], join: (a: T, b: T) => T): T[] {
    const all = [...given];
    for (let at = this.splits.length - 1; at >= 0; at--) {
      const first = this.#targets[at]!;
      all[this.splits[at]!.source] = join(all[first]!, all[first + 1]!);
    }
    return all;
  }

  with({ target, ...split }: SplitRecord): ShardMap {
    const made = target === undefined || target === this.size ? split : { ...split, target };
    return new ShardMap(this.q, [...this.splits, made]);
  }

  /** The map of a database, of the maps of its groups: each knows the splits of its own shards. */
  static joined(maps: readonly ShardMap[]): ShardMap {
    const splits = maps.flatMap((map) =>
      map.splits.map((split, at) => ({ ...split, target: map.#targets[at]! })),
    );
    splits.sort((a, b) => a.target - b.target);
    return new ShardMap(maps[0]!.q, splits);
  }

  /** The part of this map that a group has which gets some of the first shards; undefined where none of them was split. */
  only(first: ReadonlySet<number>): ShardMap | undefined {
    const splits = this.splits.flatMap((split, at) =>
      first.has(this.blobHome(split.source)) ? [{ ...split, target: this.#targets[at]! }] : [],
    );
    return splits.length === 0 ? undefined : new ShardMap(this.q, splits);
  }

  /** A number that another group of the database has. */
  #leaveOut(): void {
    this.#ranges.push({ first: 0, last: -1 });
    this.#gone.push(true);
    this.#parents.push(undefined);
  }

  /** What made a shard; undefined for those that the database began with. */
  #split(shard: number): SplitRecord | undefined {
    return this.#parents[shard - this.q];
  }

  #inOrder(): number[] {
    const numbers = [...this.#ranges.keys()].filter((shard) => !this.#gone[shard]);
    return numbers.sort((a, b) => this.#ranges[a]!.first - this.#ranges[b]!.first);
  }
}

interface StoredMap {
  version: 1;
  q: number;
  splits: readonly SplitRecord[];
}

export const encodeShardMap = ({ q, splits }: ShardMap): Bytes =>
  toBytes(JSON.stringify({ version: 1, q, splits } satisfies StoredMap));

/** Undefined for a database whose shards are those it began with. */
export function decodeShardMap(bytes: Bytes | undefined): ShardMap | undefined {
  if (bytes === undefined) return undefined;
  const { q, splits } = JSON.parse(fromBytes(bytes)) as StoredMap;
  return new ShardMap(q, splits);
}
