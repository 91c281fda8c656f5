import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { leavesOf, live, openPouch, settled } from '../replication/pouch.js';
import { CuttableProxy } from './cuttable-proxy.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const docsOfEach = 150;

describe('PouchDB and a cluster', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name })));
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  // As a load balancer: it leads to another node when one is lost.
  const proxy = await CuttableProxy.start(a.client.port);
  after(async () => {
    proxy.close();
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });

  test('a live sync goes on at another node when its node dies, and nothing is missing', async () => {
    assert.equal((await a.client.put('/db')).status, 201);
    await until(async () => (await c.client.get('/db')).status === 200);
    const local = openPouch();
    const remote = openPouch(`http://admin:secret@127.0.0.1:${proxy.port}/db`);
    const syncs = [live(local, remote), live(remote, local)];
    let isDead = false;
    const writing = Promise.all([
      (async () => {
        for (let n = 0; n < docsOfEach; n++) await local.put({ _id: `local-${n}`, n });
      })(),
      (async () => {
        for (let n = 0; n < docsOfEach; n++) {
          // Half of them come when the other node is dead.
          if (n === docsOfEach / 2) await until(() => isDead);
          assert.equal((await c.client.put(`/db/remote-${n}`, { n })).status, 201);
        }
      })(),
    ]);
    await until(async () => (await leavesOf(local)).has('remote-20'));
    await a.end('SIGKILL');
    isDead = true;
    proxy.leadTo(b.client.port);
    await writing;
    const ofNode = async (node: TestNode): Promise<Map<string, string>> =>
      await leavesOf(openPouch(`${node.client.urlWithCredentials}/db`));
    assert.deepEqual(
      await settled(
        () => leavesOf(local),
        () => ofNode(c),
        60_000,
      ),
      [],
    );
    for (const sync of syncs) sync.cancel();
    await a.run();
    const leaves = await leavesOf(local);
    assert.equal(leaves.size, 2 * docsOfEach);
    for (const node of nodes)
      assert.deepEqual(
        await settled(
          () => Promise.resolve(leaves),
          () => ofNode(node),
          30_000,
        ),
        [],
      );
  });
});
