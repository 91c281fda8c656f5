import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
for (const fields of [['company'], ['manager'], ['company', 'manager']])
  await client.post(`${db}/_index`, { index: { fields }, name: fields.join('_and_') });
await client.post(`${db}/_bulk_docs`, {
  docs: Array.from({ length: 60 }, (_, n) => ({ _id: `d${n}`, company: `c${n}`, manager: n % 20 === 0 })),
});

interface Explained {
  index: { name: string; type: string };
  covering: boolean;
  mrargs: { start_key: unknown; end_key: unknown };
  ranges?: unknown[];
}

async function explain(selector: object, fields?: string[], options = {}): Promise<Explained> {
  return (await client.post(`${db}/_explain`, { selector, fields, ...options })).body as Explained;
}

test('an index with more of the fields is taken, also behind a range', async () => {
  const selector = { company: { $gt: null }, manager: true };
  const plan = await explain(selector, ['company']);
  assert.equal(plan.index.name, 'company_and_manager');
  assert.equal(plan.covering, true);
  const body = { selector, fields: ['company'], execution_stats: true };
  const found = await client.post(`${db}/_find`, body);
  assert.equal(found.body.docs.length, 3);
  assert.equal(found.body.execution_stats.total_docs_examined, 0);
});

test('any index serves an $or without alternatives that finds nothing, or where documents must not be scanned', async () => {
  const selectors: [object, number][] = [
    [{ $or: [] }, 0],
    [{ $or: [], a: { $in: [] } }, 0],
    [{ $or: [], _id: 'd1' }, 1],
    [{ $and: [{ $or: [] }] }, 60],
    [{ $or: [{ company: 'c1', manager: true }, { $or: [] }] }, 60],
  ];
  for (const [selector, count] of selectors) {
    const text = JSON.stringify(selector);
    assert.equal((await explain(selector, undefined, { allow_fallback: false })).index.type, 'json', text);
    if (count === 0) assert.equal((await explain(selector)).index.type, 'json', text);
    const body = { selector, allow_fallback: false, limit: 100 };
    assert.equal((await client.post(`${db}/_find`, body)).body.docs.length, count, text);
  }
  for (const selector of [{ $and: [] }, { $nor: [] }, { $nor: [{ $or: [] }] }])
    assert.equal((await explain(selector)).index.type, 'special', JSON.stringify(selector));
});

test('an index serves an $or without alternatives where the documents have another order', async () => {
  const other = await newDb(client);
  await client.post(`${other}/_index`, { index: { fields: ['s', 'n'] }, name: 'sn' });
  await client.post(`${other}/_bulk_docs`, {
    docs: [
      { _id: 'a', s: 2, n: 1 },
      { _id: 'b', s: 1, n: 1 },
    ],
  });
  const body = { selector: { $or: [], v: { $exists: false } }, sort: ['s'] };
  const found = await client.post(`${other}/_find`, body);
  assert.deepEqual(
    found.body.docs.map(({ _id }: { _id: string }) => _id),
    ['b', 'a'],
  );
  const refused = await client.post(`${other}/_find`, { ...body, selector: { m: 5 } });
  assert.equal(refused.body.error, 'no_usable_index');
});

test('an index without fields has every document and serves every query without a sort', async () => {
  const other = await newDb(client);
  await client.post(`${other}/_index`, { index: { fields: [] }, name: 'all' });
  await client.post(`${other}/_index`, { index: { fields: ['n'] }, name: 'n' });
  await client.post(`${other}/_bulk_docs`, { docs: [{ _id: 'a', n: 1 }, { _id: 'b' }, { _id: 'c', n: 2 }] });
  const indexOf = async (body: object): Promise<unknown> =>
    (await client.post(`${other}/_explain`, body)).body.index.name;
  assert.equal(await indexOf({ selector: {} }), 'all');
  assert.equal(await indexOf({ selector: { m: 1 } }), 'all');
  assert.equal(await indexOf({ selector: { n: 1 } }), 'n');
  assert.equal(await indexOf({ selector: { n: { $gt: 0 } }, sort: ['n'] }), 'n');
  const first = (await client.post(`${other}/_find`, { selector: {}, limit: 2 })).body;
  const second = (await client.post(`${other}/_find`, { selector: {}, bookmark: first.bookmark })).body;
  assert.deepEqual(
    [...first.docs, ...second.docs].map(({ _id }) => _id as string),
    ['a', 'b', 'c'],
  );
});

test('of fields that can not match, only the first by name decides which index suits', async () => {
  const impossible = { $gt: 2, $lt: 1 };
  const named = async (selector: object): Promise<string> => (await explain(selector)).index.name;
  assert.equal(await named({ company: 1, manager: impossible }), 'manager');
  assert.equal(await named({ manager: impossible, company: impossible }), 'company');
});

