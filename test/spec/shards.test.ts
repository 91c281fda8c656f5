import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const [node] = (await client.get('/_membership')).body.all_nodes as string[];

describe('Shards', () => {
  for (const q of [1, 2, 3, 8, 16]) {
    test(`the ${q} ranges of q=${q} cover every hash once, each on a node`, async () => {
      const db = await newDb(client, `?q=${q}`);
      const answer = await client.get(`${db}/_shards`);
      assertOk(answer, 200);
      const ranges = Object.keys(answer.body.shards).sort();
      assert.equal(ranges.length, q);
      let next = 0;
      for (const range of ranges) {
        assert.match(range, /^[0-9a-f]{8}-[0-9a-f]{8}$/);
        const [from, to] = range.split('-').map((text) => Number.parseInt(text, 16));
        assert.equal(from, next);
        next = to! + 1;
        assert.deepEqual(answer.body.shards[range], [node]);
      }
      assert.equal(next, 2 ** 32);
    });
  }

  test('a document has one of the ranges, whether it exists or not', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    const { shards } = (await client.get(`${db}/_shards`)).body;
    for (const id of ['a', 'nothing', '_design%2Fx', 'a%20b']) {
      const answer = await client.get(`${db}/_shards/${id}`);
      assertOk(answer, 200);
      assert.ok(answer.body.range in shards, answer.text);
      assert.deepEqual(answer.body.nodes, [node]);
    }
  });

  test('documents are spread over all ranges', async () => {
    const db = await newDb(client, '?q=4');
    const found = new Set<string>();
    for (let i = 0; i < 100; i++) found.add((await client.get(`${db}/_shards/doc-${i}`)).body.range);
    assert.equal(found.size, 4);
  });

  test('POST /{db}/_sync_shards is accepted with 202', async () => {
    const db = await newDb(client);
    const answer = await client.post(`${db}/_sync_shards`);
    assertOk(answer, 202);
    assert.deepEqual(answer.body, { ok: true });
  });

  test('what does not exist is refused with error and reason', async () => {
    assertRefused(await client.get('/nowhere/_shards'), 404, 'not_found');
    assertRefused(await client.get('/nowhere/_shards/a'), 404, 'not_found');
    assertRefused(await client.post('/nowhere/_sync_shards'), 404, 'not_found');
  });
});
