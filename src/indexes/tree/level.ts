import { noBytes, type Bytes } from '../../base/bytes.js';
import type { TimeSlice } from '../../base/turns.js';
import { divide, type Sizes } from './divide.js';
import { encodeLeaf, measureRows } from './encode-leaf.js';
import { childBytes, encodeInner, innerHeadBytes, MadeChild, type Child } from './inner.js';
import type { Reducer } from './reducer.js';
import type { Compare, Row, RowKey } from './row.js';
import type { TreeEdit } from './tree-edit.js';

type Values = readonly Bytes[] | Promise<readonly Bytes[]>;

/** The nodes that an update makes on one level, from entries that are rows or children. */
export abstract class Level<Entry> {
  /** Nodes whose reductions are still to be asked for. */
  #made: { child: MadeChild; entries: readonly Entry[] }[] = [];

  constructor(
    protected readonly edit: TreeEdit,
    protected readonly reducers: readonly Reducer[],
    protected readonly slice: TimeSlice,
  ) {}

  abstract measure(entries: readonly Entry[]): Sizes;
  protected abstract encode(entries: readonly Entry[], from: number, to: number): Bytes;
  protected abstract countRows(entries: readonly Entry[], from: number, to: number): number;
  /** What separates the entry `at`, which is not the first, from the one before. */
  protected abstract separator(entries: readonly Entry[], at: number): RowKey;
  protected abstract onlyChild(entry: Entry): Child | undefined;
  protected abstract reduceGroups(groups: readonly (readonly Entry[])[], reducer: number): Values;

  /** Makes nodes of the entries; the first of them gets the separator `first`. */
  async make(
    entries: readonly Entry[],
    sizes: Sizes,
    first: RowKey,
    appended: boolean,
  ): Promise<MadeChild[]> {
    const made: MadeChild[] = [];
    let from = 0;
    for (const to of divide(sizes, appended)) {
      const { key, id, n } = from === 0 ? first : this.separator(entries, from);
      const node = this.edit.put(this.encode(entries, from, to));
      const only = to - from === 1 ? this.onlyChild(entries[from]!) : undefined;
      const child = new MadeChild(node, this.countRows(entries, from, to), key, id, n, only);
      if (this.reducers.length > 0)
        this.#made.push({ child, entries: to - from === entries.length ? entries : entries.slice(from, to) });
      from = to;
      made.push(child);
      // So that the rows of all nodes are not held until the last one is made.
      if (this.#made.length >= reducedAtOnce) await this.reduce();
      const writing = this.afterNode();
      if (writing !== undefined) await writing;
      if (this.slice.isOver) await this.slice.next();
    }
    return made;
  }

  /** Called after each node that was made. */
  protected afterNode(): Promise<void> | void {}

  /** Asks the reducers for the values of the nodes made since it was last called. */
  async reduce(): Promise<void> {
    const nodes = this.#made;
    if (nodes.length === 0) return;
    this.#made = [];
    for (let reducer = 0; reducer < this.reducers.length; reducer++) {
      const answer = this.reduceGroups(
        nodes.map(({ entries }) => entries),
        reducer,
      );
      const values = answer instanceof Promise ? await answer : answer;
      if (values.length !== nodes.length) throw new Error('a reducer has to give one value for each group');
      nodes.forEach(({ child }, i) => child.reductions.push(values[i]!));
      if (this.slice.isOver) await this.slice.next();
    }
  }
}

/** Nodes that a reducer is asked about at a time. */
const reducedAtOnce = 512;

export class LeafLevel extends Level<Row> {
  constructor(
    edit: TreeEdit,
    reducers: readonly Reducer[],
    slice: TimeSlice,
    private readonly compare: Compare,
  ) {
    super(edit, reducers, slice);
  }

  measure(rows: readonly Row[]): Sizes {
    return measureRows(rows);
  }

  protected encode(rows: readonly Row[], from: number, to: number): Bytes {
    return encodeLeaf(rows, from, to, this.edit.put);
  }

  protected countRows(_: readonly Row[], from: number, to: number): number {
    return to - from;
  }

  /** As little of the row as tells it from the one before: mostly the key alone. */
  protected separator(rows: readonly Row[], at: number): RowKey {
    const { key, id, n } = rows[at]!;
    const before = rows[at - 1]!;
    if (this.compare(before.key, key) !== 0) return { key, id: noBytes, n: 0 };
    return before.id === id ? { key, id, n } : { key, id, n: 0 };
  }

  protected onlyChild(): undefined {
    return undefined;
  }

  /** Leaves are most of a tree, and none of them is taken back. */
  protected override afterNode(): Promise<void> | void {
    return this.edit.isLarge ? this.edit.writeAhead() : undefined;
  }

  protected reduceGroups(groups: readonly (readonly Row[])[], reducer: number): Values {
    return this.reducers[reducer]!.reduce(groups);
  }
}

export class InnerLevel extends Level<Child> {
  measure(children: readonly Child[]): Sizes {
    const sizes: number[] = [];
    let total = 0;
    for (const child of children) total += sizes[sizes.push(childBytes(child)) - 1]!;
    return { sizes, total, headBytes: innerHeadBytes };
  }

  protected encode(children: readonly Child[], from: number, to: number): Bytes {
    return encodeInner(children, from, to, this.reducers.length);
  }

  protected countRows(children: readonly Child[], from: number, to: number): number {
    let count = 0;
    for (let i = from; i < to; i++) count += children[i]!.count;
    return count;
  }

  protected separator(children: readonly Child[], at: number): RowKey {
    return children[at]!;
  }

  protected onlyChild(child: Child): Child {
    return child;
  }

  protected reduceGroups(groups: readonly (readonly Child[])[], reducer: number): Values {
    return this.reducers[reducer]!.rereduce(
      groups.map((children) => children.map((child) => child.reduction(reducer))),
    );
  }
}
