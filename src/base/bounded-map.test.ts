import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from './bounded-map.js';

test('the entry that was used longest ago leaves first', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal(map.get('a'), 1);
  map.set('c', 3);
  assert.equal(map.get('b'), undefined);
  assert.deepEqual([map.get('a'), map.get('c'), map.size], [1, 3, 2]);
});

test('storing an entry again counts as a use', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [3, undefined, 4]);
});

test('an entry that was removed and stored again is the most recently used', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.delete('a');
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  assert.deepEqual([map.get('a'), map.get('b')], [3, undefined]);
});

test('a limit that is lowered holds from the next entry on, and 0 keeps nothing', () => {
  let most = 3;
  const map = new BoundedMap<number, number>(() => most);
  for (let i = 0; i < 3; i++) map.set(i, i);
  most = 1;
  map.set(3, 3);
  assert.deepEqual([map.size, map.get(3)], [1, 3]);
  most = 0;
  map.set(4, 4);
  assert.equal(map.size, 0);
});
