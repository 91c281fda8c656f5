import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merge } from './merge.js';
import { forgetInnerBodies, lostBodies, removeLeaves, stem } from './prune.js';
import { formatRev, parseRev } from './rev.js';
import { leaves, missing, pathOf, type RevTree } from './tree.js';

/** Histories newest first, as `3-c b a`, stemmed after each merge; a trailing `!` means deleted. Bodies count from 1. */
function treeOf(histories: string[], limit = 1_000): RevTree {
  let tree: RevTree | undefined;
  histories.forEach((history, index) => {
    const [rev, ...ancestors] = history.replace('!', '').split(' ');
    const { pos, hash } = parseRev(rev!);
    const path = { start: pos, hashes: [hash, ...ancestors] };
    tree = stem(merge(tree, path, { deleted: history.endsWith('!'), body: index + 1 }).tree, limit);
  });
  return tree!;
}

const branches = (tree: RevTree): string[] =>
  leaves(tree).map((leaf) =>
    [formatRev(leaf), ...pathOf(tree, leaf).map((node) => node.hash)].toSpliced(1, 1).join(' '),
  );

const purge = (tree: RevTree, ...revs: string[]): { tree: RevTree | undefined; removed: string[] } => {
  const purged = removeLeaves(tree, revs.map(parseRev));
  return { tree: purged.tree, removed: purged.removed.map(formatRev) };
};

const fourLeaves = ['3-c b a', '3-x b a', '2-z a', '3-del q a!'];

void test('a tree within the limit is the same tree', () => {
  const tree = treeOf(fourLeaves);
  assert.equal(stem(tree, 1_000), tree);
  assert.equal(stem(tree, 3), tree);
});

void test('stemming keeps the newest revisions of each branch', () => {
  assert.deepEqual(branches(treeOf(['5-e d c b a'], 3)), ['5-e d c']);
  assert.deepEqual(branches(stem(treeOf(['3-c b a', '3-x b a', '3-del q a!']), 2)), [
    '3-x b',
    '3-c b',
    '3-del q',
  ]);
  assert.deepEqual(branches(stem(treeOf(fourLeaves), 1)), ['3-x', '3-c', '2-z', '3-del']);
});

void test('a revision that two branches share stays while one of them needs it', () => {
  assert.deepEqual(branches(stem(treeOf(['2-b a', '5-e d c a']), 2)), ['5-e d', '2-b a']);
  assert.deepEqual(branches(stem(treeOf(['2-b a', '3-d c a']), 2)), ['3-d c a', '2-b a']);
});

void test('a history longer than the limit still joins the branch it continues', () => {
  assert.deepEqual(branches(treeOf(['2-b a', '5-e d c b a'], 2)), ['5-e d']);
});

void test('an ancestor that was cut comes back as a branch of its own', () => {
  assert.deepEqual(branches(treeOf(['5-e d c b a', '2-b a'], 2)), ['5-e d', '2-b a']);
});

void test('what stemming cut is missing', () => {
  const tree = treeOf(['5-e d c b a'], 3);
  assert.deepEqual(missing(tree, ['5-e', '3-c', '2-b'].map(parseRev)).map(formatRev), ['2-b']);
});

void test('bodies of revisions that were cut are named', () => {
  const before = treeOf(['1-a', '2-b a', '3-c b a']);
  assert.deepEqual(
    lostBodies(before, stem(before, 2)).map(({ body }) => body),
    [1],
  );
  assert.deepEqual(
    lostBodies(before, before).map(({ body }) => body),
    [],
  );
  assert.deepEqual(
    lostBodies(before, undefined).map(({ body }) => body),
    [1, 2, 3],
  );
});

void test('purging the only leaf leaves nothing', () => {
  assert.deepEqual(purge(treeOf(['1-a']), '1-a', '1-x'), { tree: undefined, removed: ['1-a'] });
  assert.deepEqual(purge(treeOf(['2-b a!']), '2-b'), { tree: undefined, removed: ['2-b'] });
});

void test('purging a leaf takes its branch up to the fork', () => {
  const first = purge(treeOf(fourLeaves), '3-x');
  assert.deepEqual(branches(first.tree!), ['3-c b a', '2-z a', '3-del q a']);
  const second = purge(first.tree!, '3-c', '2-z');
  assert.deepEqual(second.removed, ['2-z', '3-c']);
  assert.deepEqual(branches(second.tree!), ['3-del q a']);
  assert.deepEqual(second.tree!.map(formatRev), ['1-a', '2-q', '3-del']);
});

void test('inner and unknown revisions are not purged', () => {
  const tree = treeOf(fourLeaves);
  assert.deepEqual(purge(tree, '2-b', '9-x', '1-a'), { tree, removed: [] });
  assert.deepEqual(purge(tree), { tree, removed: [] });
});

void test('a purge of a leaf and its parent removes the leaf and names it alone, once', () => {
  assert.deepEqual(purge(treeOf(['3-c b a']), '2-b', '3-c', '2-b', '3-c'), {
    tree: undefined,
    removed: ['3-c'],
  });
});

void test('all leaves can go in one purge', () => {
  const purged = purge(treeOf(fourLeaves), '3-del', '2-z', '3-c', '3-x');
  assert.deepEqual(purged, { tree: undefined, removed: ['2-z', '3-c', '3-del', '3-x'] });
});

void test('the other branch still knows what they shared', () => {
  const { tree } = purge(treeOf(['2-b a', '2-c a']), '2-c');
  assert.deepEqual(missing(tree!, ['2-c', '1-a'].map(parseRev)).map(formatRev), ['2-c']);
});

void test('compaction forgets the bodies of inner revisions only', () => {
  const tree = treeOf(['1-a', '2-b a', '3-c b a', '2-z a']);
  const { tree: bare, forgotten } = forgetInnerBodies(tree);
  assert.deepEqual(forgotten, [1, 2]);
  assert.deepEqual(
    bare.map((node) => node.body),
    [0, 0, 3, 4],
  );
  assert.equal(forgetInnerBodies(bare).tree, bare);
});
