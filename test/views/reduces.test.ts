import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

async function reduced(reduce: string, docs: object[], query = ''): Promise<unknown> {
  const db = await newDb(client);
  const saved = await client.put(`${db}/_design/d`, {
    views: { v: { map: 'function (doc) { emit(doc.k, doc.v) }', reduce } },
  });
  assert.equal(saved.status, 201, saved.text);
  await client.post(`${db}/_bulk_docs`, { docs });
  return (await client.get(`${db}/_design/d/_view/v${query}`)).body.rows;
}

const many = Array.from({ length: 3_000 }, (_, n) => ({ k: n, v: (n * 7919) % 3_001 }));
const whole = (value: unknown): unknown => [{ key: null, value }];

test('_first and _last give the values of the rows at the ends of the range', async () => {
  assert.deepEqual(await reduced('_first', many, '?startkey=10'), whole((10 * 7919) % 3_001));
  assert.deepEqual(await reduced('_last', many, '?endkey=2500'), whole((2_500 * 7919) % 3_001));
});

test('_top_N and _bottom_N give the largest and smallest values, the most extreme first', async () => {
  const values = many.map(({ v }) => v).sort((a, b) => a - b);
  assert.deepEqual(await reduced('_top_3', many), whole(values.slice(-3).reverse()));
  assert.deepEqual(await reduced('_bottom_3', many), whole(values.slice(0, 3)));
});

test('equal values are among the largest and smallest once, in each group too', async () => {
  const docs = [3, 1, 3, 2, 2, 1, 0].map((v, n) => ({ k: [n % 2, n], v }));
  assert.deepEqual(await reduced('_top_2', docs), whole([3, 2]));
  assert.deepEqual(await reduced('_bottom_10', docs, '?group_level=1'), [
    { key: [0], value: [0, 2, 3] },
    { key: [1], value: [1, 2] },
  ]);
  assert.deepEqual(await reduced('_last', docs, '?group_level=1'), [
    { key: [0], value: 0 },
    { key: [1], value: 1 },
  ]);
  assert.deepEqual(await reduced('_first', docs, '?group_level=1&descending=true'), [
    { key: [1], value: 1 },
    { key: [0], value: 3 },
  ]);
});

const wrongRanks = {
  _top_0: 'The rank of a reduce must be between 1 and 100.',
  _top_101: 'The rank of a reduce must be between 1 and 100.',
  '_bottom_-1': 'The rank of a reduce must be between 1 and 100.',
  _bottom_: 'The rank of a reduce must be a whole number.',
  _top_5x: 'The rank of a reduce must be a whole number.',
  _median: '`_median` is not a supported reduce function.',
};

for (const [name, reason] of Object.entries(wrongRanks)) {
  test(`${name} is refused when the design document is saved`, async () => {
    const db = await newDb(client);
    const views = { v: { map: 'function (doc) {}', reduce: name } };
    const { status, body } = await client.put(`${db}/_design/d`, { views });
    assert.deepEqual(
      { status, body },
      {
        status: 400,
        body: { error: 'invalid_design_doc', reason },
      },
    );
  });
}

test('_approx_count_distinct is within a few per cent of the number of different keys', async () => {
  const docs = Array.from({ length: 20_000 }, (_, n) => ({ k: `key${n % 5_000}`, v: null }));
  const rows = (await reduced('_approx_count_distinct', docs)) as { value: number }[];
  const error = Math.abs(rows[0]!.value - 5_000) / 5_000;
  assert.ok(error < 0.08, `${rows[0]!.value} of 5,000`);
  const few = docs.slice(0, 10);
  assert.deepEqual(await reduced('_approx_count_distinct', few), whole(10));
});

test('_sum adds objects member by member, however deep', async () => {
  const docs = [
    { k: 1, v: { a: 1, b: { c: [1, 2] } } },
    { k: 2, v: { a: 2, b: { c: [10], d: 5 } } },
  ];
  assert.deepEqual(await reduced('_sum', docs), whole({ a: 3, b: { c: [11, 2], d: 5 } }));
});

test('_stats over very many rows is what it is over each of them', async () => {
  const values = many.map(({ v }) => v);
  assert.deepEqual(
    await reduced('_stats', many),
    whole({
      sum: values.reduce((sum, v) => sum + v, 0),
      count: values.length,
      min: Math.min(...values),
      max: Math.max(...values),
      sumsqr: values.reduce((sum, v) => sum + v * v, 0),
    }),
  );
});
