import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

/** The same revision of a design document, with functions that tell which body they come from. */
const ddoc = (name: string): Record<string, unknown> => ({
  _id: '_design/d',
  _rev: '1-abc',
  shows: { s: `function () { return '${name}' }` },
  updates: { u: `function () { return [null, '${name}'] }` },
  lists: { l: `function () { while (getRow()) send('${name}') }` },
  filters: { f: `function (doc) { return doc._id === '${name}' }` },
  rewrites: `function () { return { code: 200, body: '${name}' } }`,
  views: { v: { map: `function (doc) { emit('${name}') }`, reduce: `function () { return '${name}' }` } },
  validate_doc_update: `function (doc) { if (doc.judged) throw { forbidden: '${name}' } }`,
});

async function push(client: HttpClient, db: string, doc: unknown): Promise<void> {
  assertOk(await client.post(`${db}/_bulk_docs`, { docs: [doc], new_edits: false }), 201);
}

/** What each kind of function says. */
async function codes(client: HttpClient, db: string): Promise<string[]> {
  const view = await client.get(`${db}/_design/d/_view/v?reduce=false&limit=1`);
  const reduced = await client.get(`${db}/_design/d/_view/v`);
  const changes = await client.get(`${db}/_changes?filter=d/f`);
  return [
    (await client.get(`${db}/_design/d/_show/s`)).text,
    (await client.post(`${db}/_design/d/_update/u`)).text,
    (await client.get(`${db}/_design/d/_list/l/v?reduce=false&limit=1`)).text,
    (await client.get(`${db}/_design/d/_rewrite/x`)).text,
    (await client.put(`${db}/judged`, { judged: true })).body.reason,
    view.body.rows[0].key,
    reduced.body.rows[0].value,
    changes.body.results.map(({ id }: { id: string }) => id).join(),
  ];
}

describe('the functions of a design document', () => {
  test('are those of its own server, where several in a process have the same revision', async () => {
    const servers = [
      { client: await startServer(), name: 'one' },
      { client: await startServer(), name: 'two' },
    ];
    for (const { client } of servers) assertOk(await client.put('/db'), 201);
    for (const { client, name } of servers) {
      for (const id of ['one', 'two']) assertOk(await client.put(`/db/${id}`, {}), 201);
      await push(client, '/db', ddoc(name));
    }
    for (const { client, name } of servers)
      assert.deepEqual(await codes(client, '/db'), Array<string>(8).fill(name));
  });

  test('follow the body where a purged revision comes back with another', async () => {
    const client = await startServer();
    const db = await newDb(client);
    for (const id of ['one', 'two']) assertOk(await client.put(`${db}/${id}`, {}), 201);
    let tag: string | undefined;
    for (const name of ['one', 'two', 'one']) {
      await push(client, db, ddoc(name));
      assert.deepEqual(await codes(client, db), Array<string>(8).fill(name));
      const shown = await client.get(
        `${db}/_design/d/_show/s`,
        tag === undefined ? {} : { 'if-none-match': tag },
      );
      assert.equal(shown.text, name);
      tag = shown.headers.etag;
      assertOk(await client.post(`${db}/_purge`, { '_design/d': ['1-abc'] }), 201);
      assertRefused(await client.get(`${db}/_design/d/_show/s`), 404);
    }
  });

  test('follow the body of a purged index for queries, too', async () => {
    const client = await startServer();
    const db = await newDb(client);
    assertOk(await client.put(`${db}/x`, { a: 1, b: 2 }), 201);
    for (const field of ['a', 'b', 'a']) {
      await push(client, db, {
        _id: '_design/q',
        _rev: '1-abc',
        language: 'query',
        views: {
          i: { map: { fields: { [field]: 'asc' } }, reduce: '_count', options: { def: { fields: [field] } } },
        },
      });
      const explained = await client.post(`${db}/_explain`, { selector: { [field]: { $gt: 0 } } });
      assert.deepEqual(explained.body.index.def.fields, [{ [field]: 'asc' }]);
      const found = await client.post(`${db}/_find`, { selector: { [field]: { $gt: 0 } } });
      assert.deepEqual(
        found.body.docs.map(({ _id }: { _id: string }) => _id),
        ['x'],
      );
      assertOk(await client.post(`${db}/_purge`, { '_design/q': ['1-abc'] }), 201);
    }
  });
});
