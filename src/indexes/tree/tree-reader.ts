import type { Bytes } from '../../base/bytes.js';
import type { Store } from '../../storage/store.js';
import { GroupWalk, type Grouping, type GroupPart } from './group-walk.js';
import type { Inner } from './inner.js';
import { lasting, LeafRow, type Leaf } from './leaf.js';
import { NodeCache } from './node-cache.js';
import { NodeSource } from './node-source.js';
import { piecesBetween, type Piece } from './piece.js';
import type { Bound, Compare, Row } from './row.js';
import { TreePath } from './tree-path.js';
import type { TreeState } from './tree-state.js';

/** The rows of one group, which `pieces` cover in the order of the tree. */
export interface Group {
  /** The first one in the direction of reading. */
  readonly first: Row;
  readonly count: number;
  readonly pieces: readonly Piece[];
}

export interface RowsOptions {
  readonly descending?: boolean | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  /** Whether long values are read when they are asked for: rows are then of use only until others run. */
  readonly defersValues?: boolean | undefined;
}

export interface GroupsOptions {
  readonly descending?: boolean | undefined;
  /** Which of the stored reductions the pieces have. */
  readonly reducer?: number | undefined;
}

interface Ranked {
  readonly bound: Bound;
  readonly rank: number;
}

/** A reader without a cache has one of its own, lest it decode the same nodes again and again. */
const ownCacheBytes = 1 << 20;

/**
 * Reads a tree in the state it had at one moment. Everything is synchronous and lazy; when an update has been committed
 * since, a read that needs a replaced record throws `IndexDamage`, as it does where a record is lost.
 *
 * `start` and `end` are places in the order of the tree, whatever the direction of reading: the range is what stands
 * behind `start` and before `end`; undefined is the end of the tree on that side.
 */
export class TreeReader {
  readonly #source: NodeSource;
  /** The last two bounds that were looked for. */
  #ranked: readonly (Ranked | undefined)[] = [];

  constructor(
    store: Pick<Store, 'get'>,
    prefix: Bytes,
    readonly state: TreeState,
    private readonly compare: Compare,
    cache = new NodeCache(ownCacheBytes),
  ) {
    this.#source = new NodeSource(store, prefix, cache, state.root);
  }

  /** Rows before the bound. A caller that reads the rows of a range may have counted them before. */
  rank(bound: Bound): number {
    for (const known of this.#ranked) if (known?.bound === bound) return known.rank;
    const rank = this.#rankOf(bound);
    this.#ranked = [this.#ranked[1], { bound, rank }];
    return rank;
  }

  #rankOf(bound: Bound): number {
    if (this.state.root === 0) return 0;
    let rank = 0;
    let node = this.#source.node(this.state.root);
    for (let level = this.state.height - 1; level > 0; level--) {
      const at = node.seekIn(1, node.length, bound, this.compare) - 1;
      rank += node.rowsBefore(at);
      node = this.#source.node((node as Inner).children[at]!);
    }
    return rank + node.seekIn(0, node.length, bound, this.compare);
  }

  /** Rows between the bounds. */
  count(start: Bound | undefined, end: Bound | undefined): number {
    return Math.max(0, this.#rankOfEnd(end) - this.#rankOfStart(start));
  }

  /** To skip costs no more than to begin. The rows may be kept for later. */
  *rows(start: Bound | undefined, end: Bound | undefined, options: RowsOptions = {}): Generator<Row> {
    const { descending = false, skip = 0, limit = Infinity, defersValues = false } = options;
    let low = this.#rankOfStart(start);
    let high = this.#rankOfEnd(end);
    if (descending) low = Math.max(low, (high -= skip) - limit);
    else high = Math.min(high, (low += skip) + limit);
    while (low < high) {
      const { leaf, first } = this.#leafOf(descending ? high - 1 : low);
      const from = Math.max(low - first, 0);
      const to = Math.min(high - first, leaf.length);
      if (descending) for (let at = to - 1; at >= from; at--) yield this.#row(leaf, at, defersValues);
      else for (let at = from; at < to; at++) yield this.#row(leaf, at, defersValues);
      if (descending) high = first + from;
      else low = first + to;
    }
  }

  /** What a range is made of, in the order of the tree: stored reductions, and rows of leaves that belong to it in part. */
  pieces(start: Bound | undefined, end: Bound | undefined, reducer = 0): readonly Piece[] {
    if (this.state.root === 0) return [];
    const from = this.#path(start) ?? TreePath.start(this.#source, this.state);
    const to = this.#path(end) ?? TreePath.end(this.#source, this.state);
    return from.rank < to.rank ? piecesBetween(from, to, reducer, this.#source) : [];
  }

  /**
   * The groups of a range. `groupEnd` tells for the first row of a group, in the direction of reading, where the group ends:
   * behind its last row, or before it when reading backwards. What lies between is looked at only where it ends.
   */
  *groups(
    start: Bound | undefined,
    end: Bound | undefined,
    groupEnd: (row: Row) => Bound,
    options: GroupsOptions = {},
  ): Generator<Group> {
    if (this.state.root === 0) return;
    const { descending = false, reducer = 0 } = options;
    const low = this.#path(start) ?? TreePath.start(this.#source, this.state);
    const high = this.#path(end) ?? TreePath.end(this.#source, this.state);
    let here = descending ? high : low;
    while (descending ? here.rank > low.rank : here.rank < high.rank) {
      const first = descending ? here.rowBefore(this.#source) : here.row(this.#source);
      const bound = groupEnd(first);
      let next = descending
        ? here.backTo(bound, this.compare, this.#source)
        : here.onTo(bound, this.compare, this.#source);
      if (descending ? next.rank < low.rank : next.rank > high.rank) next = descending ? low : high;
      const count = Math.abs(next.rank - here.rank);
      if (count === 0) throw new Error('a group has to hold its first row');
      const pieces = descending
        ? piecesBetween(next, here, reducer, this.#source)
        : piecesBetween(here, next, reducer, this.#source);
      yield { first, count, pieces };
      here = next;
    }
  }

  /** The groups of a range with what their rows come to, in the order of the tree. */
  foldGroups<State>(
    start: Bound | undefined,
    end: Bound | undefined,
    grouping: Grouping<State>,
  ): Iterable<GroupPart<State>> {
    return new GroupWalk(this.#source, this.compare, grouping).groups(this.pieces(start, end));
  }

  #row(leaf: Leaf, at: number, defersValues: boolean): Row {
    const row = new LeafRow(leaf, at, this.#source);
    return !defersValues && leaf.hasOwnRecord(at) ? lasting(row) : row;
  }

  #path(bound: Bound | undefined): TreePath | undefined {
    return bound && TreePath.at(bound, this.compare, this.#source, this.state);
  }

  #rankOfStart(start: Bound | undefined): number {
    return start === undefined ? 0 : this.rank(start);
  }

  #rankOfEnd(end: Bound | undefined): number {
    return end === undefined ? this.state.count : this.rank(end);
  }

  /** The leaf that has the row of this rank, and the rank of its first row. */
  #leafOf(rank: number): { leaf: Leaf; first: number } {
    let node = this.#source.node(this.state.root);
    let first = 0;
    for (let level = this.state.height - 1; level > 0; level--) {
      const inner = node as Inner;
      const at = inner.childOfRank(rank - first);
      first += inner.rowsBefore(at);
      node = this.#source.node(inner.children[at]!);
    }
    return { leaf: node as Leaf, first };
  }
}
