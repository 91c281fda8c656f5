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
