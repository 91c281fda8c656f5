import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

describe('Content negotiation', () => {
  const db = '/negotiated';
  test('a server, a database and a document to ask for', async () => {
    assertOk(await client.put(db), 201);
    assertOk(await client.put(`${db}/a`, {}), 201);
  });

  const json = 'application/json';
  const plain = 'text/plain; charset=utf-8';
  for (const [accept, type] of [
    [json, json],
    ['text/plain', plain],
    ['*/*', plain],
    [null, json],
    ['application/json, text/plain, */*', json],
    ['text/plain, application/json', json],
  ] as const) {
    test(`Accept: ${accept ?? '(none)'} is answered with ${type}`, async () => {
      const paths = [
        '/',
        '/_all_dbs',
        '/_uuids',
        '/_up',
        db,
        `${db}/a`,
        `${db}/_all_docs`,
        `${db}/_security`,
      ];
      for (const path of paths) {
        assert.equal((await client.get(path, { accept })).headers['content-type'], type, path);
      }
      const refused = await client.get(`${db}/nothing`, { accept });
      assert.equal(refused.headers['content-type'], type);
      const written = await client.post(`${db}/_bulk_docs`, { docs: [{}] }, { accept });
      assert.equal(written.headers['content-type'], type);
    });
  }
});

/** Batched writes are saved at their time, and at once when it is asked for. */
describe('Batch mode', () => {
  test('POST, PUT and DELETE answer 202 at once, without a rev', async () => {
    const db = await newDb(client);
    const { rev } = (await client.put(`${db}/old`, {})).body;
    const answers = [
      await client.post(`${db}?batch=ok`, { _id: 'posted' }),
      await client.put(`${db}/put?batch=ok`, {}),
      await client.delete(`${db}/old?rev=${rev}&batch=ok`),
    ];
    const ids = ['posted', 'put', 'old'];
    answers.forEach((answer, i) => {
      assertOk(answer, 202);
      assert.deepEqual(answer.body, { ok: true, id: ids[i] });
    });
    assertOk(await client.post(`${db}/_ensure_full_commit`), 201);
    assertOk(await client.get(`${db}/posted`), 200);
    assertOk(await client.get(`${db}/put`), 200);
    assertRefused(await client.get(`${db}/old`), 404);
  });

  test('POST without an id gives the id that the document will have', async () => {
    const db = await newDb(client);
    const { body } = await client.post(`${db}?batch=ok`, { n: 1 });
    await client.post(`${db}/_ensure_full_commit`);
    assert.equal((await client.get(`${db}/${body.id}`)).body.n, 1);
  });

  test('writes are saved by themselves after a while', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a?batch=ok`, {});
    for (let tries = 0; tries < 50; tries++) {
      if ((await client.get(`${db}/a`)).status === 200) return;
      await sleep(100);
    }
    assert.fail('the document was not saved');
  });

  test('a conflict is not told, and does no harm to the others', async () => {
    const db = await newDb(client);
    await client.put(`${db}/taken`, { n: 1 });
    assertOk(await client.put(`${db}/taken?batch=ok`, { n: 2 }), 202);
    assertOk(await client.put(`${db}/free?batch=ok`, {}), 202);
    assertOk(await client.post(`${db}/_ensure_full_commit`), 201);
    assert.equal((await client.get(`${db}/taken`)).body.n, 1);
    assertOk(await client.get(`${db}/free`), 200);
  });

  test('what can be seen to be wrong at once is refused at once', async () => {
    const db = await newDb(client);
    assertRefused(await client.put(`${db}/a?batch=ok`, { _bad: 1 }), 400);
    assertRefused(await client.send('PUT', `${db}/a?batch=ok`, { raw: '{' }), 400);
  });
});

describe('X-Svc-Full-Commit', () => {
  for (const value of ['true', 'false']) {
    test(`POST /{db} takes ${value}, and the document is there`, async () => {
      const db = await newDb(client);
      const answer = await client.post(db, { _id: 'a' }, { 'x-svc-full-commit': value });
      assert.ok([201, 202].includes(answer.status), answer.text);
      if (value === 'true') assert.equal(answer.status, 201);
      assert.equal((await client.get(`${db}/a`)).body._rev, answer.body.rev);
    });
  }
});

test('batch=ok is answered with 202 and no revision for a replicated revision too', async () => {
  const db = await newDb(client);
  const answer = await client.put(`${db}/a?batch=ok&new_edits=false`, { _rev: '3-c' });
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.body, { ok: true, id: 'a' });
  assert.equal((await client.get(`${db}/a`)).body._rev, '3-c');
});
