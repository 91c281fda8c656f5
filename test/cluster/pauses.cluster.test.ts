import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
/** Longer than a node may go without a look at the catalogue. */
const pauseMs = 3_500;
const docs = Array.from({ length: 5_000 }, (_, n) => ({ _id: `n${n}`, text: 'x'.repeat(400) }));

describe('a node that is paused', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const [a, b] = (await Promise.all(
    ['a', 'b'].map((name) => TestNode.start({ nats: nats.url, name, settings: { streams: '3' } })),
  )) as [TestNode, TestNode];
  after(async () => {
    await Promise.all([a.close(), b.close()]);
    await nats.close();
  });

  test('answers the first requests after it by what was written meanwhile', async () => {
    for (let round = 0; round < 3; round++) {
      const name = `/paused-${round}`;
      await a.client.put(name);
      assert.equal((await b.client.get(name, fresh)).status, 200);
      b.process.kill('SIGSTOP');
      assert.equal((await a.client.post(`${name}/_bulk_docs`, { docs })).status, 201);
      assert.equal((await a.client.put(`${name}/last`, { round })).status, 201);
      await sleep(pauseMs);
      // They are there when it goes on, before anything that the NATS server sends.
      const asked = Array.from({ length: 5 }, () => b.client.get(`${name}/last`));
      const told = b.client.get(name);
      await sleep(50);
      b.process.kill('SIGCONT');
      const answers = [...(await Promise.all(asked)), await b.client.get(`${name}/last`)];
      for (const { status, body, text } of answers) assert.equal(body.round, round, `${status} ${text}`);
      assert.equal((await told).body.doc_count, docs.length + 1);
    }
  });

  test('answers 503 while it cannot find out, except about itself', async () => {
    await a.client.put('/unknown');
    assert.equal((await b.client.get('/unknown', fresh)).status, 200);
    b.process.kill('SIGSTOP');
    process.kill(nats.pid, 'SIGSTOP');
    await sleep(pauseMs);
    const asked = [b.client.get('/unknown'), b.client.get('/unknown', fresh), b.client.get('/_all_dbs')];
    const membership = b.client.get('/_membership');
    b.process.kill('SIGCONT');
    assert.equal((await membership).status, 200);
    for (const answer of asked) assert.equal((await answer).status, 503);
    process.kill(nats.pid, 'SIGCONT');
    await until(async () => (await b.client.get('/unknown')).status === 200);
  });
});
