import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Volume } from '../../src/shard/volume.js';
import { GroupsTarget } from '../../src/node/stream-targets.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { SteeredRuntime } from '../storage/scene.js';
import { MemoryStream } from './memory-stream.js';
import { contents, edit, instance } from './replica-edits.js';
import { openVolume, startReplica } from './replicated-scenes.js';
import { until } from './until.js';

/** A node that writes, and another one where the moment that a commit waits for others does not end by itself. */
function openTwo(): {
  writer: ReturnType<typeof openVolume>;
  reader: ReturnType<typeof openVolume>;
  runtime: SteeredRuntime;
} {
  const stream = new MemoryStream();
  const runtime = new SteeredRuntime();
  const reader = openVolume(new MemoryStore(), stream, 'b', 30_000, runtime);
  return { writer: openVolume(new MemoryStore(), stream, 'a'), reader, runtime };
}

async function writeOne({ writer, reader }: ReturnType<typeof openTwo>, id: string): Promise<void> {
  await reader.replica.whenCurrent();
  await writer.volume.log(instance).append(edit(id));
  await until(() => Promise.resolve(reader.replica.seq === writer.replica.seq));
}

test('what another node has written reaches the disk a moment later, where nobody waits for it', async () => {
  const nodes = openTwo();
  const { writer, reader, runtime } = nodes;
  // The first one notes the place of the volume, which is waited for.
  await writeOne(nodes, 'first');
  for (const id of ['second', 'third']) await writeOne(nodes, id);
  const before = contents(reader);
  assert.notDeepEqual(before, contents(writer));
  runtime.elapse();
  await until(() => Promise.resolve(reader.replica.storedSeq === reader.replica.seq));
  assert.deepEqual(contents(reader), contents(writer));
  await Promise.all([writer.close(), reader.close()]);
});

test('a fresh read does not wait for that moment, and sees it', async () => {
  const nodes = openTwo();
  const { writer, reader } = nodes;
  for (const id of ['first', 'second']) await writeOne(nodes, id);
  assert.notDeepEqual(contents(reader), contents(writer));
  await reader.replica.fresh();
  assert.deepEqual(contents(reader), contents(writer));
  await Promise.all([writer.close(), reader.close()]);
});

test('a write on the same node does not either', async () => {
  const nodes = openTwo();
  const { writer, reader } = nodes;
  for (const id of ['first', 'second']) await writeOne(nodes, id);
  await reader.volume.log(instance).append(edit('own'));
  await writer.replica.fresh();
  assert.deepEqual(contents(reader), contents(writer));
  await Promise.all([writer.close(), reader.close()]);
});

test('nor does what feeds wait for', async () => {
  const stream = new MemoryStream();
  const writer = openVolume(new MemoryStore(), stream, 'a');
  const volume = new Volume(0, new MemoryStore(), () => {}, false, new SteeredRuntime());
  const target = new GroupsTarget(
    1,
    { home: () => ({ slot: 0 }) },
    { get: () => volume, all: () => [volume] },
    () => Promise.resolve(),
    (group) => group === instance,
  );
  const replica = startReplica(stream, target, 'b');
  await replica.whenCurrent();
  for (const id of ['first', 'second']) await writer.volume.log(instance).append(edit(id));
  await until(() => Promise.resolve(replica.storedSeq === writer.replica.seq));
  assert.deepEqual(contents({ volume, replica, close: () => Promise.resolve() }), contents(writer));
  await replica.stop();
  await Promise.all([volume.close(), writer.close()]);
});
