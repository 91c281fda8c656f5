import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extend, merge, type Merged } from './merge.js';
import { formatRev, parseRev } from './rev.js';
import { find, leaves, pathOf, singleNode, winner, type RevTree } from './tree.js';

const info = (body: number, deleted = false) => ({ body, deleted });

/** Merges a history written newest first, as `3-c b a`. */
function mergeHistory(tree: RevTree | undefined, history: string, body = 1, deleted = false): Merged {
  const [rev, ...ancestors] = history.split(' ');
  const { pos, hash } = parseRev(rev!);
  return merge(tree, { start: pos, hashes: [hash, ...ancestors] }, info(body, deleted));
}

/** Every leaf with its history, best first. */
const branches = (tree: RevTree): string[] =>
  leaves(tree).map((leaf) =>
    [formatRev(leaf), ...pathOf(tree, leaf).map((node) => node.hash)].toSpliced(1, 1).join(' '),
  );

function mergeAll(...histories: string[]): RevTree {
  return histories.reduce<RevTree | undefined>(
    (tree, history, index) => mergeHistory(tree, history, index + 1).tree,
    undefined,
  )!;
}

void test('an edit continues its leaf and leaves the old tree alone', () => {
  const before = singleNode(parseRev('1-a'), info(1));
  const { tree, outcome, stored } = extend(before, winner(before), parseRev('2-b'), info(2, true));
  assert.equal(outcome, 'new_leaf');
  assert.equal(stored, true);
  assert.deepEqual(branches(tree), ['2-b a']);
  assert.deepEqual(find(tree, parseRev('2-b')), {
    ...parseRev('2-b'),
    parent: 0,
    deleted: true,
    body: 2,
    leaf: true,
  });
  assert.deepEqual(branches(before), ['1-a']);
});

void test('an edit of anything but a leaf is a mistake of the caller', () => {
  const tree = mergeAll('2-b a');
  assert.throws(() => extend(tree, tree[0]!, parseRev('2-c'), info(2)));
  assert.throws(() => extend(tree, winner(tree), parseRev('4-c'), info(2)));
});

void test('an edit that had come before without its ancestors is joined to them', () => {
  const before = mergeAll('1-a', '2-b');
  const { tree, stored } = extend(before, find(before, parseRev('1-a'))!, parseRev('2-b'), info(9));
  assert.deepEqual(branches(tree), ['2-b a']);
  assert.equal(stored, false);
});

void test('a first history makes the tree', () => {
  const { tree, outcome } = mergeHistory(undefined, '3-c b a');
  assert.equal(outcome, 'new_leaf');
  assert.deepEqual(branches(tree), ['3-c b a']);
});

void test('histories that overlap are joined', () => {
  const { tree, outcome } = mergeHistory(mergeAll('4-d c b'), '6-f e d');
  assert.equal(outcome, 'new_leaf');
  assert.deepEqual(branches(tree), ['6-f e d c b']);
});

void test('a history that reaches further back extends the branch downwards', () => {
  const known = mergeAll('5-e d');
  const longer = mergeHistory(known, '6-f e d c b');
  assert.equal(longer.outcome, 'new_leaf');
  assert.deepEqual(branches(longer.tree), ['6-f e d c b']);
  const below = mergeHistory(known, '5-e d c b', 9);
  assert.deepEqual([below.outcome, below.stored], ['internal_node', false]);
  assert.deepEqual(branches(below.tree), ['5-e d c b']);
  assert.equal(winner(below.tree).body, 1);
});

void test('disjoint histories become roots of their own', () => {
  const { tree, outcome } = mergeHistory(mergeAll('4-d c'), '8-h g');
  assert.equal(outcome, 'new_branch');
  assert.deepEqual(branches(tree), ['8-h g', '4-d c']);
});

void test('a history joins two roots whose connection was unknown', () => {
  const { tree, outcome } = mergeHistory(mergeAll('5-e d', '2-b a'), '5-e d c b a');
  assert.equal(outcome, 'internal_node');
  assert.deepEqual(branches(tree), ['5-e d c b a']);
});

void test('a branch may leave from an inner revision', () => {
  const { tree, outcome } = mergeHistory(mergeAll('3-c b a'), '4-z y x a');
  assert.equal(outcome, 'new_branch');
  assert.deepEqual(branches(tree), ['4-z y x a', '3-c b a']);
});

void test('a known leaf is not overwritten', () => {
  const before = mergeAll('2-b a');
  const again = mergeHistory(before, '2-b a', 9, true);
  assert.deepEqual([again.outcome, again.stored], ['unchanged', false]);
  assert.equal(again.tree, before);
});

void test('an ancestor that comes late gets its body, once', () => {
  const late = mergeHistory(mergeAll('3-c b a'), '2-b a', 5, true);
  assert.deepEqual([late.outcome, late.stored], ['internal_node', true]);
  assert.deepEqual(branches(late.tree), ['3-c b a']);
  const { deleted, body, leaf } = find(late.tree, parseRev('2-b'))!;
  assert.deepEqual({ deleted, body, leaf }, { deleted: true, body: 5, leaf: false });
  assert.equal(mergeHistory(late.tree, '2-b a', 6).outcome, 'unchanged');
});

void test('a history that names another parent is believed only down to the revision both know', () => {
  const before = mergeAll('3-c b a');
  assert.equal(mergeHistory(before, '3-c x a').outcome, 'unchanged');
  assert.deepEqual(branches(mergeHistory(before, '4-d c x y').tree), ['4-d c b a']);
});

void test('an impossible history is refused', () => {
  assert.throws(() => mergeHistory(mergeAll('1-a'), '1-c b a'), /Invalid rev format/);
  assert.throws(() => merge(mergeAll('1-a'), { start: 1, hashes: [] }, info(1)), /Invalid rev format/);
});
