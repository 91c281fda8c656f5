import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
await client.post(`${db}/_bulk_docs`, { docs: ['a', 'b', 'c', 'd'].map((_id) => ({ _id })) });
await client.put(`${db}/_design/d`, {
  views: { v: { map: 'function (doc) { emit(1); emit(2); emit(3); }', reduce: '_count' } },
});

async function rows(query: string): Promise<unknown[]> {
  const { body } = await client.post(`${db}/_design/d/_view/v?${query}`, { keys: [1, 3] });
  return (body.rows as { id?: string; key: unknown; value: unknown }[]).map(({ id, key, value }) =>
    id === undefined ? [key, value] : `${key as number}${id}`,
  );
}

test('with several keys, ids of documents bound the rows of each of them', async () => {
  assert.deepEqual(await rows('reduce=false&startkey_docid=b&endkey_docid=c'), ['1b', '1c', '3b', '3c']);
  assert.deepEqual(await rows('reduce=false&startkey_docid=d'), ['1d', '3d']);
  assert.deepEqual(await rows('reduce=false&descending=true&startkey_docid=b'), ['3b', '3a', '1b', '1a']);
  assert.deepEqual(await rows('group=true&endkey_docid=b'), [
    [1, 2],
    [3, 2],
  ]);
});

test('_info tells the sequence of an index as a number', async () => {
  const { body } = await client.get(`${db}/_design/d/_info`);
  assert.equal(body.view_index.update_seq, 5);
});
