import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merge } from './merge.js';
import { formatRev, parseRev } from './rev.js';
import { find, fromPath, leaves, leavesBelow, missing, pathOf, possibleAncestors, winner } from './tree.js';
import type { RevNode, RevTree } from './tree.js';

/** Histories as replicas send them, newest first; a trailing `!` marks the newest as deleted. */
function treeOf(...histories: string[]): RevTree {
  let tree: RevTree | undefined;
  histories.forEach((history, index) => {
    const [rev, ...ancestors] = history.replace('!', '').split(' ');
    const newest = parseRev(rev!);
    const path = { start: newest.pos, hashes: [newest.hash, ...ancestors] };
    tree = merge(tree, path, { deleted: history.endsWith('!'), body: index + 1 }).tree;
  });
  return tree!;
}

const names = (nodes: readonly RevNode[]): string[] => nodes.map(formatRev);

const fourLeaves = ['3-c b a', '3-x b a', '2-z a', '3-del q a!'];

void test('the longer history wins, and generations are numbers', () => {
  assert.deepEqual(names(leaves(treeOf('2-b a', '3-a a x'))), ['3-a', '2-b']);
  assert.deepEqual(names(leaves(treeOf('9-z', '10-a'))), ['10-a', '9-z']);
});

void test('among equal generations the greater hash wins, byte by byte', () => {
  assert.deepEqual(names(leaves(treeOf('2-aaa 1', '2-bbb 1', '2-abz 1'))), ['2-bbb', '2-abz', '2-aaa']);
  assert.deepEqual(names(leaves(treeOf('1-Z', '1-a', '1-aa', '1-9'))), ['1-aa', '1-a', '1-Z', '1-9']);
});

void test('a live leaf wins over a longer deleted one', () => {
  const tree = treeOf('1-a', '4-e d c b!');
  assert.equal(formatRev(winner(tree)), '1-a');
  assert.deepEqual(names(leaves(tree)), ['1-a', '4-e']);
});

void test('among deleted leaves the usual order decides', () => {
  assert.equal(formatRev(winner(treeOf('2-a 1!', '3-c b 1!'))), '3-c');
});

void test('leaves go from the best to the worst, deleted ones last', () => {
  const tree = treeOf('2-b 1', '2-d 1', '2-a 1', '2-c 1', '3-y x 1', '1-2', '2-k 1!', '3-n m 1!', '2-j 1!');
  const live = ['3-y', '2-d', '2-c', '2-b', '2-a', '1-2'];
  assert.deepEqual(names(leaves(tree)), [...live, '3-n', '2-k', '2-j']);
  assert.equal(winner(tree), leaves(tree)[0]);
});

void test('a path goes from the revision down to its oldest known ancestor', () => {
  const tree = fromPath({ start: 5, hashes: ['e', 'd', 'c'] }, { deleted: true, body: 7 });
  assert.deepEqual(names(pathOf(tree, winner(tree))), ['5-e', '4-d', '3-c']);
  assert.deepEqual(names(pathOf(tree, find(tree, parseRev('4-d'))!)), ['4-d', '3-c']);
  assert.deepEqual(
    tree.map(({ deleted, body, leaf }) => ({ deleted, body, leaf })),
    [
      { deleted: false, body: 0, leaf: false },
      { deleted: false, body: 0, leaf: false },
      { deleted: true, body: 7, leaf: true },
    ],
  );
});

void test('a path that is empty or longer than its generation is refused', () => {
  assert.throws(() => fromPath({ start: 1, hashes: [] }, { deleted: false, body: 1 }), /Invalid rev format/);
  assert.throws(() => fromPath({ start: 1, hashes: ['c', 'b', 'a'] }, { deleted: false, body: 1 }));
});

void test('only the revisions that are not there are missing', () => {
  const tree = treeOf(...fourLeaves);
  const asked = ['3-c', '4-new', '1-a', '2-b', '2-c', '4-new'].map(parseRev);
  assert.deepEqual(missing(tree, asked).map(formatRev), ['4-new', '2-c', '4-new']);
});

void test('possible ancestors are the leaves older than the newest missing revision', () => {
  const tree = treeOf(...fourLeaves);
  const ancestorsOf = (...revs: string[]): string[] => names(possibleAncestors(tree, revs.map(parseRev)));
  assert.deepEqual(ancestorsOf('4-new'), ['3-x', '3-c', '2-z', '3-del']);
  assert.deepEqual(ancestorsOf('3-new'), ['2-z']);
  assert.deepEqual(ancestorsOf('2-new'), []);
  assert.deepEqual(ancestorsOf('1-new', '3-new', '2-new'), ['2-z']);
  assert.deepEqual(names(possibleAncestors(treeOf('1-1'), ['5-q', '6-r'].map(parseRev))), ['1-1']);
});

void test('the latest of a revision are the leaves that continue it', () => {
  const tree = treeOf(...fourLeaves);
  const latestOf = (rev: string): string[] => names(leavesBelow(tree, find(tree, parseRev(rev))!));
  assert.deepEqual(latestOf('1-a'), ['3-x', '3-c', '2-z', '3-del']);
  assert.deepEqual(latestOf('2-b'), ['3-x', '3-c']);
  assert.deepEqual(latestOf('2-q'), ['3-del']);
  assert.deepEqual(latestOf('2-z'), ['2-z']);
});
