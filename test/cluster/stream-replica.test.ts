import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { RequestError, Unavailable } from '../../src/base/errors.js';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { encodeBatch } from '../../src/log/batch-codec.js';
import { StreamReplaced } from '../../src/log/stream.js';
import { encodeCommand } from '../../src/shard/command-codec.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { FailingStore } from '../log/failing-store.js';
import { Random, seed } from '../model/random.js';
import { MemoryStream } from './memory-stream.js';
import { contents, edit, instance } from './replica-edits.js';
import { openVolume } from './replicated-scenes.js';

/** A store that can be opened again. */
function lasting(store = new MemoryStore()): MemoryStore {
  store.close = () => Promise.resolve();
  return store;
}

describe(`replicas of a stream, seed ${seed}`, () => {
  test('of two nodes that begin the same document, one succeeds, and both have the same bytes', async () => {
    const stream = new MemoryStream();
    const nodes = ['a', 'b'].map((name) => openVolume(new MemoryStore(), stream, name));
    for (let n = 0; n < 20; n++) {
      const results = await Promise.all(
        nodes.map(async ({ volume }) => (await volume.log(instance).append(edit(`d${n}`))).result[0]),
      );
      assert.equal(results.filter((result) => result === undefined).length, 1, 'one conflict');
    }
    await Promise.all(nodes.map(({ replica }) => replica.fresh()));
    assert.deepEqual(contents(nodes[0]!), contents(nodes[1]!));
    for (const { close } of nodes) await close();
  });

  test('a command that is larger than any message is refused, and keeps nothing behind it waiting', async () => {
    const stream = new MemoryStream();
    const node = openVolume(new MemoryStore(), stream);
    const large = asBytes('x'.repeat(1_000_001));
    await assert.rejects(node.replica.send(large), (error) => {
      assert.ok(error instanceof RequestError);
      assert.equal(error.error, 'too_large');
      return true;
    });
    assert.equal((await node.volume.log(instance).append(edit('a'))).result.length, 1);
    await node.close();
  });

  test('messages that are lost, unconfirmed or stored twice are applied once, in order', async () => {
    const random = new Random(seed);
    const stream = new MemoryStream();
    const nodes = ['a', 'b'].map((name) => openVolume(new MemoryStore(), stream, name));
    for (let n = 0; n < 30; n++) stream.faults.push(random.pick(['lost', 'unconfirmed', 'twice'] as const));
    const appended = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        await new Promise((resolve) => setTimeout(resolve, n));
        return await nodes[n % 2]!.volume.log(instance).append(edit(`d${n}`));
      }),
    );
    assert.ok(appended.every(({ result }) => typeof result[0] === 'object'));
    assert.equal(new Set(appended.map(({ position }) => position)).size, 60);
    await Promise.all(nodes.map(({ replica }) => replica.fresh()));
    assert.equal(nodes[0]!.volume.log(instance).position, 60);
    assert.deepEqual(contents(nodes[0]!), contents(nodes[1]!));
    for (const { close } of nodes) await close();
  });

  test('a replica that returns continues where it was, and one that is new gets everything', async () => {
    const stream = new MemoryStream();
    const stores = [lasting(), lasting(), lasting()];
    const first = openVolume(stores[0]!, stream, 'a');
    const second = openVolume(stores[1]!, stream, 'b');
    await second.replica.whenCurrent();
    await second.close();
    for (let n = 0; n < 3; n++)
      await first.volume.log(instance).append(edit(...Array.from({ length: 1_500 }, (_, i) => `${n}.${i}`)));
    const others = [openVolume(stores[1]!, stream, 'b'), openVolume(stores[2]!, stream, 'c')];
    for (const other of others) {
      await other.replica.whenCurrent();
      assert.deepEqual(contents(other), contents(first));
      await other.close();
    }
    await first.close();
  });

  test('a command that was applied in part is completed after a failure of the disk', async () => {
    const stream = new MemoryStream();
    const [store, other] = [new FailingStore(), new MemoryStore()];
    const failing = openVolume(store, stream, 'a');
    const sound = openVolume(other, stream, 'b');
    const ids = Array.from({ length: 6_000 }, (_, i) => `d${i}`);
    let partsWritten = 0;
    let failures = 0;
    const write = store.write.bind(store);
    store.write = (batch) => {
      store.failing = partsWritten === 1 && failures === 0;
      if (store.failing) failures++;
      else if (batch.length > 100) partsWritten++;
      return write(batch);
    };
    const { result } = await failing.volume.log(instance).append(edit(...ids));
    assert.ok(failures === 1 && partsWritten > 1, `${partsWritten} parts, ${failures} failures`);
    assert.equal(result.filter((rev) => typeof rev === 'object').length, ids.length);
    await sound.replica.fresh();
    assert.deepEqual(contents(failing), contents(sound));
    await failing.close();
    await sound.close();
  });

  test('a write that the stream does not confirm is refused in time, and may be applied later', async () => {
    const stream = new MemoryStream();
    const node = openVolume(new MemoryStore(), stream, 'a', 600);
    await node.volume.log(instance).append(edit('a'));
    for (let n = 0; n < 3; n++) stream.faults.push('lost');
    const waiting = Array.from({ length: 20 }, () => 'lost' as const);
    stream.faults.push(...waiting);
    await assert.rejects(node.volume.log(instance).append(edit('b')), (error) => {
      assert.ok(error instanceof Unavailable);
      return /may have been saved/.test(error.message);
    });
    stream.faults.length = 0;
    await node.replica.fresh();
    assert.equal(node.volume.log(instance).position, 2);
    await node.close();
  });

  test('a stream whose end is lost takes no writes of a node that has more', async () => {
    const stream = new MemoryStream();
    const store = lasting();
    const node = openVolume(store, stream, 'a');
    for (const id of ['a', 'b', 'c']) await node.volume.log(instance).append(edit(id));
    await node.close();
    stream.truncate(1);
    const again = openVolume(store, stream, 'a');
    await again.replica.whenCurrent();
    assert.match(again.replica.lost!.message, /its last messages are lost/);
    await assert.rejects(again.volume.log(instance).append(edit('d')), /cannot write/);
    assert.equal(again.volume.log(instance).position, 3);
    await again.close();
  });

  test('a stream is not given up because a server does not know its end yet', async () => {
    const stream = new MemoryStream();
    const store = lasting();
    const node = openVolume(store, stream, 'a');
    for (const id of ['a', 'b']) await node.volume.log(instance).append(edit(id));
    await node.close();
    stream.behind = 2;
    const again = openVolume(store, stream, 'a');
    await again.volume.log(instance).append(edit('c'));
    assert.equal(again.replica.lost, undefined);
    await again.close();
  });

  test('a history that differs from that of another node is noticed', async () => {
    const stream = new MemoryStream();
    const store = lasting();
    const ahead = openVolume(store, stream, 'a');
    await ahead.volume.log(instance).append(edit('a'));
    const before = [...store.entries({ start: noBytes, end: asBytes('\xff') })];
    for (const id of ['b', 'c']) await ahead.volume.log(instance).append(edit(id));
    await ahead.close();
    stream.truncate(2);
    const behind = new MemoryStore();
    await behind.write(before).flushed;
    const other = openVolume(behind, stream, 'b');
    for (const id of ['x', 'y', 'z']) await other.volume.log(instance).append(edit(id));
    const again = openVolume(store, stream, 'a');
    await again.replica.whenCurrent();
    await other.volume.log(instance).append(edit('w'));
    while (again.replica.lost === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match(again.replica.lost.message, /another history/);
    await again.close();
    await other.close();
  });

  test('a message of another epoch or of a longer history has no effect, on any replica', async () => {
    const stream = new MemoryStream();
    const nodes = ['a', 'b'].map((name) => openVolume(new MemoryStore(), stream, name));
    await nodes[0]!.volume.log(instance).append(edit('a'));
    const origin = { name: 'c', incarnation: 1, counter: 1 };
    const foreign = { epoch: 'e0', origin, seq: 0, hash: asBytes('\0'.repeat(16)), catalogue: 0 };
    await stream.publish(encodeBatch({ ...foreign, commands: [encodeCommand(edit('x'))] }));
    // This one is of a node that has more of the stream than there is.
    const ahead = { ...foreign, epoch: stream.epoch, seq: 99 };
    await stream.publish(encodeBatch({ ...ahead, commands: [encodeCommand(edit('y'))] }));
    for (const { volume } of nodes) await volume.log(instance).append(edit(randomUUID()));
    await Promise.all(nodes.map(({ replica }) => replica.fresh()));
    assert.equal(nodes[0]!.volume.log(instance).position, 3);
    assert.deepEqual(nodes[0]!.replica.origins.sort(), ['a', 'b']);
    assert.deepEqual(contents(nodes[0]!), contents(nodes[1]!));
    for (const { close, replica } of nodes) {
      assert.equal(replica.lost, undefined);
      await close();
    }
  });

  test('a replica continues in a new epoch that goes on from what it has, and one that has less has to copy', async () => {
    const stream = new MemoryStream();
    const [store, lesser] = [lasting(), lasting()];
    const node = openVolume(store, stream, 'a');
    await node.volume.log(instance).append(edit('a'));
    await lesser.write([...store.entries({ start: noBytes, end: asBytes('\xff') })]).flushed;
    await node.volume.log(instance).append(edit('b'));
    const head = (await node.replica.halt('for the test'))!;
    await assert.rejects(node.volume.log(instance).append(edit('refused')), /for the test/);
    await node.close();
    stream.epoch = 'e2';
    stream.recovered = { node: 'a', epoch: 'e1', seq: head.seq, hash: head.hash };
    const again = openVolume(store, stream, 'a');
    await again.volume.log(instance).append(edit('c'));
    assert.equal(again.volume.log(instance).position, 3);
    assert.equal(again.replica.place?.head.epoch, 'e2');
    const other = openVolume(lesser, stream, 'b');
    await other.replica.whenCurrent();
    assert.ok(other.replica.lost instanceof StreamReplaced);
    await again.close();
    await other.close();
  });

  test('a second process of the same name takes over, and the first stops writing', async () => {
    const stream = new MemoryStream();
    const first = openVolume(new MemoryStore(), stream, 'a');
    await first.volume.log(instance).append(edit('a'));
    const second = openVolume(new MemoryStore(), stream, 'a');
    await second.volume.log(instance).append(edit('b'));
    await assert.rejects(async () => {
      for (let n = 0; n < 100; n++) await first.volume.log(instance).append(edit(`c${n}`));
    }, /another process uses the node name|may have been saved/);
    await second.replica.fresh();
    assert.ok(second.volume.log(instance).position >= 2);
    await first.close();
    await second.close();
  });
});
