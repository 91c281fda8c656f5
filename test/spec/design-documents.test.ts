import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const ddoc = {
  views: { v: { map: 'function(doc){ emit(doc.n, null) }' } },
  shows: {
    s: 'function(doc, req){ return doc ? doc._id : "none" }',
    format: `function(doc, req){ provides('html', function(){ return 'html' }); provides('json', function(){ return {json: 1} }) }`,
  },
  lists: { l: 'function(head, req){ var r, t = ""; while (r = getRow()) t += r.id; return t }' },
  updates: {
    u: `function(doc, req){ if (!doc) return [null, {code: 404, json: {error: 'missing', reason: 'no document'}}];
      doc.n = 5; return [doc, 'changed'] }`,
    make: `function(doc, req){ return [{_id: req.uuid, was: doc}, 'made'] }`,
  },
};
await client.put(`${db}/_design/d`, ddoc);
await client.put(`${db}/_design/other`, { views: ddoc.views });
await client.put(`${db}/a`, { n: 1 });

describe('Design documents', () => {
  test('HEAD, GET: the latest revision unless one is asked for', async () => {
    const { rev } = (await client.put(`${db}/_design/e`, { n: 1 })).body;
    await client.put(`${db}/_design/e`, { _rev: rev, n: 2 });
    assert.equal((await client.head(`${db}/_design/e`)).text, '');
    assert.equal((await client.get(`${db}/_design/e`)).body.n, 2);
    assert.equal((await client.get(`${db}/_design/e?rev=${rev}`)).body.n, 1);
  });

  test('PUT, COPY, DELETE: as documents', async () => {
    assertOk(await client.copy(`${db}/_design/d`, '_design/copy'), 201);
    const { body } = await client.get(`${db}/_design/copy`);
    assert.deepEqual(body.views, ddoc.views);
    assertRefused(await client.delete(`${db}/_design/copy`), 409, 'conflict');
    assertOk(await client.delete(`${db}/_design/copy?rev=${body._rev}`), 200);
  });

  test('attachments: HEAD, GET, PUT, DELETE', async () => {
    const put = await client.send('PUT', `${db}/_design/f/x.txt`, {
      raw: 'text',
      headers: { 'content-type': 'text/plain' },
    });
    assertOk(put, 201);
    assert.equal((await client.get(`${db}/_design/f/x.txt`)).text, 'text');
    assertOk(await client.head(`${db}/_design/f/x.txt`), 200);
    assertOk(await client.delete(`${db}/_design/f/x.txt?rev=${put.body.rev}`), 200);
  });

  test('_show with no document and with one, by GET and POST, with a signature', async () => {
    for (const method of ['GET', 'POST']) {
      assert.equal((await client.send(method, `${db}/_design/d/_show/s`)).text, 'none');
      const shown = await client.send(method, `${db}/_design/d/_show/s/a`);
      assert.deepEqual([shown.status, shown.text], [200, 'a']);
      assert.match(shown.headers.etag!, /^".+"$/);
    }
  });

  test('_list over a view of this design document and of another, by GET and POST, with a signature', async () => {
    for (const path of ['l/v', 'l/other/v']) {
      for (const method of ['GET', 'POST']) {
        const listed = await client.send(method, `${db}/_design/d/_list/${path}`, {
          ...(method === 'POST' ? { json: {} } : {}),
        });
        assert.deepEqual([listed.status, listed.text], [200, 'a']);
        assert.match(listed.headers.etag!, /^".+"$/);
      }
    }
  });

  test('format is used by provides', async () => {
    assert.equal((await client.get(`${db}/_design/d/_show/format?format=html`)).text, 'html');
    assert.equal((await client.get(`${db}/_design/d/_show/format?format=json`)).body, 1);
  });

  test('_update on no document and on one tells id and revision', async () => {
    const made = await client.post(`${db}/_design/d/_update/make`, {});
    assert.deepEqual([made.status, made.text], [201, 'made']);
    const id = made.headers['x-svc-id'] as string;
    assert.match(made.headers['x-svc-update-newrev'] as string, revOf(1));
    assert.equal((await client.get(`${db}/${id}`)).body.was, null);
    const changed = await client.put(`${db}/_design/d/_update/u/a`);
    assert.equal(changed.text, 'changed');
    assert.equal(changed.headers['x-svc-id'], 'a');
    assert.match(changed.headers['x-svc-update-newrev'] as string, revOf(2));
    assert.equal((await client.get(`${db}/a`)).body.n, 5);
  });

  test('an update function may give its own error', async () => {
    const answer = await client.put(`${db}/_design/d/_update/u/missing`);
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.body, { error: 'missing', reason: 'no document' });
    assert.equal(answer.headers['x-svc-id'], undefined);
  });
});
