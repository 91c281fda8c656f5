import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/base/errors.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { MemoryStream } from './memory-stream.js';
import { contents, edit, instance } from './replica-edits.js';
import { openVolume, type ReplicatedVolume } from './replicated-scenes.js';
import { until } from './until.js';

describe('messages that a stream confirms', () => {
  test('a message of a node is applied there when it is confirmed, before it can be read', async () => {
    const stream = new MemoryStream();
    const nodes = ['a', 'b'].map((name) => openVolume(new MemoryStore(), stream, name));
    await Promise.all(nodes.map(({ replica }) => replica.whenCurrent()));
    const [first, second] = nodes as [ReplicatedVolume, ReplicatedVolume];
    stream.isHeld = true;
    for (const id of ['x', 'y']) await first.volume.log(instance).append(edit(id));
    await first.replica.fresh();
    assert.deepEqual([first.volume.log(instance).position, second.volume.log(instance).position], [2, 0]);
    // Behind messages of others, a message has to wait for them.
    const late = second.volume.log(instance).append(edit('x', 'z'));
    await sleep(20);
    assert.equal(second.volume.log(instance).position, 0);
    stream.release();
    assert.deepEqual(
      (await late).result.map((result) => typeof result),
      ['undefined', 'object'],
    );
    await first.volume.log(instance).append(edit('w'));
    await Promise.all(nodes.map(({ replica }) => replica.fresh()));
    assert.deepEqual(contents(first), contents(second));
    for (const { close, replica } of nodes) {
      assert.equal(replica.lost, undefined);
      await close();
    }
  });

  test('beyond a number of confirmed messages, a node waits for what it reads', async () => {
    const stream = new MemoryStream();
    const { volume, replica, close } = openVolume(new MemoryStore(), stream);
    await replica.whenCurrent();
    stream.isHeld = true;
    const log = volume.log(instance);
    for (let n = 0; n < 64; n++) await log.append(edit(`d${n}`));
    const last = log.append(edit('last'));
    await sleep(20);
    assert.equal(log.position, 64);
    stream.release();
    await last;
    assert.equal(log.position, 65);
    await close();
  });

  test('a stream that has something else in the place of what it confirmed takes no more writes', async () => {
    const stream = new MemoryStream();
    const { volume, replica, close } = openVolume(new MemoryStore(), stream);
    await replica.whenCurrent();
    stream.isHeld = true;
    await volume.log(instance).append(edit('a'));
    stream.replaceLast(Buffer.from('something else'));
    stream.release();
    await until(() => replica.lost !== undefined);
    assert.match(replica.lost!.message, /confirmed a message 1 of this node, and has another one there/);
    await assert.rejects(volume.log(instance).append(edit('b')), /cannot write/);
    await close();
  });

  test('a message that is confirmed in an epoch is not taken in the next one', async () => {
    const stream = new MemoryStream();
    const { volume, replica, close } = openVolume(new MemoryStore(), stream);
    await replica.whenCurrent();
    await volume.log(instance).append(edit('a'));
    stream.isHeld = true;
    const publish = stream.publish.bind(stream);
    stream.publish = async (message, id, epoch) => {
      const seq = await publish(message, id, epoch);
      // The stream was made anew without it, the node goes on there, and then it hears of the confirmation.
      stream.truncate(1);
      const { seq: last, hash } = replica.place!.head;
      stream.recovered = { node: 'a', epoch: stream.epoch, seq: last, hash };
      stream.epoch = 'e2.1';
      stream.disconnect();
      await sleep(400);
      stream.publish = publish;
      return seq;
    };
    const lost = volume.log(instance).append(edit('b'));
    lost.catch(() => undefined);
    await sleep(800);
    stream.release();
    assert.equal(replica.place!.head.epoch, 'e2.1');
    assert.equal(replica.seq, 1);
    await close();
    await assert.rejects(lost, Unavailable);
  });
});
