import { SystemRuntime } from '../../src/base/runtime.js';
import assert from 'node:assert/strict';
import { asBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import { compareKeys } from '../../src/json/compare-keys.js';
import { keyPrefix } from '../../src/json/key-prefix.js';
import { encodeKey } from '../../src/json/order-key.js';
import { RandomKeys } from '../support/random-keys.js';
import { prefixEnd, type Store } from '../../src/storage/store.js';
import { Inner } from '../../src/indexes/tree/inner.js';
import { Leaf } from '../../src/indexes/tree/leaf.js';
import type { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { recordKey } from '../../src/indexes/tree/node-source.js';
import type { Piece } from '../../src/indexes/tree/piece.js';
import type { Reducer } from '../../src/indexes/tree/reducer.js';
import { compareRows, type Bound, type Row, type RowKey } from '../../src/indexes/tree/row.js';
import { innerKind, nodeBytesMax } from '../../src/indexes/tree/tree-node.js';
import { TreeReader } from '../../src/indexes/tree/tree-reader.js';
import { emptyTree, type TreeState } from '../../src/indexes/tree/tree-state.js';
import { TreeWriter } from '../../src/indexes/tree/tree-writer.js';

/** Adds the lengths of the values; answers at once. */
export const lengths: Reducer = {
  reduce: (groups) =>
    groups.map((rows) => asBytes(String(rows.reduce((sum, { value }) => sum + value.length, 0)))),
  rereduce: (groups) =>
    groups.map((values) => asBytes(String(values.reduce((sum, value) => sum + Number(value), 0)))),
};

/** Strings ids and ordinals together, so that every mistake in the order shows; answers later. */
export const names: Reducer = {
  reduce: (groups) => Promise.resolve(groups.map((rows) => asBytes(rows.map(nameOf).join('')))),
  rereduce: (groups) => Promise.resolve(groups.map((values) => asBytes(values.join('')))),
};

export const nameOf = ({ id, n }: RowKey): Bytes => asBytes(`${id}.${n} `);

/** A tree in a store, and beside it a plain list of the rows that it should have. */
export class TreeScene {
  state: TreeState = emptyTree;
  rows: Row[] = [];
  /** The rows that the last update with removals took away. */
  gone: Row[] = [];
  readonly prefix = 'tree\x07';

  constructor(
    readonly store: Store,
    readonly reducers: readonly Reducer[] = [lengths, names],
    readonly cache?: NodeCache,
    readonly compare = compareKeys,
  ) {}

  get reader(): TreeReader {
    return new TreeReader(this.store, asBytes(this.prefix), this.state, this.compare, this.cache);
  }

  /** Changes tree and list, in whatever order the changes come. Gives the number of records written or removed. */
  async update(removals: readonly RowKey[], inserts: readonly Row[], mayRepeat = false): Promise<number> {
    const order = (a: RowKey, b: RowKey): number => compareRows(this.compare, a, b);
    const writer = new TreeWriter(
      this.store,
      asBytes(this.prefix),
      this.state,
      this.compare,
      this.reducers,
      new SystemRuntime(),
      this.cache,
    );
    const { writes, state } = await writer.update(
      [...removals].sort(order),
      [...inserts].sort(order),
      mayRepeat,
    );
    await this.store.write(writes).committed;
    this.state = state;
    const byName = new Set(removals.map(nameOf));
    if (removals.length > 0) this.gone = this.rows.filter((row) => byName.has(nameOf(row)));
    this.rows = changed(this.rows, removals, inserts, order);
    return writes.length;
  }

  /** Everything that has to hold after every update. */
  check(): void {
    const { state, store, prefix } = this;
    const found = new Map(
      [...store.entries({ start: asBytes(prefix), end: prefixEnd(asBytes(prefix)) })].map((e) => [
        e.key,
        e.value,
      ]),
    );
    const used = new Set<Bytes>();
    const rows: Row[] = [];
    if (state.root !== 0) this.#checkNode(state.root, state.height, rows, used);
    assert.deepEqual(
      [...found.keys()].sort(),
      [...used].sort(),
      'records are exactly those the tree refers to',
    );
    assert.equal(state.count, this.rows.length);
    assert.deepEqual(rows, this.rows);
    assert.equal(
      state.bytes,
      [...found.values()].reduce((sum, value) => sum + value.length, 0),
    );
    if (this.rows.length === 0) assert.deepEqual([state.root, state.height], [0, 0]);
  }

  /** The reductions that the node should have; its rows are added to the list. */
  #checkNode(id: number, height: number, rows: Row[], used: Set<Bytes>): void {
    const key = recordKey(asBytes(this.prefix), id);
    assert.ok(id < this.state.nextId && !used.has(key));
    used.add(key);
    const text = this.store.get(key)!;
    const isInner = text.charCodeAt(0) === innerKind;
    assert.equal(isInner, height > 1);
    const node = isInner ? new Inner(text) : new Leaf(text);
    assert.ok(node.length > 0);
    assert.ok(
      text.length <= nodeBytesMax || node.length <= largeEntries,
      `${text.length} bytes, ${node.length} entries`,
    );
    if (node instanceof Inner) this.#checkChildren(node, height, rows, used);
    else this.#takeRows(node as Leaf, rows, used);
  }

  #checkChildren(node: Inner, height: number, rows: Row[], used: Set<Bytes>): void {
    for (let i = 0; i < node.length; i++) {
      const first = rows.length;
      this.#checkNode(node.children[i]!, height - 1, rows, used);
      const below = rows.slice(first);
      assert.equal(node.countOf(i), below.length);
      assert.deepEqual(
        this.reducers.map((_, r) => node.reduction(i, r)),
        this.reducers.map((reducer) => plainReduction(reducer, below)),
      );
      if (first === 0) continue;
      const separator = { key: node.key(i), id: node.id(i), n: node.n(i) };
      assert.ok(compareRows(this.compare, rows[first - 1]!, separator) < 0);
      assert.ok(compareRows(this.compare, separator, rows[first]!) <= 0);
    }
  }

  #takeRows(leaf: Leaf, rows: Row[], used: Set<Bytes>): void {
    for (let i = 0; i < leaf.length; i++) {
      const own = leaf.ownRecord(i);
      if (own) used.add(recordKey(asBytes(this.prefix), own.record));
      const value = own
        ? this.store.get(recordKey(asBytes(this.prefix), own.record))!
        : leaf.value(i, noValues);
      assert.equal(own?.bytes ?? value.length, value.length);
      rows.push({ key: leaf.key(i), id: leaf.id(i), n: leaf.n(i), keyText: leaf.keyText(i), value });
    }
  }

  /** The places of the list between the bounds. */
  between(start: Bound | undefined, end: Bound | undefined): Row[] {
    return this.rows.slice(start && this.placeOf(start), end && this.placeOf(end));
  }

  placeOf(bound: Bound): number {
    return this.rows.filter((row) => this.isBefore(row, bound)).length;
  }

  isBefore(row: Row, bound: Bound): boolean {
    const order = this.compare(row.key, bound.key);
    if (order !== 0) return order < 0;
    if (bound.id === undefined || row.id === bound.id) return bound.after;
    return row.id < bound.id;
  }
}

