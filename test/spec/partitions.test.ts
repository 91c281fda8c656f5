import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, assertTypes } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client, '?partitioned=true');
const docs = ['eu:a', 'eu:b', 'us:a'].map((_id, n) => ({ _id, n }));
await client.post(`${db}/_bulk_docs`, { docs });
await client.put(`${db}/_design/d`, { views: { n: { map: 'function (doc) { emit(doc.n, null); }' } } });

const idsOf = (answer: Answer, list: 'rows' | 'docs', member: 'id' | '_id'): string[] => {
  assertOk(answer, 200);
  return (answer.body[list] as Record<string, string>[]).map((each) => each[member]!);
};

describe('Partitioned databases', () => {
  test('keys that are no ids of documents here are refused before anything is sent', async () => {
    for (const key of ['x', 3, null, []]) {
      assertRefused(await client.post(`${db}/_all_docs`, { keys: [key, 'eu:a'] }), 400, 'illegal_docid');
      const queries = [{ keys: [key, 'eu:a'] }];
      assertRefused(await client.post(`${db}/_all_docs/queries`, { queries }), 400, 'illegal_docid');
    }
    const { body } = await client.post(`${db}/_all_docs`, { keys: ['_design/d', 'eu:none'] });
    assert.deepEqual(
      body.rows.map(({ key, error }: { key: string; error?: string }) => [key, error]),
      [
        ['_design/d', undefined],
        ['eu:none', 'not_found'],
      ],
    );
  });

  test('GET /{db}/_partition/{partition_id} tells what the partition holds', async () => {
    const answer = await client.get(`${db}/_partition/eu`);
    assertOk(answer, 200);
    assertTypes(answer.body, {
      db_name: 'string',
      partition: 'string',
      doc_count: 'number',
      doc_del_count: 'number',
      'sizes.active': 'number',
      'sizes.external': 'number',
    });
    assert.equal(answer.body.partition, 'eu');
    assert.equal(answer.body.doc_count, 2);
  });

  test('of parameters given twice the first counts, and ids beside the bounds mean nothing', async () => {
    const ids = async (parameters: string): Promise<string[]> =>
      idsOf(await client.get(`${db}/_partition/eu/_all_docs?${parameters}`), 'rows', 'id');
    assert.deepEqual(await ids('limit=1&limit=2'), ['eu:a']);
    assert.deepEqual(await ids('startkey_docid=eu:b'), ['eu:a', 'eu:b']);
    assert.deepEqual(await ids('endkey_docid=eu:a'), ['eu:a', 'eu:b']);
    const view = await client.get(`${db}/_partition/eu/_design/d/_view/n?skip=1&skip=0`);
    assert.deepEqual(idsOf(view, 'rows', 'id'), ['eu:b']);
  });

  test('limits that are too large and partitions that contradict the path are refused', async () => {
    const path = `${db}/_partition/eu/_all_docs`;
    assertRefused(await client.get(`${path}?limit=268435457`), 400, 'query_parse_error');
    assertRefused(await client.get(`${path}?partition=`), 400, 'bad_request');
    assertRefused(await client.post(path, { partition: '' }), 400, 'illegal_partition');
    assertOk(await client.post(path, { partition: 'us' }), 200);
  });

  test('COPY and forms look at their headers before the id', async () => {
    for (const method of ['COPY', 'POST'])
      assertRefused(await client.send(method, `${db}/x`), 400, 'bad_request');
    const headers = { destination: 'eu:y' };
    assertRefused(await client.send('COPY', `${db}/x`, { headers }), 400, 'illegal_docid');
  });

  test('an index says whether it has partitions where the request did', async () => {
    const made = async (ddoc: string, more: object = {}) =>
      await client.post(`${db}/_index`, { index: { fields: ['n'] }, ddoc, name: ddoc, ...more });
    assertOk(await made('silent'), 200);
    assert.equal((await client.get(`${db}/_design/silent`)).body.options, undefined);
    assertOk(await made('global', { partitioned: false }), 200);
    assert.deepEqual((await client.get(`${db}/_design/global`)).body.options, { partitioned: false });
    assertRefused(await made('global', { name: 'other' }), 400, 'invalid_partitioned_option');
    for (const ddoc of ['silent', 'global']) await client.delete(`${db}/_index/${ddoc}/json/${ddoc}`);
  });

  test('_all_docs has the documents of the partition alone', async () => {
    assert.deepEqual(idsOf(await client.get(`${db}/_partition/eu/_all_docs`), 'rows', 'id'), [
      'eu:a',
      'eu:b',
    ]);
    const page = await client.get(`${db}/_partition/eu/_all_docs?descending=true&limit=1&include_docs=true`);
    assert.deepEqual(idsOf(page, 'rows', 'id'), ['eu:b']);
    assert.equal(page.body.rows[0].doc.n, 1);
  });

  test('a view has the rows of the partition alone', async () => {
    const path = `${db}/_partition/us/_design/d/_view/n`;
    assert.deepEqual(idsOf(await client.get(path), 'rows', 'id'), ['us:a']);
  });

  test('several queries in one request have the rows of the partition alone', async () => {
    for (const path of ['_all_docs', '_design/d/_view/n']) {
      const queries = [{ limit: 1 }, { descending: true }];
      const answer = await client.post(`${db}/_partition/eu/${path}/queries`, { queries });
      assertOk(answer, 200);
      const results = answer.body.results as { rows: { id: string }[] }[];
      assert.deepEqual(
        results.map(({ rows }) => rows.map(({ id }) => id)),
        [['eu:a'], ['eu:b', 'eu:a']],
      );
    }
  });

  test('_find and _explain are restricted to the partition', async () => {
    const query = { selector: { n: { $gte: 0 } } };
    assert.deepEqual(idsOf(await client.post(`${db}/_partition/eu/_find`, query), 'docs', '_id'), [
      'eu:a',
      'eu:b',
    ]);
    const { body } = await client.post(`${db}/_partition/eu/_explain`, query);
    assert.equal(body.index.name, '_all_docs');
    assert.equal(body.opts.partition, 'eu');
  });

  test('ids have the form partition:rest', async () => {
    for (const id of ['plain', ':x', 'eu:', 'eu:_x'])
      assertRefused(await client.put(`${db}/${encodeURIComponent(id)}`, {}), 400);
    assertRefused(await client.post(db, {}), 400, 'illegal_docid');
  });

  test('ids without a partition cannot be looked for; others that no document can have are not found', async () => {
    const ask = (id: string): Promise<Answer[]> => {
      const path = `${db}/${encodeURIComponent(id)}`;
      return Promise.all([
        client.get(path),
        client.send('DELETE', `${path}?rev=1-a`),
        client.get(`${path}/file`),
        client.send('PUT', `${path}/file?rev=1-a`, { raw: Buffer.from('x') }),
        client.post(`${db}/_revs_diff`, { [id]: ['1-a'] }),
        client.post(`${db}/_purge`, { [id]: ['1-a'] }),
        client.post(`${db}/_all_docs`, { keys: ['eu:a', id] }),
      ]);
    };
    for (const answer of await ask('plain')) assertRefused(answer, 400, 'illegal_docid');
    for (const id of [':x', 'eu:', 'eu:_x', '_x', '_eu:x']) {
      const statuses = (await ask(id)).map(({ status }) => status);
      assert.deepEqual(statuses, [404, 404, 404, 409, 200, 201, 200], id);
    }
  });
});
