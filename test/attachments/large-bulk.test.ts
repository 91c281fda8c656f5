import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });

/** Together more than a request may hold in memory. */
const many = Array.from({ length: 3_000 }, (_, n) => ({ _id: `doc${n}`, text: 'x'.repeat(3_500) }));

test('one bad stub refuses a large bulk request as a whole', async () => {
  const db = await newDb(client);
  const docs = [...many, { _id: 'bad', _attachments: { f: { stub: true } } }];
  assertRefused(await client.post(`${db}/_bulk_docs`, { docs }), 412, 'missing_stub');
  assert.equal((await client.get(db)).body.doc_count, 0);
});

test('stubs and new attachments go through a large bulk request', async () => {
  const db = await newDb(client);
  const data = Buffer.from('kept').toString('base64');
  const first = await client.put(`${db}/old`, { _attachments: { f: { data } } });
  assertOk(first, 201);
  const old = { _id: 'old', _rev: first.body.rev as string, _attachments: { f: { stub: true } } };
  const docs = [...many, old, { _id: 'new', _attachments: { g: { data } } }];
  const answer = await client.post(`${db}/_bulk_docs`, { docs });
  assertOk(answer, 201);
  assert.equal((answer.body as unknown[]).length, docs.length);
  for (const path of ['old/f', 'new/g']) {
    assert.equal((await client.get(`${db}/${path}`)).status, 200, path);
  }
  assert.equal((await client.get(db)).body.doc_count, many.length + 2);
});
