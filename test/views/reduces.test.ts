import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

async function reduced(reduce: string, docs: object[], query = '', shards = ''): Promise<unknown> {
  const db = await newDb(client, shards);
  const saved = await client.put(`${db}/_design/d`, {
    views: { v: { map: 'function (doc) { emit(doc.k, doc.v) }', reduce } },
  });
  assert.equal(saved.status, 201, saved.text);
  await client.post(`${db}/_bulk_docs`, { docs });
  return (await client.get(`${db}/_design/d/_view/v${query}`)).body.rows;
}

const many = Array.from({ length: 3_000 }, (_, n) => ({ k: n, v: (n * 7919) % 3_001 }));
/** Where the order of additions shows: documents of several shards are added shard by shard. */
const oneShard = '?q=1';
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

test('_approx_count_distinct estimates what CouchDB 3.4.3 estimates', async () => {
  // Up to some 1,800 keys; the numbers are what it answered.
  const estimates: [number, (n: number) => unknown][] = [
    [252, (n) => n % 250],
    [406, (n) => n * 1000],
    [401, (n) => -n * 7 - 1],
    [403, (n) => 2 ** 33 + n],
    [398, (n) => n / 7 + 0.01],
    [390, (n) => `k${n}`],
    [386, (n) => `é日${n}`],
    [395, (n) => ['a', n]],
    [385, (n) => [n % 250, n >> 3]],
    [2, (n) => (n % 3 === 0 ? {} : [])],
    [403, (n) => ({ a: n })],
    [395, (n) => ({ a: n, b: [true, null, false] })],
    [404, (n) => (n + 1) * 1e21],
    [396, (n) => 2 ** 60 + n * 4096],
  ];
  const docs = estimates.flatMap(([, keyOf], kind) =>
    Array.from({ length: 400 }, (_, n) => ({ kind, key: keyOf(n) })),
  );
  const db = await newDb(client);
  const viewOf = (kind: number): object => ({
    map: `function (doc) { if (doc.kind === ${kind}) emit(doc.key, null) }`,
    reduce: '_approx_count_distinct',
  });
  const views = Object.fromEntries(estimates.map((_, kind) => [`v${kind}`, viewOf(kind)]));
  assert.equal((await client.put(`${db}/_design/d`, { views })).status, 201);
  assert.equal((await client.post(`${db}/_bulk_docs`, { docs })).status, 201);
  for (const [kind, [estimate, keyOf]] of estimates.entries()) {
    const { rows } = (await client.get(`${db}/_design/d/_view/v${kind}`)).body;
    assert.deepEqual(rows, whole(estimate), JSON.stringify(keyOf(1)));
  }
});

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

test('_sum keeps what stands alone as it is, and refuses to add what is no number', async () => {
  const alone = { name: 'x', n: 1 };
  assert.deepEqual(await reduced('_sum', [{ k: 1, v: alone }]), whole(alone));
  const others = [
    { k: 1, v: alone },
    { k: 2, v: { n: 2, other: null } },
  ];
  assert.deepEqual(await reduced('_sum', others), whole({ name: 'x', n: 3, other: null }));
  assert.deepEqual(await reduced('_sum', [{ k: 1, v: [] }]), whole([0]));
  assert.deepEqual(await reduced('_sum', [{ k: 1, v: [1, 'x'] }]), whole([1, 'x']));
  for (const pair of [
    [alone, alone],
    [1, alone],
    [[1], [[1]]],
    [['x']],
    ['x'],
    [
      [1, 'x'],
      [1, 1],
    ],
  ]) {
    const docs = pair.map((v, k) => ({ k, v }));
    const [row] = (await reduced('_sum', docs)) as { value: { error: string } }[];
    assert.equal(row!.value.error, 'builtin_reduce_error', JSON.stringify(pair));
  }
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

test('sums of fractions begin at the last row, as those of CouchDB', async () => {
  const docs = [0.1, 0.2, 0.3].map((v, k) => ({ k, v }));
  assert.deepEqual(await reduced('_sum', docs, '', oneShard), whole(0.6));
  assert.deepEqual(await reduced('_sum', docs, '?descending=true', oneShard), whole(0.6));
  const [{ value }] = (await reduced('_stats', docs, '', oneShard)) as [{ value: { sum: number } }];
  assert.equal(value.sum, 0.6);
});

test('_stats takes ready statistics in arrays too', async () => {
  const ready = { sum: 5, count: 2, min: 1, max: 4, sumsqr: 17 };
  const one = { sum: 1, count: 1, min: 1, max: 1, sumsqr: 1 };
  assert.deepEqual(await reduced('_stats', [{ k: 1, v: [ready, 1] }]), whole([ready, one]));
  const two = [1, 2].map((k) => ({ k, v: [ready] }));
  assert.deepEqual(await reduced('_stats', two), whole([{ ...ready, sum: 10, count: 4, sumsqr: 34 }]));
});

test('_sum tells what could not be added: of lists the rest of the total', async () => {
  const causes = async (...values: unknown[]): Promise<unknown> => {
    const rows = await reduced(
      '_sum',
      values.map((v, k) => ({ k, v })),
      '',
      oneShard,
    );
    return (rows as [{ value: { caused_by: unknown } }])[0].value.caused_by;
  };
  assert.deepEqual(await causes([1, [2, 3]], [4, [5, 6]]), [[5, 6]]);
  assert.deepEqual(await causes([{ a: 1 }]), [0]);
  assert.deepEqual(await causes({ a: 'x' }, { a: 1 }), 'x');
  assert.deepEqual(await causes('x', 1), 'x');
});
