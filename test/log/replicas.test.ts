import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from '../../src/shard/commands.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Entry } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import { submit } from '../support/submit.js';
import { RandomCommands } from './random-commands.js';

const instance = 5;
const groupOf = (volume: Volume): Entry[] => [...volume.store.entries(new DatabaseKeys(instance).range)];

/** Random commands of the group, as they went in a volume where it is alone. */
async function life(count: number): Promise<{ commands: Command[]; results: unknown[]; alone: Volume }> {
  const source = new RandomCommands(new Random(seed), [instance]);
  const alone = new Volume(0, new MemoryStore(), () => {});
  const commands: Command[] = [];
  const results: unknown[] = [];
  while (commands.length < count) {
    const command = source.next();
    const result = await submit(alone, command);
    source.learn(command, result);
    commands.push(command);
    results.push(result);
  }
  return { commands, results, alone };
}

test(`replicas agree, however often and late commands are repeated (seed ${seed})`, async () => {
  const { commands, results, alone } = await life(1_500);
  const named = commands.flatMap((command, at) => (command.id === undefined ? [] : [at]));
  assert.ok(results.flat().includes('retry'), 'some edits were checked against other functions');
  const volume = new Volume(0, new MemoryStore(), () => {});
  const random = new Random(seed);
  const repeat = async (at: number): Promise<void> =>
    assert.deepEqual(await submit(volume, commands[at]!), results[at]);
  for (const [at, command] of commands.entries()) {
    assert.deepEqual(await submit(volume, command), results[at]);
    if (command.id !== undefined && random.oneIn(2)) await repeat(at);
    if (random.oneIn(5) && named[0]! < at) await repeat(random.pick(named.filter((each) => each <= at)));
  }
  assert.deepEqual(groupOf(volume), groupOf(alone));
});

test(`the same commands beside other neighbours give byte-equal groups (seed ${seed})`, async () => {
  const { commands, results, alone } = await life(2_000);
  assert.ok(
    results.some((result) => Array.isArray(result) && result.includes('missing_blob')),
    'some edits name blobs that the group does not have',
  );
  // Neighbours get the same commands, before and after: they have, lack and release the very same blobs.
  for (const neighbours of [[1], [4, 6, 900]]) {
    const volume = new Volume(0, new MemoryStore(), () => {});
    const random = new Random(seed + neighbours.length);
    const pending: Promise<unknown>[] = [];
    for (const [at, command] of commands.entries()) {
      for (const neighbour of neighbours)
        if (!random.oneIn(3)) pending.push(submit(volume, { ...random.pick(commands), instance: neighbour }));
      const result = submit(volume, command);
      pending.push(result.then((found) => assert.deepEqual(found, results[at])));
      if (random.oneIn(20)) await result;
    }
    await Promise.all(pending);
    assert.deepEqual(groupOf(volume), groupOf(alone));
  }
});
