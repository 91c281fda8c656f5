import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import type { Rev } from '../../src/revisions/rev.js';
import type { Command, EditCommand } from '../../src/shard/commands.js';
import { tables } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { FailingStore } from './failing-store.js';
import { edit, edits, everyWay, instance, keys, keysOf, type Open } from './group-scene.js';

const contents = (volume: Volume): unknown[] => [...volume.store.entries(keys.range)];

everyWay('repeated commands', repeatedCommands);
everyWay('expected leaves', expectedLeaves);

function repeatedCommands(open: Open): void {
  test('a repeated command is applied once and gives the same result, also after a restart', async (t) => {
    const reopen = open(t);
    let volume = reopen();
    const command = edits([edit('a'), edit('b', { pos: 1, hash: 'x' })], { id: asBytes('n'.repeat(16)) });
    const first = await volume.log(instance).append(command);
    assert.equal(first.result.length, 2);
    // What it would give now is a conflict.
    await volume.log(instance).append(edits([edit('c')], { id: asBytes('other') }));
    const before = contents(volume);
    assert.deepEqual(await volume.log(instance).append(command), first);
    assert.deepEqual(contents(volume), before);
    await volume.close();
    volume = reopen();
    assert.deepEqual(await volume.log(instance).append(command), first);
    assert.deepEqual(contents(volume), before);
    assert.equal(volume.log(instance).position, 2);
    await volume.close();
  });

  test('a repeated command that comes in the same batch is applied once', async (t) => {
    const volume = open(t)();
    const command = edits([edit('a')], { id: asBytes('same') });
    const [first, second] = await Promise.all([1, 2].map(() => volume.log(instance).append(command)));
    assert.deepEqual(second, first);
    assert.equal(volume.log(instance).position, 1);
    await volume.close();
  });

  test('the parts of a repeated bulk are applied once', async (t) => {
    const volume = open(t)();
    const list = Array.from({ length: 2_300 }, (_, n) => edit(`d${n}`));
    const command = edits(list, { id: asBytes('bulk') });
    const first = await volume.log(instance).append(command);
    assert.ok(first.result.every((each) => typeof each === 'object'));
    const before = contents(volume);
    assert.deepEqual(await volume.log(instance).append(command), first);
    assert.deepEqual(contents(volume), before);
    await volume.close();
  });

  test('a command that could not be stored is not remembered', async () => {
    const store = new FailingStore();
    const volume = new Volume(0, store, () => {});
    const command = edits([edit('a')], { id: asBytes('failed') });
    store.failing = true;
    await assert.rejects(volume.log(instance).append(command));
    store.failing = false;
    assert.equal(typeof (await volume.log(instance).append(command)).result[0], 'object');
    await volume.close();
  });

  test('commands without an id are not remembered', async (t) => {
    const volume = open(t)();
    await volume.log(instance).append(edits([edit('a')]));
    assert.deepEqual(keysOf(volume, tables.commands), []);
    await volume.close();
  });
}

function expectedLeaves(open: Open): void {
  test('of two writers of a revision the first in the log succeeds, whatever came between', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const [rev] = (await log.append(edits([edit('a')]))).result as [Rev];
    const late = edits([edit('a', rev, '{"by":"late"}')]);
    const [made] = (await log.append(edits([edit('a', rev, '{"by":"first"}')]))).result as [Rev];
    assert.equal(made.pos, 2);
    assert.deepEqual((await log.append(late)).result, [undefined]);
    const deleted = edits([{ ...edit('a', made), deleted: true }]);
    await log.append(deleted);
    assert.deepEqual(
      (await log.append(late)).result,
      [undefined],
      'nor does it bring back a deleted document',
    );
    await volume.close();
  });

  test('of two writers who begin a document, or begin it anew, one succeeds', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const begin = (by: number): EditCommand => edits([edit('a', undefined, `{"by":${by}}`)]);
    for (let life = 0; life < 2; life++) {
      const [one, two] = await Promise.all([log.append(begin(1)), log.append(begin(2))]);
      assert.equal(two.result[0], undefined);
      const rev = one.result[0] as Rev;
      await log.append(edits([{ ...edit('a', rev), deleted: true }]));
    }
    await volume.close();
  });
}

test('the window of remembered commands is bounded in number and in bytes', async () => {
  const volume = new Volume(0, new MemoryStore(), () => {});
  const log = volume.log(instance);
  const local = (n: number): Command => ({
    type: 'local',
    instance,
    shard: 0,
    edits: [],
    id: asBytes(`id${n}`),
  });
  for (let n = 0; n < 10_050; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => log.append(local(n + i))));
  // Two keys for each command, and one for the window.
  assert.equal(keysOf(volume, tables.commands).length, 2 * 10_000 + 1);
  const { position } = log;
  assert.equal((await log.append(local(50))).position, 51, 'the oldest that is remembered');
  assert.equal(log.position, position);
  await log.append(local(49));
  assert.equal(log.position, position + 1, 'one that is forgotten is new');

  const path = { start: 1, hashes: ['h'.repeat(50_000)] };
  const wide = (n: number): EditCommand =>
    edits([{ id: asBytes(`d${n}`), parent: undefined, path, deleted: false, body: asBytes('{}') }], {
      id: asBytes(`wide${n}`),
    });
  for (let n = 0; n < 100; n++) await log.append(wide(n));
  const bytes = keysOf(volume, tables.commands).reduce((sum, key) => sum + volume.store.get(key)!.length, 0);
  assert.ok(bytes < 5 * 1024 * 1024, `${bytes} bytes`);
  await volume.close();
});
