import type { Runtime } from '../../base/runtime.js';
import { noBytes, type Bytes } from '../../base/bytes.js';
import type { TimeSlice } from '../../base/turns.js';
import type { Store, Write } from '../../storage/store.js';
import { mergeChanges, type Changes } from './changes.js';
import { sparseBytes } from './divide.js';
import { pushRows } from './encode-leaf.js';
import { InnerChild, MadeChild, type Child, type Inner } from './inner.js';
import { joinNeighbours, type JoinRows } from './join-rows.js';
import type { Leaf } from './leaf.js';
import { InnerLevel, LeafLevel, type Level } from './level.js';
import type { NodeCache } from './node-cache.js';
import { NodeSource } from './node-source.js';
import type { Reducer } from './reducer.js';
import type { Compare, Row, RowKey } from './row.js';
import { TreeEdit, type CommitAhead } from './tree-edit.js';
import type { TreeNode } from './tree-node.js';
import type { TreeState } from './tree-state.js';
import { keepOnly, runsOf, type Visit } from './visit.js';

/** Before all rows. */
const lowest: RowKey = { key: noBytes, id: noBytes, n: 0 };

/**
 * Changes a tree. Nodes never change: the changed leaves and all nodes above them are written again, under new ids, and
 * the old ones removed. The caller commits the writes of `update` and then uses the new state. A large update commits leaves
 * ahead, to which nothing refers until then.
 *
 * The changes are divided among the nodes from the root down; then each level is rebuilt from the leaves up, so that a
 * reducer is asked once for each level. Changed adjacent nodes under one parent are rebuilt together: what is in them is
 * divided evenly, and where little is left it is joined with what stands beside it.
 */
export class TreeWriter {
  readonly #source: NodeSource;

  constructor(
    store: Pick<Store, 'get'>,
    private readonly prefix: Bytes,
    private readonly state: TreeState,
    private readonly compare: Compare,
    private readonly reducers: readonly Reducer[],
    private readonly runtime: Runtime,
    cache?: NodeCache,
    /** Gives one row for two neighbours of the same key, of which one is new, where they are better off together. */
    private readonly join?: JoinRows,
    /** Makes large updates need less memory. */
    private readonly commitAhead?: CommitAhead,
  ) {
    this.#source = new NodeSource(store, prefix, cache);
  }

  /**
   * Takes rows away and puts rows in; both lists have to be in order. A row that is there already is replaced; one that is
   * to be removed and isn't there is passed over. Where rows may be there just as they are, leaves that have all of theirs
   * already are left alone; to look for them takes time.
   */
  async update(
    removals: readonly RowKey[],
    inserts: readonly Row[],
    mayRepeat = false,
  ): Promise<{ writes: Write[]; state: TreeState }> {
    const slice = this.runtime.slice();
    const changes = await mergeChanges(removals, inserts, this.compare, slice);
    if (changes.rows.length === 0) return { writes: [], state: this.state };
    const edit = new TreeEdit(this.prefix, this.state, this.commitAhead);
    const levels = await this.#visit(changes, slice);
    if (mayRepeat) await keepOnly(levels, (visit) => !this.#isUnchanged(visit, changes), slice);
    if (levels[0]!.length === 0) return { writes: [], state: this.state };
    let top: MadeChild[] = [];
    let height = 0;
    for (; height < levels.length || top.length > 1; height++) {
      const level =
        height === 0
          ? new LeafLevel(edit, this.reducers, slice, this.compare)
          : new InnerLevel(edit, this.reducers, slice);
      const visits = levels[height];
      if (visits === undefined) top = await makeAbove(level as InnerLevel, top);
      else if (level instanceof LeafLevel) top = await this.#makeLeaves(level, visits, changes, edit, slice);
      else top = await this.#makeInner(level, visits, edit);
      // The reductions of the root would stand nowhere.
      if (height + 1 < levels.length || top.length > 1) await level.reduce();
    }
    return this.#finish(edit, top[0], height);
  }

  /** The nodes that change, level by level, the leaves first. An empty tree is seen as one empty leaf. */
  async #visit(changes: Changes, slice: TimeSlice): Promise<Visit[][]> {
    const all = { id: this.state.root, parent: undefined, index: 0 };
    const levels: Visit[][] = [[{ ...all, from: 0, to: changes.rows.length, replaced: [] }]];
    while (levels.length < this.state.height) {
      const below: Visit[] = [];
      for (const visit of levels[0]!) {
        this.#visitChildren(visit, changes, below);
        if (slice.isOver) await slice.next();
      }
      levels.unshift(below);
    }
    return levels;
  }

