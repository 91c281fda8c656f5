import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const docs = Array.from({ length: 6 }, (_, n) => ({ _id: `d${n}`, n }));
await client.post(`${db}/_bulk_docs`, { docs });
const map = 'function (doc) { emit(doc.n, doc.n) }';
await client.put(`${db}/_design/d`, { views: { rows: { map }, sums: { map, reduce: '_sum' } } });
const rows = `${db}/_design/d/_view/rows`;
const sums = `${db}/_design/d/_view/sums`;

async function keysOf(path: string, body?: object): Promise<number[]> {
  const answer = body === undefined ? await client.get(path) : await client.post(path, body);
  assert.equal(answer.status, 200, answer.text);
  return (answer.body.rows as { key: number }[]).map(({ key }) => key);
}

async function refusal(path: string, body?: object): Promise<string> {
  const answer = body === undefined ? await client.get(path) : await client.post(path, body);
  assert.equal(answer.status, 400, answer.text);
  return `${answer.body.error}: ${answer.body.reason}`;
}

const incompatible = 'query_parse_error: `keys` is incompatible with `key`, `start_key` and `end_key`';
const multiKey = 'query_parse_error: Multi-key fetches for reduce views must use `group=true`';

test('key sets both bounds, and what comes later moves them again', async () => {
  assert.deepEqual(await keysOf(`${rows}?startkey=1&key=3`), [3]);
  assert.deepEqual(await keysOf(`${rows}?key=1&endkey=3`), [1, 2, 3]);
  assert.deepEqual(await keysOf(`${rows}?startkey=1&endkey=4&keys=[2]`), [2]);
  assert.deepEqual(await keysOf(`${rows}?key=1`, { key: 2, endkey: 3 }), [1]);
  assert.deepEqual(await keysOf(rows, { startkey: 1, key: 3 }), [3]);
});

test('an empty list of keys finds nothing, whatever the bounds; a longer one goes with none', async () => {
  assert.deepEqual(await keysOf(`${rows}?keys=[]&startkey=1`), []);
  assert.deepEqual(await keysOf(rows, { keys: [], key: 1 }), []);
  assert.match(await refusal(`${rows}?keys=[]&startkey=2&endkey=1`), /No rows can match/);
  assert.equal(await refusal(`${rows}?keys=[1,2]&endkey=3`), incompatible);
  assert.equal(await refusal(rows, { keys: [1, 2], startkey: null }), incompatible);
});

test('a list of one key replaces a key before it, in a listing of ids too, where it is no text', async () => {
  assert.deepEqual(await keysOf(`${rows}?key=1&keys=[3]`), [3]);
  const { body } = await client.get(`${db}/_all_docs?key="gone"&keys=[["a"]]`);
  assert.deepEqual(body.rows, [{ key: ['a'], error: 'not_found' }]);
});

test('keys that are no list are refused', async () => {
  const noList = 'query_parse_error: `keys` must be an array of strings.';
  for (const value of ['1', 'null', '{}', '"x"'])
    assert.equal(await refusal(`${rows}?keys=${value}`), noList);
  assert.equal(await refusal(`${rows}/queries`, { queries: [{ keys: 1 }] }), noList);
  for (const keys of [1, null, {}, 'x'])
    assert.equal(await refusal(rows, { keys }), 'bad_request: `keys` member must be an array.');
});

test('keys that are no JSON are told first, keys that are no list last', async () => {
  const noJson = 'bad_request: invalid UTF-8 JSON';
  const noBoolean = 'query_parse_error: Invalid boolean parameter: "null"';
  assert.equal(await refusal(`${rows}?reduce=null&keys=`), noJson);
  assert.equal(await refusal(`${db}/_design/d/_view/none?reduce=null&keys=[`), noJson);
  assert.equal(await refusal(`${rows}?reduce=null&keys=`, {}), noBoolean);
  assert.equal(await refusal(`${rows}?keys=5&reduce=null`), noBoolean);
  assert.equal((await client.get(`${db}/_design/d/_view/none?keys=5`)).status, 404);
  assert.deepEqual(await keysOf(`${rows}?keys=5&keys=[1,2]`), [1, 2]);
});

test('lists of keys of a reduced view need group=true, empty ones too', async () => {
  assert.equal(await refusal(`${sums}?keys=[1,2]`), multiKey);
  assert.equal(await refusal(`${sums}?keys=[]`), multiKey);
  assert.equal(await refusal(`${sums}?keys=[1,2]&group_level=1`), multiKey);
  assert.equal(await refusal(`${sums}?keys=[1,2]&include_docs=true`), multiKey);
  assert.deepEqual(await keysOf(`${sums}?keys=[]&group=true`), []);
  assert.deepEqual((await client.get(`${sums}?keys=[4]`)).body.rows, [{ key: null, value: 4 }]);
});

test('a group_level counts beside group=true, and 0 is one', async () => {
  assert.deepEqual(await keysOf(`${sums}?group=true&group_level=0`), [null]);
  assert.deepEqual(await keysOf(`${sums}?group_level=0&group=true`), [null]);
  assert.equal((await keysOf(`${sums}?group=true`)).length, 6);
  assert.equal(
    await refusal(`${rows}?reduce=true&group=false&group_level=1`),
    "query_parse_error: Can't specify group=false and group_level>0 at the same time",
  );
});

test('conflicts are for rows only', async () => {
  const reason = 'query_parse_error: `conflicts` is invalid for reduce views.';
  for (const value of ['true', 'false']) assert.equal(await refusal(`${sums}?conflicts=${value}`), reason);
  assert.equal((await keysOf(`${sums}?conflicts=true&reduce=false`)).length, 6);
});

