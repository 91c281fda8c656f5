import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { NatsStream } from '../../src/cluster/nats-stream.js';
import { StreamMissing, type RecoveredHistory } from '../../src/log/stream.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';

type Streams = JetStreamManager['streams'];

describe('a stream of a NATS server', skipWithoutNats, async () => {
  const server = await TestNats.start();
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  const js = jetstream(connection);
  after(async () => {
    await connection.close();
    await server.close();
  });
  let count = 0;
  /** One whose questions to the servers go wrong as `faults` say. */
  const open = (faults: Partial<Streams> = {}, name = `S${++count}`): NatsStream => {
    const streams = new Proxy(manager.streams, {
      get: (target, key: keyof Streams) => faults[key] ?? target[key].bind(target),
    });
    const client = {
      js,
      waiting: () => js,
      manager: { ...manager, streams },
      onReconnect: new Set<() => void>(),
    };
    return new NatsStream({ name, subject: `s.${name}`, replicas: 1, newEpoch: randomUUID }, client);
  };
  const write = async (stream: NatsStream, messages: number): Promise<void> => {
    const { epoch } = await stream.info();
    for (let n = 0; n < messages; n++) await stream.publish(Buffer.from('x'), randomUUID(), epoch);
  };
  const historyOf = async (stream: NatsStream): Promise<RecoveredHistory> => {
    const { epoch, last } = await stream.info();
    return { node: 'a', epoch, seq: last, hash: asBytes('h'.repeat(16)) };
  };

  test('that is sealed has what was confirmed, takes no more, and can be made anew', async () => {
    const stream = open();
    const history = await historyOf(stream);
    await write(stream, 3);
    const sealed = await stream.seal(history.epoch);
    assert.deepEqual([sealed?.last, sealed?.isSealed], [3, true]);
    await assert.rejects(write(stream, 1), /sealed/);
    assert.deepEqual(await stream.seal(history.epoch), sealed);
    assert.equal(await stream.recover({ ...history, seq: 3 }), true);
    await write(stream, 1);
    // An order that comes late.
    assert.equal((await stream.seal(history.epoch))?.last, 4);
    await write(stream, 1);
    assert.equal(await open().seal(history.epoch), undefined);
  });

  test('is not made anew twice where the answer to the first time was lost', async () => {
    const faults: Partial<Streams> = {};
    const stream = open(faults);
    const history = await historyOf(stream);
    faults.add = async (config) => {
      delete faults.add;
      await manager.streams.add(config);
      await write(stream, 2);
      throw new Error('timeout');
    };
    assert.equal(await stream.recover(history), true);
    assert.equal((await stream.info()).last, 2);
    assert.equal(await stream.recover(history), true);
    assert.equal((await stream.info()).last, 2);
  });

  test('is not deleted where it is not known what it is, or was made anew from another history', async () => {
    const faults: Partial<Streams> = {};
    const stream = open(faults);
    const history = await historyOf(stream);
    await write(stream, 2);
    faults.info = () => Promise.reject(new Error('timeout'));
    await assert.rejects(stream.recover(history), /timeout/);
    await assert.rejects(stream.infoIfThere(), /timeout/);
    delete faults.info;
    assert.equal((await stream.info('throw')).last, 2);
    await stream.recover({ ...history, node: 'b', seq: 2 });
    await write(stream, 1);
    assert.equal(await stream.recover(history), false);
    assert.deepEqual([(await stream.info()).last, (await stream.info()).recovered?.node], [3, 'b']);
    await stream.remove();
    await assert.rejects(stream.info('throw'), StreamMissing);
  });

  test('that is a backup from before it was made anew is made anew once more', async () => {
    const stream = open();
    const history = await historyOf(stream);
    await stream.recover(history);
    const { config } = await manager.streams.info(stream.name);
    const second = await historyOf(stream);
    await stream.recover(second);
    const third = await historyOf(stream);
    await stream.remove();
    await manager.streams.add(config);
    assert.equal((await stream.info()).epoch, second.epoch);
    assert.equal(await stream.recover(third), true);
    assert.equal((await stream.info()).recovered?.epoch, third.epoch);
  });

  test('keeps its messages when it is trimmed up to where it was made anew, or for another epoch', async () => {
    const stream = open();
    const before = await historyOf(stream);
    await write(stream, 10);
    await stream.recover({ ...before, seq: 10 });
    const { epoch } = await stream.info();
    await write(stream, 4);
    for (const seq of [0, 9, 10, 11]) await stream.trim(seq, epoch);
    await stream.trim(13, before.epoch);
    assert.equal((await stream.info()).first, 11);
    await stream.trim(13, epoch);
    assert.deepEqual([(await stream.info()).first, (await stream.info()).last], [13, 14]);
  });

  test('gives the sequences of messages, in the epoch that they are meant for', async () => {
    const stream = open();
    const publish = (epoch: string, id: string = randomUUID()) => stream.publish(Buffer.from('x'), id, epoch);
    const before = await historyOf(stream);
    assert.deepEqual([await publish(before.epoch, 'a'), await publish(before.epoch, 'b')], [1, 2]);
    assert.equal(await publish(before.epoch, 'a'), 1, 'the same message again');
    const other = open({}, stream.name);
    await other.recover({ ...before, seq: 2 });
    // It has not noticed yet, and takes the stream for the one of before.
    await assert.rejects(publish(before.epoch));
    const { epoch, last } = await stream.info();
    assert.equal(last, 2);
    assert.equal(await publish(epoch), 3);
    // Where it belongs is not known then: all who read it see the epoch that it names.
    assert.equal(await publish(before.epoch), undefined);
    assert.equal((await stream.info()).last, 4);
  });

  test('that was created without a subject for its epoch takes messages, and tells no sequences', async () => {
    const stream = open();
    const { epoch } = await stream.info();
    const { config } = await manager.streams.info(stream.name);
    await manager.streams.update(stream.name, { ...config, subjects: config.subjects.slice(0, 1) });
    assert.equal((await stream.info()).epoch, epoch);
    assert.equal(await stream.publish(Buffer.from('x'), randomUUID(), epoch), undefined);
    assert.equal((await stream.info()).last, 1);
  });

  test('is read in the epoch that is asked for, and in no other', async () => {
    const stream = open();
    const before = await historyOf(stream);
    await write(stream, 2);
    const signal = AbortSignal.timeout(5_000);
    const next = async (after: number, epoch: string) => {
      for await (const { seq } of stream.read(after, signal, epoch)) return seq;
      return undefined;
    };
    assert.equal(await next(1, before.epoch), 2);
    const other = open({}, stream.name);
    await other.recover({ ...before, seq: 2 });
    await write(other, 1);
    await assert.rejects(next(0, before.epoch), /made anew/);
    assert.equal(await next(2, (await stream.info()).epoch), 3);
  });
});
