import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../storage/memory-store.js';
import { Overlay } from '../storage/overlay.js';
import { applyPlace, type PlaceStep, type StreamPlacement } from './stream-placement.js';

/** The placement of one stream, changed step by step. */
function placed(): { step(version: number, step: PlaceStep): StreamPlacement } {
  const store = new MemoryStore();
  const overlay = new Overlay(() => store);
  return {
    step: (version, step) => {
      applyPlace({ type: 'place', name: '1', version, step }, overlay);
      return JSON.parse(overlay.get('h1' as never)!) as StreamPlacement;
    },
  };
}

const all = ['a', 'b', 'c', 'd'];

test('the wanted nodes are the hosts at once where all of them have the databases', () => {
  const { step } = placed();
  assert.deepEqual(step(0, { wanted: ['b', 'c'], hosts: all }), {
    version: 1,
    hosts: ['b', 'c'],
    wanted: ['b', 'c'],
    leader: 'b',
  });
});

test('hosts are replaced when all that are wanted have the databases', () => {
  const { step } = placed();
  step(0, { wanted: ['a', 'b'], hosts: all });
  assert.deepEqual(step(1, { wanted: ['c', 'd'], hosts: [] }).hosts, ['a', 'b']);
  assert.deepEqual(step(2, { arrived: 'c' }).hosts, ['a', 'b', 'c']);
  assert.deepEqual(step(2, { arrived: 'c' }).hosts, ['a', 'b', 'c']);
  assert.deepEqual(step(2, { arrived: 'x' }).hosts, ['a', 'b', 'c']);
  const { hosts, leader } = step(2, { arrived: 'd' });
  assert.deepEqual([hosts, leader], [['c', 'd'], 'c']);
});

test('a step for an earlier version is refused, and changes nothing', () => {
  const { step } = placed();
  step(0, { wanted: ['a', 'b'], hosts: all });
  step(1, { wanted: ['c', 'd'], hosts: [] });
  step(2, { wanted: ['a', 'd'], hosts: [] });
  assert.throws(() => step(2, { arrived: 'c' }), { error: 'conflict' });
  assert.throws(() => step(1, { wanted: ['c'], hosts: ['c'] }), { error: 'conflict' });
  assert.deepEqual(step(3, { leader: 'b' }), {
    version: 3,
    hosts: ['a', 'b'],
    wanted: ['a', 'd'],
    leader: 'b',
  });
  assert.equal(step(3, { leader: 'd' }).leader, 'b');
});

test('a stream is never without hosts', () => {
  const { step } = placed();
  assert.throws(() => step(0, { wanted: [], hosts: all }), { error: 'bad_request' });
  assert.throws(() => step(0, { wanted: ['a'], hosts: [] }), { error: 'bad_request' });
});
