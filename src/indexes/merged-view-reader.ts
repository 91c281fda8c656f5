import type { Bytes } from '../base/bytes.js';
import { mergeSorted, skipMerged, type SkippedList } from '../base/merge-sorted.js';
import type { Position } from './index-state.js';
import type { Fold } from './reduce/fold.js';
import type { GroupPart } from './tree/group-walk.js';
import { endRowOf, type Piece } from './tree/piece.js';
import { compareRows, type Compare, type Row, type RowEnd } from './tree/row.js';
import {
  type KeyRangeRequest,
  groupKeyText,
  type Bounds,
  type FoundGroup,
  type RowsOptions,
  type ViewRange,
  type ViewReader,
} from './view-reader.js';

/** The indexes that the groups of a database have of one view, as one. A document has its rows in one of them. */
export class MergedViewReader implements ViewReader {
  readonly #first: ViewReader;

  constructor(
    private readonly readers: readonly ViewReader[],
    /** Makes of what each index says of its shards what they say together. */
    private readonly joinPositions: (positions: readonly (readonly Position[])[]) => readonly Position[],
  ) {
    this.#first = readers[0]!;
  }

  get compare(): Compare {
    return this.#first.compare;
  }

  get positions(): readonly Position[] {
    return this.joinPositions(this.readers.map(({ positions }) => positions));
  }

  get bytes(): number {
    return this.#sum(({ bytes }) => bytes);
  }

  get version(): number {
    return this.#sum(({ version }) => version);
  }

  get total(): number {
    return this.#sum(({ total }) => total);
  }