  #visitChildren(parent: Visit, { rows }: Changes, visits: Visit[]): void {
    const node = (parent.inner = this.#source.inner(parent.id));
    let index = 0;
    for (let from = parent.from; from < parent.to;) {
      index = node.firstAbove(rows[from]!, index + 1, this.compare) - 1;
      const to =
        index + 1 < node.length ? this.#changesBelow(node, index + 1, rows, from + 1, parent.to) : parent.to;
      visits.push({ id: node.children[index]!, parent, index, from, to, replaced: [] });
      from = to;
    }
  }

  /** The end of the changes below a separator. They are often few, so it is looked for nearby first. */
  #changesBelow(node: Inner, index: number, rows: readonly RowKey[], from: number, end: number): number {
    const isBelow = (at: number): boolean => node.compareRow(index, rows[at]!, this.compare) > 0;
    let low = from;
    let high = from;
    for (let step = 1; high < end && isBelow(high); step *= 2) {
      low = high + 1;
      high = low + step;
    }
    high = Math.min(high, end);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBelow(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether a leaf has all its changes already. */
  #isUnchanged({ id, from, to }: Visit, changes: Changes): boolean {
    const leaf = id === 0 ? undefined : this.#source.leaf(id);
    let at = 0;
    for (let i = from; i < to; i++) {
      const row = changes.inserted(i);
      if (row === undefined || leaf === undefined) return false;
      at = leaf.firstNotBelow(row, at, this.compare);
      if (at >= leaf.length || leaf.compareRow(at, row, this.compare) !== 0) return false;
      if (leaf.keyText(at) !== row.keyText || leaf.value(at, this.#source) !== row.value) return false;
    }
    return true;
  }

  async #makeLeaves(
    level: LeafLevel,
    visits: readonly Visit[],
    changes: Changes,
    edit: TreeEdit,
    slice: TimeSlice,
  ): Promise<MadeChild[]> {
    let top: MadeChild[] = [];
    for (const run of runsOf(visits)) {
      const rows: Row[] = [];
      let appended = false;
      for (const visit of run) {
        appended = this.#mergeLeaf(visit, changes, rows, edit) && run.length === 1;
        if (slice.isOver) await slice.next();
      }
      const joined = this.join === undefined ? rows : joinNeighbours(rows, this.join);
      top = await this.#makeRun(level, run, joined, appended, this.#rowsOf, edit);
    }
    return top;
  }

  /** Puts the rows of a leaf and the changes together; tells whether all changes stand behind the old rows. */
  #mergeLeaf(visit: Visit, changes: Changes, rows: Row[], edit: TreeEdit): boolean {
    const leaf = visit.id === 0 ? undefined : this.#source.leaf(visit.id);
    let at = 0;
    let appended = true;
    for (let i = visit.from; i < visit.to; i++) {
      const change = changes.rows[i]!;
      if (leaf !== undefined && at < leaf.length) {
        const place = leaf.firstNotBelow(change, at, this.compare);
        pushRows(rows, at, place, leaf, this.#source);
        at = place;
        if (at < leaf.length) appended = false;
        if (at < leaf.length && leaf.compareRow(at, change, this.compare) === 0) dropValue(leaf, at++, edit);
      }
      const inserted = changes.inserted(i);
      if (inserted !== undefined) rows.push(inserted);
    }
    if (leaf === undefined) return false;
    pushRows(rows, at, leaf.length, leaf, this.#source);
    edit.remove(visit.id, leaf.text.length);
    return appended;
  }

  async #makeInner(level: InnerLevel, visits: readonly Visit[], edit: TreeEdit): Promise<MadeChild[]> {
    let top: MadeChild[] = [];
    for (const run of runsOf(visits)) {
      const children: Child[] = [];
      for (const { id, inner, replaced } of run) {
        const node = inner!;
        let at = 0;
        for (const replacement of replaced) {
          pushChildren(children, at, replacement.from, node);
          for (const child of replacement.children) children.push(child);
          at = replacement.to;
        }
        pushChildren(children, at, node.length, node);
        edit.remove(id, node.text.length);
      }
      const [{ inner, replaced }] = run as [Visit];
      const appended = run.length === 1 && replaced[0]!.to === inner!.length;
      top = await this.#makeRun(level, run, children, appended, childrenOf, edit);
    }
    return top;
  }

  readonly #rowsOf = (leaf: TreeNode): Row[] => {
    const rows: Row[] = [];
    pushRows(rows, 0, leaf.length, leaf as Leaf, this.#source);
    return rows;
  };

  /** Makes nodes of the entries of neighbours and tells their parent; gives them back for those that have none. */
  async #makeRun<Entry extends RowKey>(
    level: Level<Entry>,
    run: readonly Visit[],
    entries: Entry[],
    appended: boolean,
    entriesOf: (node: TreeNode) => Entry[],
    edit: TreeEdit,
  ): Promise<MadeChild[]> {
    const { parent } = run[0]!;
    let sizes = level.measure(entries);
    if (parent === undefined) return await level.make(entries, sizes, lowest, appended);
    const siblings = parent.inner!;
    const take = (index: number): Entry[] => {
      const node = this.#source.node(siblings.children[index]!);
      edit.remove(siblings.children[index]!, node.text.length);
      return entriesOf(node);
    };
    let from = run[0]!.index;
    let to = run.at(-1)!.index + 1;
    let all = entries;
    if (entries.length > 0 && sizes.total < sparseBytes) {
      if (to < siblings.length) all = [...entries, ...take(to++)];
      else if (from > (parent.replaced.at(-1)?.to ?? 0)) all = [...take(--from), ...entries];
      sizes = level.measure(all);
    }
    // Children that are gone may leave a gap before the first; rows that come into it belong to the node before.
    const first = level instanceof LeafLevel ? new InnerChild(siblings, from) : (all[0] ?? lowest);
    const children = await level.make(all, sizes, first, appended && all === entries);
    parent.replaced.push({ from, to, children });
    return children;
  }

