import assert from 'node:assert/strict';
import test from 'node:test';
import { assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
await client.post(`${db}/_bulk_docs`, {
  docs: [
    { _id: 'a', city: 'London', age: 36, pay: 1.5 },
    { _id: 'b', city: 'London', age: 41 },
    { _id: 'c', city: 'Berlin', age: 'old', pay: 2 },
    { _id: 'd', age: 7, pay: null },
    { _id: 'e', city: null, age: 8 },
  ],
});

const aggregate = async (body: object): Promise<unknown> =>
  (await client.post(`${db}/_find`, body)).body.groups as unknown;

test('groups have the values of their fields, and what is reckoned', async () => {
  const values = {
    people: { $count: true },
    paid: { $count: 'pay' },
    total: { $sum: 'pay' },
    mean: { $avg: 'age' },
    least: { $min: 'age' },
    most: { $max: 'age' },
  };
  assert.deepEqual(await aggregate({ selector: {}, aggregate: { group_by: ['city'], values } }), [
    { people: 1, paid: 1, total: 0, mean: 7, least: 7, most: 7 },
    { city: null, people: 1, paid: 0, total: 0, mean: 8, least: 8, most: 8 },
    { city: 'Berlin', people: 1, paid: 1, total: 2, mean: null, least: 'old', most: 'old' },
    { city: 'London', people: 2, paid: 1, total: 1.5, mean: 38.5, least: 36, most: 41 },
  ]);
});

test('without fields to group by there is one group, also of nothing', async () => {
  const reckon = { values: { n: { $count: true }, oldest: { $max: 'age' }, last: { $max: '_id' } } };
  assert.deepEqual(await aggregate({ selector: { city: 'London' }, aggregate: reckon }), [
    { n: 2, oldest: 41, last: 'b' },
  ]);
  assert.deepEqual(await aggregate({ selector: { city: 'Rome' }, aggregate: reckon }), [
    { n: 0, oldest: null, last: null },
  ]);
});

test('count tells how many match, whatever the page shows, with and without an index', async () => {
  const counted = await newDb(client);
  const docs = Array.from({ length: 100 }, (_, n) => ({ n, half: n % 2 }));
  await client.post(`${counted}/_bulk_docs`, { docs });
  const queries = [
    { selector: { n: { $gte: 40 } } },
    { selector: { half: 1, n: { $lt: 10 } } },
    { selector: { half: { $in: [0, 1] }, n: { $gt: 0 } } },
    { selector: {} },
  ];
  const counts = async (): Promise<number[]> => {
    const found = queries.map((query) =>
      client.post(`${counted}/_find`, { ...query, count: true, limit: 3, skip: 1 }),
    );
    return (await Promise.all(found)).map(({ body }) => {
      assert.equal(body.docs.length, 3);
      return body.count as number;
    });
  };
  assert.deepEqual(await counts(), [60, 5, 99, 100]);
  for (const fields of [['n'], ['half', 'n']]) await client.post(`${counted}/_index`, { index: { fields } });
  assert.deepEqual(await counts(), [60, 5, 99, 100]);
});

test('what can not be reckoned is refused', async () => {
  const refused = [
    5,
    {},
    { values: {} },
    { values: { a: 1 } },
    { values: { a: { $median: 'x' } } },
    { values: { a: { $sum: 1 } } },
    { values: { a: { $sum: 'x', $min: 'x' } } },
    { values: { a: { $count: true } }, group_by: 'a' },
    { values: { a: { $count: true } }, group_by: ['a'] },
    { values: { a: { $count: true } }, more: 1 },
  ];
  for (const each of refused)
    assertRefused(
      await client.post(`${db}/_find`, { selector: {}, aggregate: each }),
      400,
      'invalid_aggregate',
    );
  const values = { a: { $count: true } };
  for (const extra of [{ sort: ['a'] }, { fields: ['a'] }, { limit: 1 }, { skip: 1 }, { bookmark: null }])
    assertRefused(
      await client.post(`${db}/_find`, { selector: {}, aggregate: { values }, ...extra }),
      400,
      'invalid_aggregate',
    );
  assertRefused(await client.post(`${db}/_find`, { selector: {}, count: 1 }), 400, 'invalid_boolean');
});

test('a document that has changed since its row was made is held against the selector', async () => {
  const changing = await newDb(client);
  const docs = Array.from({ length: 20 }, (_, n) => ({ _id: `d${n}`, n }));
  const saved = (await client.post(`${changing}/_bulk_docs`, { docs })).body as unknown as { rev: string }[];
  await client.post(`${changing}/_index`, { index: { fields: ['n'] } });
  const query = { selector: { n: { $gte: 15 } }, fields: ['_id', 'other'] };
  const ids = async (update: boolean): Promise<unknown> =>
    ((await client.post(`${changing}/_find`, { ...query, update })).body.docs as { _id: string }[]).map(
      ({ _id }) => _id,
    );
  assert.deepEqual(await ids(true), ['d15', 'd16', 'd17', 'd18', 'd19']);
  await client.put(`${changing}/d16`, { _rev: saved[16]!.rev, n: 1 });
  await client.put(`${changing}/d18`, { _rev: saved[18]!.rev, n: 18.5 });
  assert.deepEqual(await ids(false), ['d15', 'd17', 'd18', 'd19']);
  assert.deepEqual(await ids(true), ['d15', 'd17', 'd18', 'd19']);
});
