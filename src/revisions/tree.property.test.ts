import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTree, encodeTree } from './codec.js';
import { extend, merge, type Merged } from './merge.js';
import { forgetInnerBodies, removeLeaves, stem } from './prune.js';
import { TreeGrowth } from './tree-growth.js';
import { TreeIndex } from './tree-index.js';
import { find, leaves, leavesBelow, pathOf, winner, type RevTree } from './tree.js';

/**
 * Random lives of a document, compared step by step with a model that is too simple to be wrong: a map from each
 * revision to its parent. What happens in the world, on all replicas together, is one true tree of which the tree
 * under test sees fragments. A failure names its seed; TUFFET_SEED replays it.
 */
const seed = Number(process.env['TUFFET_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

type Fact = { pos: number; hash: string; parent: string | undefined; deleted: boolean; body: number };
type Facts = Map<string, Fact>;

/** Mulberry32. */
function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

class World {
  readonly revs: Facts = new Map();
  constructor(readonly random: (below: number) => number) {}

  pick<T>(choices: readonly T[]): T {
    return choices[this.random(choices.length)]!;
  }

  /** A new edit of the given revision, or of none. */
  edit(parent: string | undefined): string {
    const pos = parent === undefined ? 1 : this.revs.get(parent)!.pos + 1;
    for (;;) {
      const digits = this.random(2 ** 32)
        .toString(16)
        .padStart(8, '0');
      const hash = this.pick([digits.repeat(4), digits.slice(0, 2), `é${digits[0]}`, `😀${digits[0]}`]);
      const key = `${pos}-${hash}`;
      if (this.revs.has(key)) continue;
      this.revs.set(key, { pos, hash, parent, deleted: this.random(4) === 0, body: this.revs.size + 1 });
      return key;
    }
  }

  /** The revision and its ancestors, newest first. */
  history(key: string): string[] {
    const keys: string[] = [];
    for (let at: string | undefined = key; at !== undefined; at = this.revs.get(at)!.parent) keys.push(at);
    return keys;
  }
}

const keyOf = (rev: { pos: number; hash: string }): string => `${rev.pos}-${rev.hash}`;
const bytesOf = (hash: string): Buffer => Buffer.from(hash, /^[0-9a-f]{32}$/.test(hash) ? 'hex' : 'utf8');

function modelLeaves(facts: Facts): string[] {
  const parents = new Set([...facts.values()].map((fact) => fact.parent));
  return [...facts.keys()].filter((key) => !parents.has(key));
}

function modelPath(facts: Facts, key: string): string[] {
  const parent = facts.get(key)!.parent;
  return parent === undefined ? [key] : [key, ...modelPath(facts, parent)];
}

const modelOrder = (facts: Facts, keys: string[]): string[] =>
  keys.toSorted((left, right) => {
    const [a, b] = [facts.get(left)!, facts.get(right)!];
    return (
      Number(a.deleted) - Number(b.deleted) ||
      b.pos - a.pos ||
      Buffer.compare(bytesOf(b.hash), bytesOf(a.hash))
    );
  });

function modelMerge(facts: Facts, world: World, keys: string[]): void {
  const newest = world.revs.get(keys[0]!)!;
  const known = facts.get(keys[0]!);
  if (known !== undefined && known.body === 0 && !modelLeaves(facts).includes(keys[0]!)) {
    facts.set(keys[0]!, { ...newest, parent: known.parent });
  }
  keys.forEach((key, index) => {
    const { pos, hash } = world.revs.get(key)!;
    const fact = facts.get(key) ?? { pos, hash, parent: undefined, deleted: false, body: 0 };
    if (index === 0 && known === undefined)
      Object.assign(fact, { deleted: newest.deleted, body: newest.body });
    facts.set(key, { ...fact, parent: fact.parent ?? keys[index + 1] });
  });
}

function modelKeep(facts: Facts, kept: Set<string>): void {
  for (const [key, fact] of facts) {
    if (!kept.has(key)) facts.delete(key);
    else if (fact.parent !== undefined && !kept.has(fact.parent))
      facts.set(key, { ...fact, parent: undefined });
  }
}

const mergeKeys = (tree: RevTree | undefined, world: World, keys: string[]) => {
  const { pos, deleted, body } = world.revs.get(keys[0]!)!;
  const hashes = keys.map((key) => world.revs.get(key)!.hash);
  return merge(tree, { start: pos, hashes }, { deleted, body });
};

function factsOf(tree: RevTree): Facts {
  const facts: Facts = new Map();
  tree.forEach((node, index) => {
    assert.ok(node.parent < index, 'a parent stands before its children');
    const parent = node.parent < 0 ? undefined : keyOf(tree[node.parent]!);
    const { pos, hash, deleted, body } = node;
    facts.set(keyOf(node), { pos, hash, parent, deleted, body });
  });
  assert.equal(facts.size, tree.length, 'a revision occurs once');
  return facts;
}

function check(tree: RevTree | undefined, facts: Facts): void {
  if (tree === undefined) return assert.equal(facts.size, 0);
  assert.deepEqual(new Map([...factsOf(tree)].sort()), new Map([...facts].sort()));
  const expected = modelOrder(facts, modelLeaves(facts));
  assert.deepEqual(leaves(tree).map(keyOf), expected);
  assert.equal(keyOf(winner(tree)), expected[0]);
  for (const node of tree) {
    const key = keyOf(node);
    assert.equal(node.leaf, expected.includes(key));
    assert.deepEqual(pathOf(tree, node).map(keyOf), modelPath(facts, key));
    const below = expected.filter((leaf) => modelPath(facts, leaf).includes(key));
    assert.deepEqual(leavesBelow(tree, node).map(keyOf), below);
  }
  assert.deepEqual(decodeTree(encodeTree(tree)), tree);
}

function step(tree: RevTree | undefined, facts: Facts, world: World): RevTree | undefined {
  const { random } = world;
  const kind = tree === undefined ? 5 : random(10);
  if (kind < 3) {
    const parent = world.pick(leaves(tree!));
    const children = [...world.revs].filter(([, fact]) => fact.parent === keyOf(parent)).map(([key]) => key);
    const key = children.length > 0 && random(2) === 0 ? world.pick(children) : world.edit(keyOf(parent));
    const { pos, hash, deleted, body } = world.revs.get(key)!;
    modelMerge(facts, world, [key, keyOf(parent)]);
    return extend(tree!, parent, { pos, hash }, { deleted, body }).tree;
  }
  if (kind < 8) {
    const known = [...world.revs.keys()];
    const from = random(8) === 0 ? undefined : world.pick(known);
    const history = world.history(random(2) === 0 && from !== undefined ? from : world.edit(from));
    const keys = history.slice(0, 1 + random(history.length));
    const before = structuredClone(facts);
    modelMerge(facts, world, keys);
    const merged = mergeKeys(tree, world, keys);
    const changed = JSON.stringify([...before].sort()) !== JSON.stringify([...facts].sort());
    assert.equal(merged.outcome !== 'unchanged', changed);
    assert.equal(merged.tree !== tree, changed);
    const body = world.revs.get(keys[0]!)!.body;
    assert.equal(merged.stored, facts.get(keys[0]!)!.body === body && before.get(keys[0]!)?.body !== body);
    const grown = modelLeaves(facts).length - modelLeaves(before).length;
    if (merged.outcome === 'new_branch') assert.ok(grown <= 1);
    if (merged.outcome === 'internal_node') assert.ok(grown <= 0);
    return merged.tree;
  }
  if (kind === 8 && random(3) > 0) {
    const limit = 1 + random(6);
    const paths = modelLeaves(facts).map((leaf) => modelPath(facts, leaf).slice(0, limit));
    modelKeep(facts, new Set(paths.flat()));
    return stem(tree!, limit);
  }
  if (kind === 8) {
    const lost = new Set(modelLeaves(facts));
    for (const [key, fact] of facts) if (!lost.has(key)) facts.set(key, { ...fact, body: 0 });
    return forgetInnerBodies(tree!).tree;
  }
  const named = [...tree!].filter(() => random(6) === 0);
  const staying = modelLeaves(facts).filter((leaf) => !named.some((node) => keyOf(node) === leaf));
  const leaving = modelLeaves(facts).filter((leaf) => !staying.includes(leaf));
  modelKeep(facts, new Set(staying.flatMap((leaf) => modelPath(facts, leaf))));
  const purged = removeLeaves(tree!, [...named, { pos: 99_999, hash: 'x' }]);
  assert.deepEqual(purged.removed.map(keyOf).sort(), leaving.sort());
  return purged.tree;
}

void test(`a tree does what the model does (seed ${seed})`, () => {
  const random = randomFrom(seed);
  for (let life = 0; life < 120; life++) {
    const world = new World(random);
    const facts: Facts = new Map();
    world.edit(undefined);
    let tree: RevTree | undefined;
    for (let steps = 0; steps < 40; steps++) {
      // A frozen input turns any change of it into an error.
      tree?.forEach(Object.freeze);
      Object.freeze(tree);
      tree = step(tree, facts, world);
      check(tree, facts);
    }
  }
});

void test(`histories give the same tree in any order, whole or in fragments (seed ${seed})`, () => {
  const random = randomFrom(seed);
  for (let life = 0; life < 300; life++) {
    const world = new World(random);
    for (let edits = 0; edits < 12; edits++)
      world.edit(random(6) === 0 ? undefined : world.pick([...world.revs.keys()]));
    const whole = random(2) === 0;
    const fragments = [...world.revs.keys()].map((key) => {
      const history = world.history(key);
      return whole ? history : history.slice(0, 1 + random(history.length));
    });
    const grow = (order: string[][]): RevTree =>
      order.reduce<RevTree | undefined>((tree, keys) => mergeKeys(tree, world, keys).tree, undefined)!;
    const shuffled = fragments
      .map((keys) => ({ keys, rank: random(2 ** 30) }))
      .sort((a, b) => a.rank - b.rank);
    const [one, other] = [grow(fragments), grow(shuffled.map(({ keys }) => keys))];
    assert.deepEqual(leaves(one).map(keyOf), leaves(other).map(keyOf));
    assert.equal(keyOf(winner(one)), keyOf(winner(other)));
    assert.deepEqual(new Map([...factsOf(one)].sort()), new Map([...factsOf(other)].sort()));
    for (const key of world.revs.keys())
      assert.equal(find(one, world.revs.get(key)!)!.body, world.revs.get(key)!.body);
  }
});

void test(`several edits at once give what they give one after the other (seed ${seed})`, () => {
  const random = randomFrom(seed);
  for (let life = 0; life < 200; life++) {
    const world = new World(random);
    const facts: Facts = new Map();
    world.edit(undefined);
    let tree: RevTree | undefined;
    for (let steps = random(12); steps > 0; steps--) tree = step(tree, facts, world);
    tree?.forEach(Object.freeze);
    const growth = new TreeGrowth(Object.freeze(tree));
    assert.equal(growth.tree(), tree);
    for (let edits = 0; edits < 12; edits++) tree = editBoth(tree, growth, world);
    assert.equal(growth.tree() === undefined, tree === undefined);
    if (tree === undefined) continue;
    check(growth.tree(), factsOf(tree));
    assert.deepEqual(leaves(growth.tree()!).map(keyOf), leaves(tree).map(keyOf));
    const index = new TreeIndex(tree);
    tree.forEach((node, i) => {
      assert.equal(index.indexOf(node.pos, node.hash), i);
      const below = leavesBelow(tree!, node);
      assert.equal(tree![index.onlyLeafBelow(i)], below.length === 1 ? below[0] : undefined);
    });
    assert.equal(index.indexOf(99_999, tree[0]!.hash), -1);
  }
});

/** The same edit for a tree and for one that grows in place. */
function editBoth(tree: RevTree | undefined, growth: TreeGrowth, world: World): RevTree {
  const { random } = world;
  if (tree !== undefined && random(3) === 0) {
    const parent = world.pick(leaves(tree));
    const { pos, hash, deleted, body } = world.revs.get(world.edit(keyOf(parent)))!;
    const extended = extend(tree, parent, { pos, hash }, { deleted, body });
    compareGrowth(
      growth,
      extended,
      tree,
      growth.extend(growth.find(parent)!, { pos, hash }, { deleted, body }),
    );
    return extended.tree;
  }
  const from = random(6) === 0 ? undefined : world.pick([...world.revs.keys()]);
  const history = world.history(random(2) === 0 && from !== undefined ? from : world.edit(from));
  const keys = history.slice(0, 1 + random(history.length));
  const { pos, deleted, body } = world.revs.get(keys[0]!)!;
  const path = { start: pos, hashes: keys.map((key) => world.revs.get(key)!.hash) };
  const merged = merge(tree, path, { deleted, body });
  compareGrowth(growth, merged, tree, growth.merge(path, { deleted, body }));
  return merged.tree;
}

function compareGrowth(
  growth: TreeGrowth,
  merged: Merged,
  before: RevTree | undefined,
  added: ReturnType<TreeGrowth['merge']>,
): void {
  assert.equal(added.changed, merged.tree !== before);
  assert.equal(added.stored, merged.stored);
  assert.deepEqual(added.superseded.map(keyOf), merged.superseded.map(keyOf));
  const superseded = (before ?? []).filter((node) => node.leaf && !find(merged.tree, node)!.leaf);
  assert.deepEqual(merged.superseded.map(keyOf).sort(), superseded.map(keyOf).sort());
  const best = winner(merged.tree);
  assert.equal(growth.isDeleted, best.deleted);
  assert.equal(keyOf(growth.winner()), keyOf(best));
}
