import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

interface Row {
  id: string;
  key: string;
  value: number;
}

const map = 'function (doc) { for (var i = 0; i < doc.rows; i++) emit(doc.key, i); }';

test('rows of one key and document keep their order when a view is read backwards', async () => {
  const client = await startServer();
  const db = await newDb(client, '?q=2');
  await client.put(`${db}/_design/d`, { views: { v: { map } } });
  const sizes = { a: 4, b: 1, c: 3, d: 1, e: 6 };
  const docs = Object.entries(sizes).map(([_id, rows]) => ({ _id, rows, key: 'k' }));
  await client.post(`${db}/_bulk_docs`, { docs });
  const expected = Object.entries(sizes)
    .toReversed()
    .flatMap(([id, rows]) => Array.from({ length: rows }, (_, value) => ({ id, key: 'k', value })));

  for (let skip = 0; skip <= expected.length; skip++) {
    for (const limit of [1, 2, 5, 100]) {
      const path = `${db}/_design/d/_view/v?descending=true&skip=${skip}&limit=${limit}`;
      const { rows } = (await client.get(path)).body as { rows: Row[] };
      assert.deepEqual(rows, expected.slice(skip, skip + limit), path);
    }
  }
});

test('the same holds where a listing is sent in pieces, with and without documents', async () => {
  const client = await startServer();
  const db = await newDb(client, '?q=1');
  await client.put(`${db}/_design/d`, { views: { v: { map } } });
  await client.put(`${db}/a`, { rows: 3, key: 'k' });
  await client.put(`${db}/b`, { rows: 8_000, key: 'k' });
  const expected = [
    ...Array.from({ length: 8_000 }, (_, value) => `b ${value}`),
    ...Array.from({ length: 3 }, (_, value) => `a ${value}`),
  ];

  for (const more of ['', '&include_docs=true', '&include_docs=true&attachments=true&skip=11']) {
    const { rows } = (await client.get(`${db}/_design/d/_view/v?descending=true${more}`)).body as {
      rows: Row[];
    };
    const skipped = more.endsWith('11') ? 11 : 0;
    assert.deepEqual(
      rows.map(({ id, value }) => `${id} ${value}`),
      expected.slice(skipped),
    );
  }
});