  #finish(
    edit: TreeEdit,
    root: MadeChild | undefined,
    levels: number,
  ): Promise<{ writes: Write[]; state: TreeState }> {
    if (root === undefined) return edit.finish(0, 0, 0);
    let child: Child = root;
    let height = levels;
    // Collapse single-child roots.
    for (; height > 1; height--) {
      if (child instanceof MadeChild) {
        if (child.only === undefined) break;
        edit.takeBack(child.node);
        child = child.only;
      } else {
        const node: Inner = this.#source.inner(child.node);
        if (node.length > 1) break;
        edit.remove(child.node, node.text.length);
        child = new InnerChild(node, 0);
      }
    }
    return edit.finish(child.node, height, root.count);
  }
}

/** A level above the highest one so far. */
const makeAbove = (level: InnerLevel, children: readonly Child[]): Promise<MadeChild[]> =>
  level.make(children, level.measure(children), lowest, false);

function pushChildren(children: Child[], from: number, to: number, node: Inner): void {
  for (let at = from; at < to; at++) children.push(new InnerChild(node, at));
}

function childrenOf(node: TreeNode): Child[] {
  const children: Child[] = [];
  pushChildren(children, 0, node.length, node as Inner);
  return children;
}

/** Removes the record of a value that goes with its row. */
function dropValue(leaf: Leaf, at: number, edit: TreeEdit): void {
  const own = leaf.ownRecord(at);
  if (own !== undefined) edit.remove(own.record, own.bytes);
}
