import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

/** Which of several values counts, and what is looked at first: as CouchDB 3.4.3 has it. */
const client = await startServer();
const unknownRev = '1-00000000000000000000000000000000';

test('writes take the first of several revisions, reads the last', async () => {
  const db = await newDb(client);
  const { rev } = (await client.put(`${db}/a`, {})).body as { rev: string };
  assert.equal((await client.get(`${db}/a?rev=${unknownRev}&rev=${rev}`)).status, 200);
  assert.equal((await client.delete(`${db}/a?rev=${unknownRev}&rev=${rev}`)).status, 409);
  assert.equal((await client.delete(`${db}/a?rev=${rev}&rev=${unknownRev}`)).status, 200);
});

test('writes take the first of several words for batch', async () => {
  const db = await newDb(client);
  assert.equal((await client.put(`${db}/a?batch=ok&batch=no`, {})).status, 202);
  assert.equal((await client.put(`${db}/b?batch=no&batch=ok`, {})).status, 201);
});

test('changes take the first of several views and lists of ids, and the last filter', async () => {
  const db = await newDb(client);
  const views = {
    a: { map: 'function (doc) { if (doc.a) emit(1) }' },
    b: { map: 'function (doc) { if (doc.b) emit(1) }' },
  };
  await client.put(`${db}/_design/d`, { views });
  await client.post(`${db}/_bulk_docs`, {
    docs: [
      { _id: 'a', a: 1 },
      { _id: 'b', b: 1 },
    ],
  });
  for (const query of [
    'filter=_view&view=d/a&view=d/b',
    'filter=_view&view=d/a&view=d/none',
    'filter=_doc_ids&doc_ids=["a"]&doc_ids=["b"]',
    'filter=_design&filter=_view&view=d/a',
  ]) {
    const { results } = (await client.get(`${db}/_changes?${query}`)).body as { results: { id: string }[] };
    assert.deepEqual(
      results.map(({ id }) => id),
      ['a'],
      query,
    );
  }
  assert.equal((await client.get(`${db}/_changes?filter=_view&view=d/none&view=d/a`)).status, 404);
});

test('of several values none may be malformed, in any order', async () => {
  const db = await newDb(client);
  await client.put(`${db}/a`, {});
  await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(1) }' } } });
  for (const [path, name, right, wrong] of [
    ['_all_docs', 'limit', '1', 'x'],
    ['_design/d/_view/v', 'skip', '1', '1.5'],
    ['_changes', 'heartbeat', 'true', 'x'],
    ['a', 'rev', unknownRev, 'x'],
    ['a', 'open_revs', 'all', 'x'],
    ['a', 'atts_since', '[]', '{}'],
  ] as const)
    for (const [first, second] of [
      [right, wrong],
      [wrong, right],
    ]) {
      const { status } = await client.get(`${db}/${path}?${name}=${first}&${name}=${second}`);
      assert.equal(status, 400, `${path} ${name} ${first} ${second}`);
    }
  assert.equal((await client.get('/_all_dbs?limit=x&limit=1')).status, 400);
});

test('a document that is missing is told before a malformed revision', async () => {
  const db = await newDb(client);
  assert.equal((await client.delete(`${db}/none?rev=x`)).status, 404);
});

test('limits may be larger than any exact number', async () => {
  const db = await newDb(client);
  for (const name of ['_revs_limit', '_purged_infos_limit']) {
    assert.equal((await client.put(`${db}/${name}`, 1e20)).status, 200, name);
    assert.equal((await client.put(`${db}/${name}`, -1)).status, 400, name);
  }
});

test('pages of replications beyond the last begin at its end, and signs are read', async () => {
  const { body: json } = await client.get('/_scheduler/jobs?skip=%2B5&limit=%2B2');
  assert.deepEqual(json, { total_rows: 0, offset: 0, jobs: [] });
  assert.equal((await client.get('/_scheduler/docs?states=&states=x')).status, 200);
  assert.equal((await client.get('/_scheduler/docs?skip=-1')).status, 400);
  assert.equal((await client.get('/_scheduler/docs?skip=x')).status, 400);
});

test('very many parameters take no longer where one is given twice', async () => {
  const db = await newDb(client, '?partitioned=true');
  const names = Array.from({ length: 14_000 }, (_, n) => n.toString(36)).join('&');
  const msOf = async (more: string): Promise<number> => {
    const begun = performance.now();
    assert.equal((await client.get(`${db}/_partition/a/_all_docs?${names}${more}`)).status, 200);
    return performance.now() - begun;
  };
  await msOf('');
  const once = await msOf('&aaaa');
  const twice = await msOf('&aaaa&aaaa');
  assert.ok(twice < 6 * once + 100, `${once} ms and ${twice} ms`);
});
