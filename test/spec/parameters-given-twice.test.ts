import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const rows = ['1', '2', '3'].map((_id) => ({ _id, k: _id === '3' ? 'b' : 'a' }));
await client.post(`${db}/_bulk_docs`, { docs: rows });
await client.put(`${db}/_design/d`, {
  views: { k: { map: 'function (doc) { emit(doc.k, null); }' } },
  filters: { all: 'function () { return true; }' },
});

describe('Parameters that meet each other', () => {
  test('of two revisions in a query neither may be malformed', async () => {
    const { body } = await client.get(`${db}/1`);
    for (const second of ['y', ''])
      assertRefused(
        await client.put(`${db}/1?rev=${body._rev}&rev=${second}`, { k: 'a' }),
        400,
        'bad_request',
      );
    assertOk(await client.put(`${db}/1?rev=${body._rev}&rev=2-y`, { k: 'a' }), 201);
  });

  test('of two values the last one counts, and only it must fit the listing', async () => {
    const listing = async (query: string) => client.get(`${db}/_all_docs?${query}`);
    for (const query of [
      'reduce=true&reduce=false',
      'group=true&group=false',
      'group_level=1&group_level=0',
      'keys=["1","2"]&keys=[]&startkey="1"',
      'startkey="3"&startkey="1"&endkey="2"',
    ])
      assertOk(await listing(query), 200);
    assertRefused(await listing('reduce=false&reduce=true'), 400, 'query_parse_error');
    assertRefused(await listing('reduce=x&reduce=false'), 400, 'query_parse_error');
    assertOk(await client.get(`${db}/_design/d/_view/k?reduce=true&reduce=false`), 200);
  });

  test('one key in the query of a listing by POST is a key, and contradicts keys in the body', async () => {
    const path = `${db}/_all_docs?keys=["2"]`;
    const { body } = await client.post(path, {});
    assert.deepEqual([body.offset, body.rows.length], [1, 1]);
    assertRefused(await client.post(path, { keys: ['1', '3'] }), 400, 'query_parse_error');
  });

  test('the last document of each key is left out where the end is not included', async () => {
    const idsOf = async (parameters: string): Promise<string[]> => {
      const { body } = await client.get(`${db}/_design/d/_view/k?keys=["a","b"]&${parameters}`);
      return (body.rows as { id: string }[]).map(({ id }) => id);
    };
    assert.deepEqual(await idsOf('endkey_docid=2'), ['1', '2']);
    assert.deepEqual(await idsOf('endkey_docid=2&inclusive_end=false'), ['1']);
    assert.deepEqual(await idsOf('startkey_docid=2&inclusive_end=false'), ['2', '3']);
  });

  test('a filter has a name behind the slash', async () => {
    assertOk(await client.get(`${db}/_changes?filter=d/all`), 200);
    for (const name of ['d/', '/d', 'd', '/d/', 'd/all/more'])
      assertRefused(await client.get(`${db}/_changes?filter=${name}`), 400, 'bad_request');
    for (const name of ['d//all', '/d/all', 'd/all/', '/'])
      assertOk(await client.get(`${db}/_changes?filter=${name}`), 200);
  });

  test('ids of documents stand in the body where there is one', async () => {
    const path = `${db}/_changes?filter=_doc_ids&doc_ids=["1"]`;
    assertRefused(await client.post(path, {}), 400, 'bad_request');
    const { body } = await client.post(path, { doc_ids: ['2', '2'] });
    assert.deepEqual(
      body.results.map(({ id }: { id: string }) => id),
      ['2'],
    );
  });

  test('an empty list of fields shows whole documents', async () => {
    const asked = { selector: { _id: '1' }, fields: [] as string[] };
    const path = `${db}/_changes?filter=_selector&include_docs=true`;
    const { body } = await client.post(path, asked);
    assert.equal(body.results[0].doc.k, 'a');
    const some = await client.post(path, { ...asked, fields: ['k'] });
    assert.deepEqual(some.body.results[0].doc, { k: 'a' });
  });
});
