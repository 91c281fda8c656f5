import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('a list function over a reduce view takes keys with group=true only, also one key', async () => {
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, {
    views: { v: { map: 'function (doc) { emit(doc._id, 1); }', reduce: '_count' } },
    lists: { l: 'function () { while (getRow()); return "end"; }' },
  });
  const list = `${db}/_design/d/_list/l/v?keys=["a"]`;
  assertRefused(await client.get(list), 400, 'query_parse_error');
  assertOk(await client.get(`${list}&group=true`), 200);
  assertOk(await client.get(`${list}&reduce=false`), 200);
  assertOk(await client.get(`${db}/_design/d/_view/v?keys=["a"]`), 200);
});

test('POST /_replicate without a body is refused, whatever its type', async () => {
  for (const headers of [{}, { 'content-type': 'text/plain' }])
    assertRefused(await client.send('POST', '/_replicate', { headers }), 400, 'bad_request');
});

test('/_stats, which earlier versions had, is there for nobody', async () => {
  assertRefused(await client.as(null).get('/_stats'), 404, 'not_found');
  assertRefused(await client.as(null).get('/_others'), 401, 'unauthorized');
});

test('an empty history counts in place of the revision beside it', async () => {
  const db = await newDb(client);
  const { body } = await client.put(`${db}/a`, {});
  const revisions = { _rev: body.rev, _revisions: { start: 1, ids: [] } };
  assertRefused(await client.put(`${db}/a`, revisions), 409, 'conflict');
  assertRefused(await client.put(`${db}/b?new_edits=false`, revisions), 400, 'bad_request');
  assert.equal((await client.get(`${db}/a`)).body._rev, body.rev);
});
