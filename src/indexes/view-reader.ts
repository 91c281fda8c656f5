import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import { firstElements } from '../json/raw-value.js';
import type { Store } from '../storage/store.js';
import type { ViewDefinition } from './definition.js';
import { IndexKeys } from './index-keys.js';
import type { IndexState, Position } from './index-state.js';
import {
  encodeIn,
  keyOrder,
  keyPrefixIn,
  partitionBounds,
  partitionKey,
  type KeyOrder,
} from './key-order.js';
import type { Fold } from './reduce/fold.js';
import type { GroupPart } from './tree/group-walk.js';
import type { NodeCache } from './tree/node-cache.js';
import type { Piece } from './tree/piece.js';
import type { Bound, Compare, Row, RowEnd } from './tree/row.js';
import { rowsBackwards } from './tree/rows-backwards.js';
import { TreeReader } from './tree/tree-reader.js';
import type { KeyBound, ViewRequest } from './view-request.js';

/** Stands for whole keys among the levels of groups; what is found of higher levels is not remembered. */
const wholeKeyMark = 500;

/** The part of a view that a query is about, between bounds in ascending order. */
export interface ViewRange {
  low: Bound | undefined;
  high: Bound | undefined;
}

export interface FoundGroup {
  /** The first one in the direction of reading; left out where all rows are one group. */
  first?: Row;
  pieces: readonly Piece[];
}

const rangesLookedAtMax = 100;

export interface RowsOptions {
  descending: boolean;
  skip: number;
  limit: number;
  /** Whether long values are read when they are asked for: rows are then of use only until others run. */
  defersValues?: boolean;
}

export type Bounds = Pick<ViewRequest, 'start' | 'end' | 'descending' | 'inclusiveEnd'>;
export type KeyRangeRequest = Pick<ViewRequest, 'keyDocids' | 'descending' | 'inclusiveEnd'>;

/** A view's index as it is at one moment. */
export interface ViewReader {
  readonly compare: Compare;
  /** How far it has followed the shards, by their numbers. */
  readonly positions: readonly Position[];
  readonly bytes: number;
  /** Rises with every change. */
  readonly version: number;
  /** Rows of the view. */
  readonly total: number;
  /** The same for one partition: nothing but its rows is seen. */
  inPartition(partition: Bytes | undefined): ViewReader;
  range(bounds: Bounds): ViewRange;
  rangeOfKey(key: unknown, request: KeyRangeRequest): ViewRange;
  /** Rows of the view before the range, in the order of the query, and rows in the range. */
  place(range: ViewRange, descending: boolean): { before: number; within: number };
  rows(range: ViewRange, options: RowsOptions): Iterable<Row>;
  /** With `end`, pieces may be left out that do not have the row at this end of the range. */
  pieces(range: ViewRange, end?: RowEnd): readonly Piece[];
  /** Rows whose keys are the same up to a level, group by group. `end` as above, for each group. */
  groups(range: ViewRange, level: number, descending: boolean, end?: RowEnd): Iterable<FoundGroup>;
  /** The same in ascending order, with what the rows come to by a reduce that is built in. */
  foldGroups<State>(range: ViewRange, level: number, fold: Fold<State>): Iterable<GroupPart<State>>;
  /** What is left of a range behind the group of a key. */
  behindGroup(range: ViewRange, row: Pick<Row, 'key'>, level: number, descending: boolean): ViewRange;
  /** What the keys of a group have in common: those of one group, and no others, compare as equal by it. */
  groupOf(key: Bytes, level: number): Bytes;
}

/** The index that one group of a database has of a view. */
export class GroupViewReader implements ViewReader {
  readonly #order: KeyOrder;
  readonly #tree: TreeReader;
  readonly #parts: { store: Pick<Store, 'get'>; number: number; view: ViewDefinition; cache: NodeCache };

  constructor(
    store: Pick<Store, 'get'>,
    number: number,
    view: ViewDefinition,
    readonly state: IndexState,
    cache: NodeCache,
    /** The one that is read, of a view that has them, as keys name it; undefined for all rows. */
    private readonly partition?: string,
  ) {
    this.#parts = { store, number, view, cache };
    this.#order = keyOrder(view.raw);
    this.#tree = new TreeReader(store, new IndexKeys(number).tree, state.tree, this.#order.compare, cache);
  }

  get compare(): Compare {
    return this.#order.compare;
  }

  get positions(): readonly Position[] {
    return this.state.positions;
  }

  get bytes(): number {
    return this.state.tree.bytes;
  }

  get version(): number {
    return this.state.tree.nextId;
  }

  inPartition(partition: Bytes | undefined): GroupViewReader {
    if (partition === undefined) return this;
    const { store, number, view, cache } = this.#parts;
    return new GroupViewReader(store, number, view, this.state, cache, partitionKey(partition));
  }

  get total(): number {
    return this.partition === undefined ? this.state.tree.count : this.#tree.count(this.#low, this.#high);
  }

