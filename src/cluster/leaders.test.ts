import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemRuntime } from '../base/runtime.js';
import type { PlaceCommand, StreamPlacement } from '../node/stream-placement.js';
import { Leaders } from './leaders.js';
import type { Member } from './members.js';

test('a leader that is drained is replaced at once, by a host that is not', async () => {
  const sent: PlaceCommand[] = [];
  const placement: StreamPlacement = {
    version: 3,
    hosts: ['b', 'c', 'd'],
    wanted: ['b', 'c', 'd'],
    leader: 'b',
  };
  const drained = new Set<string>();
  const others = (): Member[] =>
    ['b', 'c', 'd'].map((name) => ({
      ...{ name, url: `http://${name}`, positions: {}, serves: [1], problem: null },
      is_drained: drained.has(name),
    }));
  const leaders = new Leaders({
    node: 'a',
    members: { others },
    runtime: new SystemRuntime(),
    placements: () => new Map([[1, placement]]),
    isHosted: () => false,
    isStale: () => false,
    send: (command) => Promise.resolve(sent.push(command)),
  });
  await leaders.look();
  assert.deepEqual(sent, []);
  for (const name of ['b', 'c']) drained.add(name);
  await leaders.look();
  assert.deepEqual(sent, [{ type: 'place', name: '1', version: 3, step: { leader: 'd' } }]);
  drained.add('d');
  await leaders.look();
  assert.equal(sent.length, 1);
});
