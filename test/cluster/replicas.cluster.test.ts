import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { skipWithoutNats, TestNatsCluster } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };

describe('three NATS servers', skipWithoutNats, async () => {
  const nats = await TestNatsCluster.start();
  const settings = { replicas: '3', streams: '2' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a] = nodes as [TestNode, TestNode, TestNode];

  test('when one is killed, writes go on after the election and nothing is lost', async (t) => {
    assert.equal((await a.client.put('/db')).status, 201);
    await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
    const saved = nodes.map(() => new Set<string>());
    let isOver = false;
    const writers = nodes.map(async ({ client }, at) => {
      for (let n = 0; !isOver; n++) {
        const id = `${at}-${n}`;
        const answer = await client.put(`/db/${id}`, { n }).catch(() => undefined);
        if (answer?.status === 201) saved[at]!.add(id);
        else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    const writeOn = async (): Promise<void> => {
      const before = saved.map(({ size }) => size);
      await until(() => saved.every(({ size }, at) => size > before[at]! + 20));
    };
    await writeOn();
    // First the one that confirms the writes of the database, then each that leads after it.
    for (let round = 0; round < 2; round++) {
      const leader = await nats.leaderOf('tuffet-1');
      await leader.kill();
      const killedAt = Date.now();
      await writeOn();
      t.diagnostic(`writes on all nodes went on within ${Date.now() - killedAt} ms`);
      await leader.run();
      await nats.ready();
      await until(async () => await nats.isComplete('tuffet-1'));
    }
    isOver = true;
    await Promise.all(writers);
    for (const { client } of nodes) {
      let found: { id: string }[] = [];
      await until(async () => {
        const { status, body } = await client.get('/db/_all_docs', fresh);
        if (status === 200) found = body.rows;
        return status === 200;
      });
      const ids = new Set(found.map(({ id }) => id));
      for (const ofWriter of saved)
        assert.deepEqual(
          [...ofWriter].filter((id) => !ids.has(id)),
          [],
        );
    }
  });
});