  #sum(count: (reader: ViewReader) => number): number {
    return this.readers.reduce((sum, reader) => sum + count(reader), 0);
  }

  /** All rows of a partition are in one of the indexes. */
  inPartition(partition: Bytes | undefined): ViewReader {
    if (partition === undefined) return this;
    return new MergedViewReader(
      this.readers.map((reader) => reader.inPartition(partition)),
      this.joinPositions,
    );
  }

  range(bounds: Bounds): ViewRange {
    return this.#first.range(bounds);
  }

  rangeOfKey(key: unknown, request: KeyRangeRequest): ViewRange {
    return this.#first.rangeOfKey(key, request);
  }

  place(range: ViewRange, descending: boolean): { before: number; within: number } {
    const places = this.readers.map((reader) => reader.place(range, descending));
    return {
      before: places.reduce((sum, { before }) => sum + before, 0),
      within: places.reduce((sum, { within }) => sum + within, 0),
    };
  }

  *rows(range: ViewRange, { descending, skip, limit }: RowsOptions): Generator<Row> {
    const sign = descending ? -1 : 1;
    const compare = (a: Row, b: Row): number => sign * this.#compareKeys(a, b) || a.n - b.n;
    const lists = this.readers.map((reader) => new RowList(reader, range, descending));
    if (skip > 0 && skipMerged(lists, skip, compare) < skip) return;
    let left = limit;
    if (left <= 0) return;
    const sources = lists.map((list) => list.rows());
    for (const row of mergeSorted(sources, compare)) {
      yield row;
      if (--left <= 0) return;
    }
  }

  #compareKeys(a: Row, b: Row): number {
    const byKey = this.compare(a.key, b.key);
    if (byKey !== 0) return byKey;
    return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
  }

  pieces(range: ViewRange, end?: RowEnd): readonly Piece[] {
    return this.#joined(
      this.readers.map((reader) => reader.pieces(range)),
      end,
    );
  }

  /** All pieces; with `end`, those of the index that has the row at this end. */
  #joined(lists: readonly (readonly Piece[])[], end: RowEnd | undefined): readonly Piece[] {
    if (end === undefined) return lists.flat();
    const sign = end === 'first' ? 1 : -1;
    let best: { pieces: readonly Piece[]; row: Row } | undefined;
    for (const pieces of lists) {
      if (pieces.length === 0) continue;
      const row = endRowOf(pieces, end);
      if (best === undefined || sign * compareRows(this.compare, row, best.row) < 0) best = { pieces, row };
    }
    return best?.pieces ?? [];
  }

  *groups(range: ViewRange, level: number, descending: boolean, end?: RowEnd): Generator<FoundGroup> {
    const sign = descending ? -1 : 1;
    const compareFirst = (a: FoundGroup, b: FoundGroup): number =>
      sign * compareRows(this.compare, a.first!, b.first!);
    const compareGroups = (a: FoundGroup, b: FoundGroup): number =>
      this.compare(this.groupOf(a.first!.key, level), this.groupOf(b.first!.key, level));
    const found = this.readers.map((reader) => reader.groups(range, level, descending));
    for (const same of runs(mergeSorted(found, compareFirst), compareGroups)) {
      if (same.length === 1) yield same[0]!;
      else {
        const pieces = this.#joined(
          same.map((group) => group.pieces),
          end,
        );
        yield { first: same[0]!.first!, pieces };
      }
    }
  }

  *foldGroups<State>(range: ViewRange, level: number, fold: Fold<State>): Generator<GroupPart<State>> {
    if (fold.end !== undefined) return yield* this.#foldEnds(range, level, fold, fold.end);
    const compare = (a: GroupPart<State>, b: GroupPart<State>): number => this.compare(a.group, b.group);
    const found = this.readers.map((reader) => reader.foldGroups(range, level, fold));
    for (const same of runs(mergeSorted(found, compare), compare)) {
      if (same.length === 1) yield same[0]!;
      else {
        const text = this.#textOf(range, level, same);
        yield { group: same[0]!.group, text, state: fold.merge(same.map(({ state }) => state)) };
      }
    }
  }

  *#foldEnds<State>(
    range: ViewRange,
    level: number,
    fold: Fold<State>,
    end: RowEnd,
  ): Generator<GroupPart<State>> {
    for (const { first, pieces } of this.groups(range, level, false, end)) {
      const group = this.groupOf(first!.key, level);
      yield { group, text: groupKeyText(first!, level), state: fold.rows([endRowOf(pieces, end)]) };
    }
  }

  /** Keys that compare as equal may have different texts: the one of the first row is shown. */
  #textOf(range: ViewRange, level: number, parts: readonly GroupPart<unknown>[]): Bytes {
    const { group, text } = parts[0]!;
    if (parts.every((part) => part.text === text)) return text;
    const startsInGroup = range.low !== undefined && this.compare(range.low.key, group) >= 0;
    const low = startsInGroup ? range.low : { key: group, after: false };
    const [first] = this.rows({ low, high: range.high }, { descending: false, skip: 0, limit: 1 });
    return groupKeyText(first!, level);
  }

  groupOf(key: Bytes, level: number): Bytes {
    return this.#first.groupOf(key, level);
  }

  behindGroup(range: ViewRange, row: Pick<Row, 'key'>, level: number, descending: boolean): ViewRange {
    return this.#first.behindGroup(range, row, level, descending);
  }
}

/** Items that follow each other and are equal, together. */
function* runs<T>(items: Iterable<T>, compare: (a: T, b: T) => number): Generator<T[]> {
  let run: T[] = [];
  for (const item of items) {
    if (run.length > 0 && compare(run[0]!, item) !== 0) {
      yield run;
      run = [];
    }
    run.push(item);
  }
  if (run.length > 0) yield run;
}

/** The rows of one index that a query is about. */
class RowList implements SkippedList<Row> {
  #passed = 0;

  constructor(
    private readonly reader: ViewReader,
    private readonly range: ViewRange,
    private readonly descending: boolean,
  ) {}

  at(place: number): Row | undefined {
    const [row] = this.#from(this.#passed + place, 1);
    return row;
  }

  pass(count: number): void {
    this.#passed += count;
  }

  rows(): Iterable<Row> {
    return this.#from(this.#passed, Infinity);
  }

  #from(skip: number, limit: number): Iterable<Row> {
    return this.reader.rows(this.range, { descending: this.descending, skip, limit });
  }
}
