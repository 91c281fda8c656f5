import { SystemRuntime } from './runtime.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortInSlices } from './sort-in-slices.js';

test('a list is sorted as `sort` does it, equal elements in their order', async () => {
  for (const length of [0, 1, 100, 4_096, 4_097, 8_192, 30_001]) {
    const list = Array.from({ length }, (_, at) => ({ key: (at * 7_919) % 1_001, at }));
    const sorted = list.toSorted((a, b) => a.key - b.key);
    const sort = (given: typeof list) => sortInSlices(given, (a, b) => a.key - b.key, new SystemRuntime());
    assert.deepEqual(await sort(list), sorted);
    assert.deepEqual(await sort(sorted.slice()), sorted);
    const turned = [...sorted.slice(length / 3), ...sorted.slice(0, length / 3)];
    assert.deepEqual(
      await sort(turned.slice()),
      turned.toSorted((a, b) => a.key - b.key),
    );
  }
});

test('others run while a long list is sorted', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  count();
  const list = Array.from({ length: 300_000 }, (_, at) => (at * 7_919) % 300_007);
  await sortInSlices(list, (a, b) => a - b, new SystemRuntime());
  isDone = true;
  assert.ok(turns > 3, `${turns} turns`);
});
