import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const ids = ['a', 'b', 'c', '_design/x', '_design/y', '_local/m', '_local/n'];
const revs = new Map<string, string>();
for (const id of ids) revs.set(id, (await client.put(`${db}/${id}`, {})).body.rev);

describe('View rows', () => {
  const listed: [name: string, wanted: string[], total: number | null][] = [
    ['_all_docs', ['_design/x', '_design/y', 'a', 'b', 'c'], 5],
    ['_design_docs', ['_design/x', '_design/y'], 2],
    ['_local_docs', ['_local/m', '_local/n'], null],
  ];
  for (const [name, wanted, total] of listed) {
    const missing = `${wanted[0]}-missing`;

    test(`${name} lists its own documents only, each with id, key and the rev in the value`, async () => {
      const answer = await client.get(`${db}/${name}`);
      assertOk(answer, 200);
      assert.deepEqual(
        answer.body.rows,
        wanted.map((id) => ({ id, key: id, value: { rev: revs.get(id) } })),
      );
      assert.equal(answer.body.total_rows, total);
      assert.equal(answer.body.offset, total === null ? null : 0);
    });

    test(`${name} has a Content-Type and an ETag that changes with the documents`, async () => {
      const answer = await client.get(`${db}/${name}`);
      assert.equal(answer.headers['content-type'], 'application/json');
      assert.match(answer.headers.etag ?? '', /^"[^"]+"$/);
      assert.equal((await client.get(`${db}/${name}`)).headers.etag, answer.headers.etag);
      const same = await client.get(`${db}/${name}`, { 'if-none-match': answer.headers.etag! });
      assertOk(same, 304);
      const { rev } = (await client.put(`${db}/${wanted[0]}`, { _rev: revs.get(wanted[0]!) })).body;
      revs.set(wanted[0]!, rev);
      const changed = await client.get(`${db}/${name}`, { 'if-none-match': answer.headers.etag! });
      assertOk(changed, 200);
      assert.notEqual(changed.headers.etag, answer.headers.etag);
    });

    test(`${name}: a key that does not exist has a row with key and error and no id`, async () => {
      const keys = [wanted[1], missing, wanted[0]];
      const answer = await client.post(`${db}/${name}`, { keys });
      assertOk(answer, 200);
      assert.deepEqual(
        answer.body.rows.map(({ key }: { key: string }) => key),
        keys,
      );
      assert.deepEqual(answer.body.rows[1], { key: missing, error: 'not_found' });
    });

    test(`${name}/queries answers each query, in their order`, async () => {
      const queries = [{ limit: 1 }, { keys: [missing, wanted[0]] }, { descending: true, limit: 1 }];
      const answer = await client.post(`${db}/${name}/queries`, { queries });
      assertOk(answer, 200);
      const { results } = answer.body;
      assert.equal(results.length, 3);
      assert.equal(results[0].rows[0].id, wanted[0]);
      assert.deepEqual(results[1].rows[0], { key: missing, error: 'not_found' });
      assert.equal(results[1].rows[1].id, wanted[0]);
      assert.equal(results[2].rows[0].id, wanted.at(-1));
      for (const { total_rows } of results) assert.equal(total_rows, total);
    });

    test(`${name}/queries refuses a body without a list of queries`, async () => {
      for (const body of [{}, { queries: 'x' }, { queries: null }, { queries: ['x'] }]) {
        assertRefused(await client.post(`${db}/${name}/queries`, body), 400);
      }
    });

    test(`HEAD of ${name} has the headers only`, async () => {
      const answer = await client.head(`${db}/${name}`);
      assertOk(answer, 200);
      assert.equal(answer.text, '');
    });
  }

  test('POST _all_docs without keys gives every row', async () => {
    assert.equal((await client.post(`${db}/_all_docs`, {})).body.rows.length, 5);
  });

  test('total_rows counts the database and not the rows, offset the rows before', async () => {
    const { body } = await client.get(`${db}/_all_docs?skip=2&limit=1`);
    assert.deepEqual([body.total_rows, body.offset, body.rows.length], [5, 2, 1]);
  });

  test('rows are skipped beyond the end of a range, up to the end of the listing', async () => {
    const home = await newDb(client);
    await client.post(`${home}/_bulk_docs`, { docs: ['a', 'b', 'c', 'd', 'e'].map((_id) => ({ _id })) });
    const offsetOf = async (query: string): Promise<number> =>
      (await client.get(`${home}/_all_docs?${query}`)).body.offset;
    assert.equal(await offsetOf('startkey="b"&endkey="c"&skip=1'), 2);
    assert.equal(await offsetOf('startkey="b"&endkey="c"&skip=3'), 4);
    assert.equal(await offsetOf('key="bb"&skip=1'), 3);
    assert.equal(await offsetOf('key="b"&skip=20'), 5);
    assert.equal(await offsetOf('startkey="d"&endkey="c"&descending=true&skip=3'), 4);
  });

  test('a deleted document is listed only by its key', async () => {
    const home = await newDb(client);
    const { rev } = (await client.put(`${home}/gone`, {})).body;
    const last = (await client.delete(`${home}/gone?rev=${rev}`)).body.rev;
    assert.deepEqual((await client.get(`${home}/_all_docs`)).body.rows, []);
    const { rows } = (await client.post(`${home}/_all_docs?include_docs=true`, { keys: ['gone'] })).body;
    assert.deepEqual(rows, [{ id: 'gone', key: 'gone', value: { rev: last, deleted: true }, doc: null }]);
  });

  test('ids are in the order of their bytes', async () => {
    const home = await newDb(client);
    const mixed = ['B', 'a', '10', '9', 'é', '日', '😀', '\uff5e', 'a b', 'ab', ' '];
    await client.post(`${home}/_bulk_docs`, { docs: mixed.map((_id) => ({ _id })) });
    const { rows } = (await client.get(`${home}/_all_docs`)).body;
    const sorted = [...mixed].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(
      rows.map(({ id }: { id: string }) => id),
      sorted,
    );
  });
});

describe('The conflicts parameter', () => {
  const rivals = ['2-a', '2-b'].map((rev) => ({
    _id: 'd',
    _revisions: { start: 2, ids: [rev.slice(2), 'root'] },
    _rev: rev,
  }));

  test('adds _conflicts to the documents, only with include_docs', async () => {
    const home = await newDb(client);
    await client.post(`${home}/_bulk_docs`, { docs: rivals, new_edits: false });
    const shown = await client.get(`${home}/_all_docs?include_docs=true&conflicts=true`);
    assert.deepEqual(shown.body.rows[0].doc._conflicts, ['2-a']);
    const off = await client.get(`${home}/_all_docs?include_docs=true`);
    assert.equal(off.body.rows[0].doc._conflicts, undefined);
    const ignored = await client.get(`${home}/_all_docs?conflicts=true`);
    assert.deepEqual(ignored.body.rows, [{ id: 'd', key: 'd', value: { rev: '2-b' } }]);
  });
});

test('keys of one among several queries that are no array are a query_parse_error', async () => {
  const home = await newDb(client);
  for (const path of ['_all_docs', '_design_docs', '_local_docs']) {
    const answer = await client.post(`${home}/${path}/queries`, { queries: [{ limit: 1 }, { keys: 'a' }] });
    assertRefused(answer, 400, 'query_parse_error');
    assertRefused(await client.post(`${home}/${path}`, { keys: 'a' }), 400, 'bad_request');
  }
});
