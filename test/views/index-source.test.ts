import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

/** The documents that an index of some fields has. */
async function found(db: string, fields: string[]): Promise<string[]> {
  const name = fields.join();
  assertOk(await client.post(`${db}/_index`, { index: { fields }, ddoc: name, name }), 200);
  const selector = Object.fromEntries(fields.map((field) => [field, { $gt: null }]));
  const query = { selector, fields: ['_id'], use_index: [name, name], allow_fallback: false };
  const answer = await client.post(`${db}/_find`, query);
  assertOk(answer, 200);
  return (answer.body['docs'] as { _id: string }[]).map(({ _id }) => _id);
}

test('indexes have members of the body and those that the server adds', async () => {
  const db = await newDb(client);
  const attachment = { data: 'aGVsbG8=', content_type: 'text/plain' };
  assertOk(await client.put(`${db}/a`, { n: 1, deep: { list: [1, 2] } }), 201);
  assertOk(
    await client.put(`${db}/b`, { n: 2, deep: { list: [3] }, _attachments: { file: attachment } }),
    201,
  );
  assertOk(await client.put(`${db}/c`, { n: 3, note: 'x'.repeat(5_000) }), 201);
  assertOk(await client.put(`${db}/d`, {}), 201);
  assert.deepEqual(await found(db, ['n']), ['a', 'b', 'c']);
  assert.deepEqual(await found(db, ['deep.list.0']), ['a', 'b']);
  assert.deepEqual(await found(db, ['_id', 'n']), ['a', 'b', 'c']);
  assert.deepEqual(await found(db, ['_attachments.file.length']), ['b']);
  assert.deepEqual(await found(db, ['n', '_rev']), ['a', 'b', 'c']);
});

test('changes that take more room than is read at a time are all indexed', async () => {
  const db = await newDb(client, '?q=1');
  const long = 'k'.repeat(16_000);
  const deleted = Array.from({ length: 200 }, (_, n) => ({ _id: `${long}${n}`, _deleted: true }));
  const docs = [...deleted, { _id: 'last', n: 1 }];
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  assert.deepEqual(await found(db, ['n']), ['last']);
});
