import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

// Read when the server starts: its commands are encoded, divided and delivered twice.
process.env['TUFFET_ENCODED_COMMANDS'] = '1';
const client = await startServer({
  dataDir: temporaryFolder(),
  config: { couchdb: { max_document_size: '30000000' } },
});

test('a document of 20 MB is stored, changed and read', { timeout: 120_000 }, async () => {
  const db = await newDb(client);
  const doc = { text: 'ä'.repeat(10_000_000) };
  const answer = await client.put(`${db}/large`, doc);
  assertOk(answer, 201);
  assertRefused(await client.put(`${db}/large`, doc), 409, 'conflict');
  assertOk(await client.put(`${db}/large`, { ...doc, _rev: answer.body.rev, changed: true }), 201);
  const { body } = await client.get(`${db}/large`);
  assert.equal(body.changed, true);
  assert.ok(body.text === doc.text);
});

test('a bulk of 5,000 documents has a row for each', { timeout: 120_000 }, async () => {
  const db = await newDb(client);
  const docs = Array.from({ length: 5_000 }, (_, n) => ({ _id: `d${n % 4_999}`, pad: 'x'.repeat(n % 900) }));
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  assert.equal(body.length, 5_000);
  for (const [n, row] of body.entries())
    assert.equal(row.ok ?? row.error, n < 4_999 ? true : 'conflict', `row ${n}`);
  assert.equal((await client.get(db)).body.doc_count, 4_999);
});