/** What a node may have that is larger than it should be. */
const largeEntries = 4;

const noValues = {
  value(): never {
    throw new Error('the value stands in the leaf');
  },
};

function changed(
  rows: readonly Row[],
  removals: readonly RowKey[],
  inserts: readonly Row[],
  order: (a: RowKey, b: RowKey) => number,
): Row[] {
  const isIn = (list: readonly RowKey[]): ((row: RowKey) => boolean) => {
    const byName = new Map<Bytes, RowKey[]>();
    for (const row of list) byName.set(nameOf(row), [...(byName.get(nameOf(row)) ?? []), row]);
    return (row) => byName.get(nameOf(row))?.some((other) => order(row, other) === 0) ?? false;
  };
  const isRemoved = isIn(removals);
  const isReplaced = isIn(inserts);
  return [...rows.filter((row) => !isRemoved(row) && !isReplaced(row)), ...inserts].sort(order);
}

/** The value of rows without any tree. */
function plainReduction(reducer: Reducer, rows: readonly Row[]): Bytes {
  if (reducer === lengths) return asBytes(String(rows.reduce((sum, { value }) => sum + value.length, 0)));
  return asBytes(rows.map(nameOf).join(''));
}

/** What the pieces of a range come to with the list-making reducer. */
export function namesOf(pieces: Iterable<Piece>): Bytes {
  let all = '';
  for (const piece of pieces) all += piece.reductions?.join('') ?? piece.rows!.map(nameOf).join('');
  return asBytes(all);
}

/** Random rows and bounds over few keys, so that many rows share them. */
export class RandomRows {
  readonly random: RandomKeys;

  constructor(
    readonly seed: number,
    readonly keyOf: (random: RandomKeys) => unknown = (random) => random.key(2),
    readonly padding: (random: RandomKeys) => number = (random) => random.below(20),
  ) {
    this.random = new RandomKeys(seed);
  }

  row(): Row {
    const { random } = this;
    const key = this.keyOf(random);
    return {
      key: encodeKey(key),
      id: asBytes(`doc-${random.below(50)}`),
      n: random.below(10) === 0 ? random.below(300) : 0,
      keyText: toBytes(JSON.stringify(key)),
      value: asBytes(`"${'v'.repeat(this.padding(random))}"`),
    };
  }

  /** Rows of which no two have the same key, id and ordinal. */
  rows(count: number, compare = compareKeys): Row[] {
    const rows = Array.from({ length: count }, () => this.row());
    rows.sort((a, b) => compareRows(compare, a, b));
    return rows.filter((row, i) => i === 0 || compareRows(compare, rows[i - 1]!, row) < 0);
  }

  some<Item>(items: readonly Item[], count: number): Item[] {
    return [...new Set(Array.from({ length: Math.min(count, items.length) }, () => this.random.pick(items)))];
  }

  bound(rows: readonly Row[]): Bound | undefined {
    const { random } = this;
    if (random.below(8) === 0) return undefined;
    const { key, id } = rows.length > 0 && random.below(3) > 0 ? random.pick(rows) : this.row();
    const after = random.below(2) === 0;
    return random.below(2) === 0 ? { key, after } : { key, id, after };
  }
}

/** Where the group of a row ends in the direction of reading: keys that share their first elements belong together. */
export function groupEnd(level: number, descending: boolean): (row: Row) => Bound {
  return ({ key }) => {
    const prefix = keyPrefix(key, level);
    if (prefix === undefined) return { key, after: !descending };
    return { key: descending ? prefix : asBytes(`${prefix}\xff`), after: false };
  };
}
