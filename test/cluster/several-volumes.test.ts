import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import type { Appended } from '../../src/log/log.js';
import { StreamLost } from '../../src/log/stream.js';
import type { StreamReplica } from '../../src/log/stream-replica.js';
import { GroupsTarget } from '../../src/node/stream-targets.js';
import type { EditCommand } from '../../src/shard/commands.js';
import type { CommandRoute } from '../../src/shard/group-log.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { MemoryStream } from './memory-stream.js';
import { startReplica } from './replicated-scenes.js';

interface Node {
  replica: StreamReplica;
  /** Adds a document to the only database of a volume. */
  write(volume: number, id: string): Promise<unknown>;
  close(): Promise<void>;
}

const edit = (instance: number, id: string): EditCommand => ({
  type: 'edit',
  instance,
  shard: 0,
  revs_limit: 100,
  edits: [{ id: asBytes(id), parent: undefined, path: undefined, deleted: false, body: asBytes('{}') }],
});

/** A node whose volumes have one group each, of the same stream. */
function openNode(stores: readonly MemoryStore[], stream: MemoryStream, name = 'a'): Node {
  const runtime = new SystemRuntime();
  const route: CommandRoute = {};
  const volumes = stores.map((store, slot) => new Volume(slot, store, () => {}, false, runtime, route));
  const target = new GroupsTarget(
    1,
    { home: (group) => ({ slot: group - 1 }) },
    { get: (slot) => volumes[slot]!, all: () => volumes },
    () => Promise.resolve(),
  );
  const replica = startReplica(stream, target, name);
  route.send = (_, bytes) => replica.send(bytes) as Promise<Appended<unknown>>;
  return {
    replica,
    write: (volume, id) => volumes[volume]!.log(volume + 1).append(edit(volume + 1, id)),
    close: async () => {
      await replica.stop();
      for (const volume of volumes) await volume.close();
    },
  };
}

function lastingStores(): MemoryStore[] {
  return [0, 1].map(() => {
    const store = new MemoryStore();
    store.close = () => Promise.resolve();
    return store;
  });
}

const all = { start: noBytes, end: asBytes('\xff') };

async function copyOf(stores: readonly MemoryStore[]): Promise<MemoryStore[]> {
  const copies = lastingStores();
  for (const [at, store] of stores.entries()) await copies[at]!.write([...store.entries(all)]).flushed;
  return copies;
}

/** What a node has on disk that was killed: its first volume has all messages, the second only the first one. */
async function killed(stream: MemoryStream): Promise<MemoryStore[]> {
  const stores = lastingStores();
  const node = openNode(stores, stream);
  await node.write(1, 'x');
  for (const id of ['a', 'b', 'c']) await node.write(0, id);
  const copies = await copyOf(stores);
  await node.close();
  return copies;
}

async function untilLost({ replica }: Node): Promise<string> {
  while (replica.lost === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  return replica.lost.message;
}

describe('a node with several volumes', () => {
  test('that was stopped is known to have all that it had', async () => {
    const stream = new MemoryStream();
    const stores = lastingStores();
    const node = openNode(stores, stream);
    await node.write(1, 'x');
    for (const id of ['a', 'b', 'c']) await node.write(0, id);
    const { seq } = node.replica;
    await node.close();
    stream.epoch = 'another';
    const again = openNode(stores, stream);
    await again.replica.whenCurrent();
    const { place } = again.replica;
    assert.deepEqual([place?.isWhole, place?.head.seq, place?.reach.seq], [true, seq, seq]);
    await again.close();
  });

  test('notices that messages are lost that only one of them has', async () => {
    const stream = new MemoryStream();
    const stores = await killed(stream);
    stream.truncate(1);
    const node = openNode(stores, stream);
    assert.match(await untilLost(node), /its last messages are lost/);
    const { place } = node.replica;
    assert.deepEqual([place?.isWhole, place?.reach.seq], [false, 4]);
    await node.close();
  });

  test('notices that messages are others than those that one of them has', async () => {
    const stream = new MemoryStream();
    const stores = await killed(stream);
    stream.truncate(2);
    const other = openNode(lastingStores(), stream, 'b');
    for (const id of ['y', 'z', 'w']) await other.write(0, id);
    const node = openNode(stores, stream);
    assert.match(await untilLost(node), /a store of this node has another history up to message 4/);
    await node.close();
    await other.close();
  });

  test('catches up in all of them after it was killed', async () => {
    const stream = new MemoryStream();
    const node = openNode(await killed(stream), stream);
    await node.write(1, 'y');
    assert.equal(node.replica.lost, undefined);
    await node.close();
  });

  test('that may lack something in one of them has a history that no other node has', async () => {
    const stream = new MemoryStream();
    const stores = await killed(stream);
    const whole = openNode(lastingStores(), stream, 'b');
    await whole.replica.whenCurrent();
    const { head } = whole.replica.place!;
    stream.epoch = 'another';
    const node = openNode(stores, stream);
    await untilLost(node);
    const own = (await node.replica.halt('for the test'))!;
    assert.equal(own.seq, head.seq);
    assert.notEqual(own.hash, head.hash);
    assert.deepEqual(await node.replica.halt('for the test'), own);
    assert.equal(node.replica.place?.isWhole, true);
    await node.close();
    await whole.close();
  });
});

test('a replica that waits to try again can be halted', { timeout: 20_000 }, async () => {
  const stream = new MemoryStream();
  const node = openNode(lastingStores(), stream);
  await node.write(0, 'a');
  const { read } = stream;
  let failures = 0;
  stream.read = () => {
    failures++;
    throw new Error('a failure');
  };
  await stream.publish(Buffer.from('not a message'));
  while (failures === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stream.read = read;
  const head = await node.replica.halt('for the test');
  assert.ok(head !== undefined && head.seq >= 1);
  assert.ok(node.replica.lost instanceof StreamLost);
  await node.close();
});
