import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assign, isEverywhere, type HostedStream } from './assignment.js';

const nodes = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);
const onAll = (streams: number, names: readonly string[]): HostedStream[] =>
  Array.from({ length: streams }, (_, stream) => ({ stream, hosts: names }));

function loadsOf(assigned: readonly HostedStream[], names: readonly string[]): number[] {
  return names.map((name) => assigned.filter(({ hosts }) => hosts.includes(name)).length);
}

const copies = (before: readonly HostedStream[], after: readonly HostedStream[]): number =>
  after.flatMap(({ hosts }, at) => hosts.filter((host) => !before[at]!.hosts.includes(host))).length;

test('each stream has as many hosts as wanted, and nodes have about as many streams', () => {
  for (const count of [1, 2, 3, 4, 5, 7, 20])
    for (const streams of [1, 3, 15, 40])
      for (const wanted of [1, 2, 3]) {
        const names = nodes(count);
        const assigned = assign(onAll(streams, names), names, wanted);
        for (const { hosts } of assigned) {
          assert.equal(hosts.length, Math.min(wanted, count));
          assert.equal(new Set(hosts).size, hosts.length);
        }
        const loads = loadsOf(assigned, names);
        assert.ok(Math.max(...loads) - Math.min(...loads) <= 1, loads.join());
      }
});

test('what is even stays as it is', () => {
  const names = nodes(5);
  const assigned = assign(onAll(15, names), names, 3);
  assert.deepEqual(assign(assigned, names, 3), assigned);
});

test('a node that is added gets its share, and nothing else is copied', () => {
  const before = assign(onAll(15, nodes(5)), nodes(5), 3);
  const after = assign(before, nodes(6), 3);
  assert.equal(copies(before, after), loadsOf(after, ['n5'])[0]);
  assert.ok([7, 8].includes(loadsOf(after, ['n5'])[0]!));
});

test('what a node had that is gone is copied by others, and nothing else', () => {
  const before = assign(onAll(15, nodes(5)), nodes(5), 3);
  const after = assign(before, nodes(4), 3);
  assert.equal(loadsOf(after, ['n4'])[0], 0);
  assert.ok(copies(before, after) <= loadsOf(before, ['n4'])[0]! + 3);
  for (const { hosts } of after) assert.equal(hosts.length, 3);
});

test('databases that every node needs are known by their names', () => {
  assert.deepEqual(['_users', 'x/_replicator', 'db', 'x/db', 'x_y'].filter(isEverywhere), [
    '_users',
    'x/_replicator',
  ]);
});
