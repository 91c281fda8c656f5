import assert from 'node:assert/strict';
import net from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';

/** Longer than a write waits, and a sweep after it takes. */
const holdMs = 1_500;

/** Hands on everything, but holds back the first publication with each of these texts, and all behind it. */
async function holdingProxy(
  port: number,
  texts: readonly string[],
): Promise<{ url: string; held: string[] }> {
  const held: string[] = [];
  const server = net.createServer((socket) => {
    const onward = net.connect(port, '127.0.0.1');
    for (const each of [socket, onward]) each.on('error', () => each.destroy());
    onward.pipe(socket);
    void (async () => {
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        const bytes = chunk.toString('latin1');
        const found = texts.filter((text) => bytes.includes(text) && !held.includes(text));
        held.push(...found);
        if (found.length > 0) await sleep(holdMs);
        onward.write(chunk);
      }
      onward.end();
    })().catch(() => onward.destroy());
  });
  after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `nats://127.0.0.1:${(server.address() as net.AddressInfo).port}`, held };
}

describe('a node whose log does not confirm in time', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  after(() => nats.close());
  const settings = { write_timeout_ms: '100' };

  test('starts all the same, with the databases that clients expect', async () => {
    const texts = ['PUB tuffet.stream.catalogue', '_users', '_design/_auth'];
    const { url, held } = await holdingProxy(nats.port, texts);
    const node = await TestNode.start({ nats: url, name: 'a', settings });
    after(() => node.close());
    assert.deepEqual(held, texts);
    assert.deepEqual((await node.client.get('/_all_dbs')).body, ['_global_changes', '_replicator', '_users']);
    assert.equal((await node.client.get('/_users/_design/_auth')).status, 200);
    assert.equal((await node.client.put('/_users/_design/_auth', {})).status, 409);
  });
});
