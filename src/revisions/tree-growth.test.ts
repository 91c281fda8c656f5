import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { extend, merge } from './merge.js';
import { TreeGrowth } from './tree-growth.js';
import { TreeIndex } from './tree-index.js';
import { find, indexOfRev, leaves, leavesBelow, winner, type RevTree } from './tree.js';

const hashOf = (text: string): string => createHash('md5').update(text).digest('hex');
const conflicts = 2_000;
const info = (n: number) => ({ deleted: n % 3 === 0, body: n + 1 });

/** A document with many conflicts, of which it is known where its revisions are and how its leaves are ordered. */
function largeTree(hash = hashOf): RevTree {
  const growth = new TreeGrowth(undefined);
  for (let n = 0; n < conflicts; n++) growth.merge({ start: 1, hashes: [hash(`${n}`)] }, info(n));
  const tree = growth.tree()!;
  leaves(tree);
  for (const node of tree.slice(0, 20)) indexOfRev(tree, node.pos, node.hash);
  return tree;
}

/** What is known of a tree, and of its like of which nothing is. */
function check(tree: RevTree): void {
  const like = structuredClone(tree);
  assert.deepEqual(leaves(tree), leaves(like));
  assert.deepEqual(winner(tree), winner(like));
  for (let i = 0; i < tree.length; i += 7) {
    const { pos, hash } = tree[i]!;
    assert.equal(indexOfRev(tree, pos, hash), i);
    assert.deepEqual(leavesBelow(tree, tree[i]!), leavesBelow(like, like[i]!));
  }
}

describe('a large tree that grows', () => {
  it('is neither indexed nor sorted again', (t) => {
    const tree = largeTree();
    const added = t.mock.method(TreeIndex.prototype, 'add');
    const sorted: number[] = [];
    const { sort } = Array.prototype;
    t.after(() => (Array.prototype.sort = sort));
    Array.prototype.sort = function (compare) {
      sorted.push(this.length);
      return sort.call(this, compare);
    };
    const growth = new TreeGrowth(tree);
    for (let n = 0; n < 10; n++) {
      growth.merge({ start: 2, hashes: [hashOf(`a${n}`), hashOf(`${n}`)] }, info(n));
      growth.extend(
        growth.find({ pos: 1, hash: hashOf(`${n + 10}`) })!,
        { pos: 2, hash: hashOf(`b${n}`) },
        info(n),
      );
    }
    const grown = growth.tree()!;
    leaves(grown);
    assert.equal(added.mock.callCount(), 20);
    leaves(extend(grown, leaves(grown)[0]!, { pos: 3, hash: hashOf('c') }, info(1)).tree);
    leaves(merge(grown, { start: 1, hashes: [hashOf('d')] }, info(1)).tree);
    assert.ok(Math.max(...sorted) <= 20, `${Math.max(...sorted)} leaves were sorted`);
  });

  it('has the leaves and the index of one that was made anew', () => {
    let tree = largeTree();
    check(tree);
    for (let round = 0; round < 5; round++) {
      const growth = new TreeGrowth(tree);
      for (let n = round; n < conflicts; n += 97) {
        const path = {
          start: 1 + round,
          hashes: [hashOf(`${round} ${n}`), hashOf(`${n}`)].slice(0, 1 + round),
        };
        growth.merge(path, info(n + round));
      }
      check(growth.tree()!);
      growth.merge({ start: 9, hashes: [hashOf(`late ${round}`)] }, info(round));
      const before = tree;
      tree = growth.tree()!;
      check(before);
      check(tree);
      const leaf = leaves(tree)[round * 100]!;
      tree = extend(tree, leaf, { pos: leaf.pos + 1, hash: hashOf(`e${round}`) }, info(round)).tree;
      tree = merge(tree, { start: 4, hashes: [hashOf(`m${round}`)] }, info(round)).tree;
      check(tree);
    }
  });

  it('orders hashes that are no digits of sixteen bytes, and ancestors that become known later', () => {
    const tree = largeTree();
    const growth = new TreeGrowth(tree);
    for (const hash of ['x', 'ü', 'zz']) growth.merge({ start: 1, hashes: [hash] }, info(1));
    const mixed = growth.tree()!;
    check(mixed);
    const top = { start: 3, hashes: [hashOf('top')] };
    const apart = merge(mixed, top, info(1)).tree;
    const joined = new TreeGrowth(apart);
    joined.merge({ start: 3, hashes: [hashOf('top'), hashOf('between'), hashOf('5')] }, info(1));
    check(joined.tree()!);
    assert.equal(find(joined.tree()!, { pos: 1, hash: hashOf('5') })!.leaf, false);
  });

  it('leaves the index to the tree where nothing has changed', (t) => {
    const tree = largeTree();
    const growth = new TreeGrowth(tree);
    growth.merge({ start: 1, hashes: [hashOf('7')] }, info(7));
    assert.equal(growth.tree(), tree);
    const added = t.mock.method(TreeIndex.prototype, 'add');
    for (let n = 0; n < 20; n++) assert.ok(indexOfRev(tree, 1, hashOf(`${n}`)) >= 0);
    assert.equal(added.mock.callCount(), 0);
  });
});
