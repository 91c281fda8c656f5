import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const docsEach = 5_000;

describe('resharding jobs of a cluster', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name })));
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const ownerName = async (node: TestNode): Promise<string> => {
    await until(async () => (await node.client.get('/_cluster')).body.owner !== null);
    return (await node.client.get('/_cluster')).body.owner as string;
  };
  const split = { type: 'split', db: 'halved' };

  test('are those of all nodes, and stop and go on wherever that is asked', async () => {
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    // Some time after the start, one of them runs the jobs; until then they cannot be changed.
    for (const node of nodes) {
      await ownerName(node);
      await until(async () => (await node.client.get('/_membership')).body.all_nodes.length === 3);
    }
    await a.client.put('/halved?q=1');
    assert.equal((await b.client.put('/_reshard/state', { state: 'stopped', reason: 'wait' })).status, 200);
    const created = await b.client.post('/_reshard/jobs', { ...split, node: a.name }, fresh);
    assert.equal(created.status, 201, created.text);
    const [{ id }] = created.body as [{ id: string }];
    for (const { client } of nodes) {
      const { body } = await client.get('/_reshard');
      assert.deepEqual([body.state, body.state_reason, body.total], ['stopped', 'wait', 1]);
      assert.equal((await client.get(`/_reshard/jobs/${id}`)).body.job_state, 'stopped');
    }
    const again = await c.client.post('/_reshard/jobs', split, fresh);
    assert.equal(again.body[0].error, 'job_already_exists');
    const unknown = await c.client.post('/_reshard/jobs', { ...split, node: 'x@y' });
    assert.equal(unknown.status, 404);
    await c.client.put('/_reshard/state', { state: 'running' });
    await until(async () => (await a.client.get(`/_reshard/jobs/${id}`)).body.job_state === 'completed');
    for (const { client } of nodes) {
      const { body } = await client.get('/halved/_shards', fresh);
      assert.deepEqual(Object.keys(body.shards), ['00000000-7fffffff', '80000000-ffffffff']);
    }
    await b.client.delete('/halved');
    for (const { client } of nodes) await until(async () => (await client.get('/_reshard')).body.total === 0);
  });

  test('are taken over when the node is killed that runs them', async () => {
    const owner = await ownerName(nodes[0]!);
    const running = nodes.find(({ name }) => name === owner)!;
    const [first, second] = nodes.filter((node) => node !== running) as [TestNode, TestNode];
    await first.client.put('/halved?q=1');
    for (let n = 0; n < 8; n++) {
      const docs = Array.from({ length: docsEach }, (_, at) => ({ _id: `${n}-${at}` }));
      assert.equal((await first.client.post('/halved/_bulk_docs', { docs })).status, 201);
    }
    const created = await first.client.post('/_reshard/jobs', split, fresh);
    const [{ id, node }] = created.body as [{ id: string; node: string }];
    assert.equal(node, owner);
    const state = async (): Promise<string> =>
      (await first.client.get(`/_reshard/jobs/${id}`)).body.job_state as string;
    await until(async () => (await state()) === 'running', 90_000, 2);
    await running.end('SIGKILL');
    assert.equal((await first.client.put('/_reshard/state', { state: 'stopped' })).status, 503);
    await until(async () => ![owner, null].includes((await first.client.get('/_cluster')).body.owner));
    await until(async () => (await second.client.get(`/_reshard/jobs/${id}`)).body.job_state === 'completed');
    const { owner: newOwner } = (await second.client.get('/_cluster')).body;
    await running.run();
    for (const { client } of [running, first, second]) {
      // The one that returns asks the owner at once, and not itself, which was the owner when it was killed.
      assert.equal((await client.get('/_cluster')).body.owner, newOwner);
      const { body: job } = await client.get(`/_reshard/jobs/${id}`);
      assert.deepEqual([job.node, job.job_state], [newOwner, 'completed']);
      const { body } = await client.get('/halved', fresh);
      assert.deepEqual([body.doc_count, body.cluster.q], [8 * docsEach, 2]);
    }
  });
});
