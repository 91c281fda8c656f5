import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSource, losesOf, type NodeClaim } from './stream-claims.js';

const claim = (node: string, seq: number, more: Partial<NodeClaim> = {}): NodeClaim => ({
  node,
  epoch: 'e',
  seq,
  hash: String(seq),
  is_whole: true,
  follows: true,
  problem: null,
  ...more,
});
const stopped = { follows: false, problem: 'its last messages are lost' };

test('the source is the node that is furthest, and of several a whole one', () => {
  const choose = (...claims: NodeClaim[]) => chooseSource(claims, undefined, undefined)?.node;
  assert.equal(choose(claim('a', 5), claim('b', 7), claim('c', 6)), 'b');
  assert.equal(choose(claim('a', 7, { is_whole: false }), claim('b', 7), claim('c', 6)), 'b');
  assert.equal(choose(claim('a', 7, { hash: 'x' }), claim('b', 7), claim('c', 7)), 'b');
  assert.equal(chooseSource([claim('a', 5), claim('b', 7)], 'a', undefined)?.node, 'a');
});

test('a node that follows the stream has all of it in the end, and one that has stopped has not', () => {
  const info = { epoch: 'e', first: 1, last: 9 };
  const choose = (...claims: NodeClaim[]) => chooseSource(claims, undefined, info)?.node;
  assert.equal(choose(claim('a', 8, stopped), claim('b', 7)), 'b');
  assert.equal(choose(claim('a', 10, stopped), claim('b', 7)), 'a');
  assert.equal(choose(claim('a', 8, stopped), claim('b', 7, { epoch: 'earlier' })), 'a');
  assert.equal(choose(claim('a', 8, stopped), claim('b', 7, { follows: false })), 'a');
});

test('it is not said that nothing is lost where the source is not whole', () => {
  assert.equal(losesOf(claim('a', 7), claim('b', 7), '7'), 'nothing');
  assert.match(losesOf(claim('a', 7), claim('b', 7, { is_whole: false }), '7'), /what b has not/);
});
