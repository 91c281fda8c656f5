import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('indexes of the same fields and different names have design documents of their own', async () => {
  const db = await newDb(client);
  const index = { fields: ['a'] };
  const made = async (name?: string): Promise<{ id: string; name: string; result: string }> =>
    (await client.post(`${db}/_index`, { index, name })).body;
  const [one, other, unnamed] = [await made('one'), await made('other'), await made()];
  assert.equal(new Set([one.id, other.id, unnamed.id]).size, 3);
  assert.deepEqual(await made('one'), { ...one, result: 'exists' });
  assert.equal((await client.delete(`${db}/_index/${one.id}/json/one`)).status, 200);
  const { body } = await client.get(`${db}/_index`);
  assert.deepEqual((body.indexes as { name: string }[]).map(({ name }) => name).sort(), [
    '_all_docs',
    ...[other.name, unnamed.name].sort(),
  ]);
  assert.equal((await client.get(`${db}/${one.id}`)).status, 404);
});

test('an empty name is refused before anything else that is wrong with an index', async () => {
  const db = await newDb(client);
  for (const wrong of [
    { index: { fields: 3 }, name: '' },
    { index: 'a', ddoc: '' },
    { index: {}, type: 'x', name: '' },
  ]) {
    const { status, body } = await client.post(`${db}/_index`, wrong);
    assert.deepEqual([status, body.error], [400, 'invalid_empty_string']);
  }
});

test('what else a request says of an index tells generated names apart', async () => {
  const db = await newDb(client);
  const index = { fields: ['a'] };
  const made = async (options: object): Promise<{ name: string; result: string }> =>
    (await client.post(`${db}/_index`, { index, ...options })).body;
  const plain = await made({});
  assert.equal(plain.result, 'created');
  assert.deepEqual(await made({ w: 2 }), { ...plain, result: 'exists' });
  for (const options of [{ w: 1 }, { partitioned: false }]) {
    const other = await made(options);
    assert.equal(other.result, 'created');
    assert.notEqual(other.name, plain.name);
  }
});
