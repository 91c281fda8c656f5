import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const copiesMs = 2_000;

describe('w and r', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { copies_timeout_ms: String(copiesMs), streams: '3' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];

  const allAreThere = async (): Promise<void> => {
    for (const { client } of nodes)
      await until(async () => (await client.get('/_membership')).body.all_nodes.length === 3);
  };
  const paused = async (some: readonly TestNode[], work: () => Promise<void>): Promise<void> => {
    for (const node of some) node.process.kill('SIGSTOP');
    try {
      await work();
    } finally {
      for (const node of some) node.process.kill('SIGCONT');
    }
    await allAreThere();
  };

  test('a write with w is on so many nodes when it is answered with 201', async () => {
    await allAreThere();
    assert.equal((await a.client.put('/copied')).status, 201);
    for (const { client } of nodes) assert.equal((await client.get('/copied', fresh)).status, 200);
    for (let n = 0; n < 20; n++) {
      const put = await a.client.put(`/copied/d${n}?w=3`, { n });
      assert.equal(put.status, 201, put.text);
      for (const { client } of [b, c]) assert.equal((await client.get(`/copied/d${n}`)).body.n, n);
    }
    const several = Array.from({ length: 50 }, (_, n) => a.client.put(`/copied/s${n}?w=2`, {}));
    for (const { status } of await Promise.all(several)) assert.equal(status, 201);
  });

  test('with fewer nodes than that it is 202, and saved', async () => {
    const { body: first } = await a.client.put('/copied/x?w=3', {});
    assert.equal((await a.client.put('/copied/y?w=4', {})).status, 202);
    await paused([c], async () => {
      assert.equal((await a.client.put('/copied/two?w=2', {})).status, 201);
      const began = Date.now();
      assert.equal((await a.client.put('/copied/three?w=3', {})).status, 202);
      assert.ok(Date.now() - began < 2 * copiesMs);
      assert.equal((await a.client.post('/copied?w=3', { _id: 'z' })).status, 202);
      assert.equal((await a.client.delete(`/copied/x?rev=${first.rev}&w=3`)).status, 202);
      const raw = await a.client.send('PUT', '/copied/f/file?w=3', { raw: 'x' });
      assert.equal(raw.status, 202, raw.text);
      for (const [path, w] of [
        ['_bulk_docs?w=3', undefined],
        ['_bulk_docs', 3],
      ]) {
        const bulk = await a.client.post(`/copied/${path}`, { docs: [{}], w });
        assert.deepEqual([bulk.status, bulk.body[0].accepted], [202, true]);
      }
      const plain = await a.client.post('/copied/_bulk_docs?w=3', { docs: [{}], w: 2 });
      assert.deepEqual([plain.status, plain.body[0].accepted], [201, undefined]);
    });
    assert.equal((await c.client.get('/copied/three')).status, 200);
    assert.equal((await a.client.put('/copied/again?w=3', {})).status, 201);
  });

  test('malformed values ask for nothing', async () => {
    await paused([b, c], async () => {
      for (const w of ['1', '0', '-1', 'x', '1.5', ''])
        assert.equal((await a.client.put(`/copied/w${w}?w=${w}`, {})).status, 201, w);
      for (const w of ['2', 0, 1, null, 2.5])
        assert.equal((await a.client.post('/copied/_bulk_docs', { docs: [{}], w })).status, 201, String(w));
    });
  });

  test('a read with r above 1 sees what another node has acknowledged', async () => {
    await a.client.put('/read');
    assert.equal((await b.client.get('/read', fresh)).status, 200);
    const docs = Array.from({ length: 3_000 }, () => ({ text: 'x'.repeat(500) }));
    let count = 0;
    const ask: (() => Promise<number>)[] = [
      async () => (await b.client.get('/read/last?r=2')).body.count as number,
      async () => {
        const { body } = await b.client.post('/read/_find', { selector: { _id: 'last' }, r: 2 });
        return body.docs[0].count as number;
      },
      async () => {
        const { body } = await b.client.post('/read/_bulk_get?r=3', { docs: [{ id: 'last' }] });
        return body.results[0].docs[0].ok.count as number;
      },
    ];
    let rev: string | undefined;
    for (const read of ask) {
      b.process.kill('SIGSTOP');
      await a.client.post('/read/_bulk_docs', { docs });
      ({ rev } = (await a.client.put('/read/last', { count: ++count, _rev: rev })).body);
      const answer = read();
      await sleep(20);
      b.process.kill('SIGCONT');
      assert.equal(await answer, count);
    }
  });
});