  get #low(): Bound | undefined {
    return this.partition === undefined
      ? undefined
      : { key: partitionBounds(this.partition, this.#order).low, after: false };
  }

  get #high(): Bound | undefined {
    return this.partition === undefined
      ? undefined
      : { key: partitionBounds(this.partition, this.#order).high, after: false };
  }

  range({ start, end, descending, inclusiveEnd }: Bounds): ViewRange {
    const low = descending ? this.#bound(end, !inclusiveEnd) : this.#bound(start, false);
    const high = descending ? this.#bound(start, true) : this.#bound(end, inclusiveEnd);
    return { low: low ?? this.#low, high: high ?? this.#high };
  }

  rangeOfKey(key: unknown, { keyDocids, descending, inclusiveEnd }: KeyRangeRequest): ViewRange {
    if (keyDocids !== undefined) {
      const start = { key, docid: keyDocids.start };
      const end = { key, docid: keyDocids.end };
      return this.range({
        start,
        end,
        descending,
        inclusiveEnd: inclusiveEnd || keyDocids.end === undefined,
      });
    }
    const encoded = encodeIn(this.partition, this.#order, key);
    return { low: { key: encoded, after: false }, high: { key: encoded, after: true } };
  }

  #bound(bound: KeyBound | undefined, after: boolean): Bound | undefined {
    if (bound === undefined) return undefined;
    const key = encodeIn(this.partition, this.#order, bound.key);
    return bound.docid === undefined
      ? { key, after }
      : { key, id: toBytes(bound.docid.toWellFormed()), after };
  }

  place({ low, high }: ViewRange, descending: boolean): { before: number; within: number } {
    const from = low === undefined ? 0 : this.#tree.rank(low);
    const to = high === undefined ? this.state.tree.count : this.#tree.rank(high);
    const first = this.#low === undefined ? 0 : this.#tree.rank(this.#low);
    const before = descending ? first + this.total - to : from - first;
    return { before, within: Math.max(0, to - from) };
  }

  rows({ low, high }: ViewRange, options: RowsOptions): Iterable<Row> {
    return options.descending
      ? rowsBackwards(this.#tree, low, high, options)
      : this.#tree.rows(low, high, options);
  }

  pieces({ low, high }: ViewRange): readonly Piece[] {
    return this.#tree.pieces(low, high);
  }

  groups({ low, high }: ViewRange, level: number, descending: boolean): Iterable<FoundGroup> {
    const groupEnd = descending ? this.#groupStart(level) : this.#groupEnd(level);
    return this.#tree.groups(low, high, groupEnd, { descending });
  }

  foldGroups<State>({ low, high }: ViewRange, level: number, fold: Fold<State>): Iterable<GroupPart<State>> {
    return this.#tree.foldGroups(low, high, {
      mark: level === Infinity ? wholeKeyMark : level < wholeKeyMark ? level : undefined,
      groupOf: (key) => this.groupOf(key, level),
      textOf: (keyText) => groupKeyText({ keyText }, level),
      rows: (rows) => fold.rows(rows),
      merge: (states) => fold.merge(states),
      decode: (reduction) => fold.decode(reduction),
    });
  }

  groupOf(key: Bytes, level: number): Bytes {
    return this.#prefixOf(key, level) ?? key;
  }

  behindGroup(range: ViewRange, row: Pick<Row, 'key'>, level: number, descending: boolean): ViewRange {
    if (descending) return { low: range.low, high: this.#groupStart(level)(row) };
    return { low: this.#groupEnd(level)(row), high: range.high };
  }

  /** What the keys of a group begin with; undefined where the key is a group of its own. */
  #prefixOf(key: Bytes, level: number): Bytes | undefined {
    return level === Infinity ? undefined : keyPrefixIn(this.partition, key, level);
  }

  #groupEnd(level: number): (row: Pick<Row, 'key'>) => Bound {
    return ({ key }) => {
      const prefix = this.#prefixOf(key, level);
      return prefix === undefined ? { key, after: true } : { key: asBytes(`${prefix}\xff`), after: false };
    };
  }

  #groupStart(level: number): (row: Pick<Row, 'key'>) => Bound {
    return ({ key }) => ({ key: this.groupOf(key, level), after: false });
  }
}

/** Where a listing goes on that was broken off behind a row: there may be more rows of the same key and document. */
export function placeBehind(
  reader: ViewReader,
  range: ViewRange,
  { key, id, n }: Row,
  descending: boolean,
): { range: ViewRange; skip: number } {
  const before = { key, id, after: false };
  const after = { key, id, after: true };
  const skip = Math.min(reader.place({ low: before, high: after }, false).within, n + 1);
  return descending
    ? { range: { low: range.low, high: after }, skip }
    : { range: { low: before, high: range.high }, skip };
}

/** The JSON text of what the keys of a group have in common. */
export function groupKeyText({ keyText }: Pick<Row, 'keyText'>, level: number): Bytes {
  if (level === Infinity || !keyText.startsWith('[')) return keyText;
  return firstElements(keyText, level);
}

/** How many rows are before the first range that has any; of many ranges, only some are looked at. */
export function rowsBefore(reader: ViewReader, ranges: readonly ViewRange[], descending: boolean): number {
  let before = 0;
  for (const range of ranges.slice(0, rangesLookedAtMax)) {
    const place = reader.place(range, descending);
    before = place.before;
    if (place.within > 0) break;
  }
  return before;
}