test('the address of several queries tells what is the same for all, but not their keys and groups', async () => {
  const body = { queries: [{}, { group: true, limit: 2 }, { group_level: 1, skip: 4 }, { key: 3 }] };
  const path = `${sums}/queries?group=true&keys=[1,2]&limit=1`;
  const { status, body: answer } = await client.post(path, body);
  assert.equal(status, 200);
  const found = answer.results.map((each: { rows: { key: number; value: number }[] }) =>
    each.rows.map(({ key, value }) => [key, value]),
  );
  const expected = [[[null, 15]], [[0, 0], [1, 1]], [[4, 4]], [[null, 3]]]; // prettier-ignore
  assert.deepEqual(found, expected);
});

test('several queries must come as JSON, each an object, in a list', async () => {
  const plain = { headers: { 'content-type': 'text/plain' }, raw: '{"queries":[{}]}' };
  const answer = await client.send('POST', `${rows}/queries`, plain);
  assert.deepEqual([answer.status, answer.body.error], [415, 'bad_content_type']);
  const noList = 'bad_request: `queries` member must be an array.';
  for (const queries of [null, 1, 'x', {}]) {
    assert.equal(await refusal(`${rows}/queries`, { queries }), noList);
    assert.equal(await refusal(rows, { queries }), noList);
  }
  assert.equal(
    await refusal(rows, { queries: [{}] }),
    'bad_request: The `queries` parameter is no longer supported at this endpoint',
  );
});

test('an answer to GET has a tag for its next time; one to POST has none, whatever tag it names', async () => {
  const { etag } = (await client.get(rows)).headers;
  assert.equal((await client.get(rows, { 'if-none-match': etag! })).status, 304);
  const byBody = await client.post(rows, { key: 2 }, { 'if-none-match': etag! });
  assert.deepEqual([byBody.status, byBody.body.rows.length, byBody.headers.etag], [200, 1, undefined]);
});

test('a value that names no document or revision that is there shows null, and breaks nothing', async () => {
  const linking = await newDb(client);
  const first = await client.put(`${linking}/target`, { is: 'old' });
  await client.put(`${linking}/target?rev=${first.body.rev}`, { is: 'new' });
  const mine = await client.put(`${linking}/links`, {});
  const links = [
    { _id: 'target' },
    { _id: 'target', _rev: first.body.rev },
    { _rev: mine.body.rev },
    { _id: 'target', _rev: 'nonsense' },
    { _id: 'target', _rev: '9-abc' },
    { _id: 'missing' },
    { _id: null },
    { _id: 5 },
    { _id: '' },
  ];
  await client.put(`${linking}/links?rev=${mine.body.rev}`, { is: 'mine', links });
  const by = 'function (doc) { (doc.links || []).forEach(function (link, i) { emit(i, link) }) }';
  await client.put(`${linking}/_design/d`, { views: { v: { map: by } } });
  const { status, body } = await client.get(`${linking}/_design/d/_view/v?include_docs=true`);
  assert.equal(status, 200);
  const shown = body.rows.map(
    ({ doc }: { doc: { is?: string; _rev: string } | null }) => doc && (doc.is ?? doc._rev),
  );
  assert.deepEqual(shown, ['new', 'old', mine.body.rev, null, null, null, null, null, null]);
});

test('temporary views are gone', async () => {
  const asked = await client.post(`${db}/_temp_view`, { map });
  assert.deepEqual([asked.status, asked.body.error], [410, 'gone']);
});

describe('what comes first', () => {
  test('a malformed parameter is told before a missing view', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/d`, {
      views: { n: { map: 'function (doc) { emit(doc.n); }' } },
      lists: { l: 'function () {}' },
    });
    for (const path of ['_view/none', '_list/l/none'])
      for (const query of ['limit=x', 'key=x', 'reduce=1'])
        assert.equal((await client.get(`${db}/_design/d/${path}?${query}`)).status, 400, `${path}?${query}`);
    assert.equal((await client.get(`${db}/_design/d/_view/none?limit=1`)).status, 404);
    assert.equal((await client.post(`${db}/_design/d/_view/none`, { skip: 'x' })).status, 400);
    assert.equal((await client.post(`${db}/_design/d/_view/n`, { startkey_docid: {} })).status, 200);
    const { status, body } = await client.post(`${db}/_design/d/_view/n`, { partition: [] });
    assert.equal(status, 400);
    assert.equal(body.error, 'illegal_partition');
  });

  test('the offset of several keys is that of the first row, and counts what is skipped', async () => {
    const db = await newDb(client, '?q=1');
    const docs = [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 3 }, {}].map((doc, at) => ({ _id: `d${at}`, ...doc }));
    await client.post(`${db}/_bulk_docs`, { docs });
    await client.put(`${db}/_design/d`, { views: { n: { map: 'function (doc) { emit(doc.n); }' } } });
    const offset = async (query: object): Promise<unknown> =>
      ((await client.post(`${db}/_design/d/_view/n`, query)).body as { offset: number }).offset;
    assert.equal(await offset({ keys: ['none', 3] }), 3);
    assert.equal(await offset({ keys: [2, 1] }), 2);
    assert.equal(await offset({ keys: [2, 3], skip: 2 }), 4);
    assert.equal(await offset({ keys: [1, 2], skip: 1, descending: true }), 3);
    assert.equal(await offset({ keys: ['none', 'x'] }), 5);
    assert.equal(await offset({ key: 1, skip: 3 }), 4);
    assert.equal(await offset({ keys: [1, 'x'], skip: 9 }), 5);
  });
});
