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
    assertRefused(await client.get(`${db}/_changes?filter=d/`), 400, 'bad_request');
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