test('a bookmark behind the range of the query is refused as keys in the wrong order are', async () => {
  const find = (body: object) => client.post(`${db}/_find`, body);
  const ascending = { sort: ['company'] };
  const descending = { sort: [{ company: 'desc' }] };
  for (const [order, allowed, refused] of [
    [ascending, { $gte: 'c5' }, { $lte: 'c4' }],
    [descending, { $lte: 'c5' }, { $gte: 'c6' }],
  ] as const) {
    const one = await find({ selector: { company: 'c5' }, ...order });
    const { bookmark } = one.body;
    assert.equal((await find({ selector: { company: allowed }, bookmark, ...order })).status, 200);
    const behind = await find({ selector: { company: refused }, bookmark, ...order });
    assert.equal(behind.status, 400);
    assert.equal(behind.body.error, 'query_parse_error');
    const isDescending = order === descending;
    assert.match(behind.body.reason, new RegExp(`or set descending=${!isDescending}$`));
    const scattered = await find({ selector: { company: { $in: ['c1', 'c8'] } }, bookmark, ...order });
    assert.equal(scattered.status, 200);
  }
});

const rangesExplained: [object, unknown, unknown, unknown?][] = [
  [{ company: 'c1' }, ['c1'], ['c1', '<MAX>']],
  [{ company: { $gte: 'c1', $lt: 'c5' } }, ['c1'], ['c5', '<MAX>']],
  [{ company: { $in: ['c1', 'c2'] } }, [], ['<MAX>'], 3],
  [{ $or: [{ company: 'c1' }, { company: 'c9' }] }, [], ['<MAX>'], 2],
  [{ company: { $gt: 'c1' }, manager: true }, ['c1', true], ['<MAX>'], 1],
  [{ company: { $lt: 'c1' }, manager: true }, [], ['c1', true, '<MAX>'], 1],
  [{ company: { $gt: 'c5', $lt: 'c1' } }, null, null],
  [{ company: { $beginsWith: 'c' } }, ['c'], ['c\uffff', '<MAX>']],
  [{ _id: { $in: ['a', 'b'] } }, null, '<MAX>', 2],
  [{ _id: { $gt: 'a' } }, 'a', '<MAX>'],
  [{ _id: { $gt: null } }, null, '<MAX>'],
  [{ _id: null }, null, null],
];

test('mrargs of _explain has the one range that CouchDB would read, `ranges` what is read instead', async () => {
  for (const [selector, start, end, ranges] of rangesExplained) {
    const shown = await explain(selector);
    const text = JSON.stringify(selector);
    assert.deepEqual([shown.mrargs.start_key, shown.mrargs.end_key], [start, end], text);
    assert.equal(shown.ranges?.length, ranges, text);
  }
});

test('the rows that were read are counted, and one behind a full page', async () => {
  const stats = async (body: object): Promise<unknown> =>
    (await client.post(`${db}/_find`, { ...body, execution_stats: true })).body.execution_stats;
  const keys = async (body: object): Promise<unknown> =>
    ((await stats(body)) as { total_keys_examined: number }).total_keys_examined;
  assert.equal(await keys({ selector: { none: 1 } }), 60 + 3);
  assert.equal(await keys({ selector: { company: { $gt: 'c' } }, use_index: 'nothing', limit: 5 }), 6);
  assert.equal(await keys({ selector: { company: { $gt: 'c' } }, limit: 60 }), 60);
});

test('nothing is at other paths below _index, whatever the method', async () => {
  for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS', 'TRACE']) {
    for (const path of ['a', 'a/b', 'a/b/c/d', 'a/b/c/d/e'])
      assert.equal((await client.send(method, `${db}/_index/${path}`)).status, 404, `${method} ${path}`);
    if (method !== 'POST')
      assert.equal((await client.send(method, `${db}/_index/_bulk_delete`)).status, 405, method);
  }
});

test('where no index serves, _find says so before it says that no index was named', async () => {
  const body = { selector: { other: 1 }, sort: ['other'], allow_fallback: false };
  const errors = async (query: object): Promise<unknown[]> => {
    const answers = await Promise.all([
      client.post(`${db}/_find`, query),
      client.post(`${db}/_explain`, query),
    ]);
    return answers.map((answer) => [answer.status, answer.body.error]);
  };
  assert.deepEqual(await errors(body), [
    [400, 'no_usable_index'],
    [400, 'invalid_index'],
  ]);
  assert.deepEqual(await errors({ ...body, use_index: 'nope' }), [
    [400, 'no_usable_index'],
    [400, 'invalid_index'],
  ]);
});
