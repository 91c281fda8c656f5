import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerAreas } from '../support/answer-areas.js';
import { newDb, startServer } from '../support/server.js';

/** What CouchDB 3.4.3 answers where several things are unusual at once. */
const client = await startServer();
const area = answerAreas(client);

area(
  'Copies: a percent sign may stand for itself, and local documents have no revisions to copy',
  [{ _id: 'a' }, { _id: '_local/a' }],
  [
    { do: 'COPY ~/a', headers: { destination: '50%' }, status: 201, has: { id: '50%' } },
    { do: 'COPY ~/a', headers: { destination: '%zz%41' }, status: 201, has: { id: '%zzA' } },
    { do: 'COPY ~/_local/a?rev=0-1', headers: { destination: 'b' }, status: 404, has: { reason: 'missing' } },
    { do: 'COPY ~/_local/a', headers: { destination: 'b' }, status: 201 },
  ],
);

area(
  'Malformed documents are told of before a malformed new_edits',
  [],
  [
    {
      do: 'POST ~/_bulk_docs',
      json: { docs: [1], new_edits: 'x' },
      status: 400,
      has: { reason: 'Document must be a JSON object' },
    },
    {
      do: 'POST ~/_bulk_docs',
      json: { docs: [{ _id: '_x' }], new_edits: 1 },
      status: 400,
      has: { error: 'illegal_docid' },
    },
    {
      do: 'POST ~/_bulk_docs',
      json: { docs: [{}], new_edits: 1 },
      status: 400,
      has: { error: 'bad_request' },
    },
  ],
);

area(
  'What is missing, and who is told',
  [{ _id: '_design/d' }],
  [
    { do: 'POST /nosuch/_purge', json: {}, anonymous: true, status: 401 },
    { do: 'GET /nosuch/_purged_infos_limit', anonymous: true, status: 401 },
    { do: 'POST /nosuch/_sync_shards', anonymous: true, status: 401 },
    { do: 'POST /nosuch/_purge', json: {}, status: 404 },
    { do: 'POST /nosuch/_compact', anonymous: true, status: 404 },
    { do: 'PUT ~/_design/nope/_nope', status: 404, has: { reason: 'missing' } },
    { do: 'POST ~/_design/nope/_nope', status: 404, has: { reason: 'missing' } },
    { do: 'POST ~/_design/d/_nope', status: 405 },
    { do: 'PATCH ~/_partition/p/_all_docs', status: 400, has: { reason: 'database is not partitioned' } },
    { do: 'POST ~/_partition/p/_all_docs', status: 400, has: { reason: 'database is not partitioned' } },
    { do: 'PATCH ~/_partition/p', status: 405 },
    { do: 'GET /_session', headers: { cookie: 'AuthSession=YTpiOmM' }, status: 200 },
    { do: 'GET /_session', headers: { cookie: 'AuthSession=YTpiOmM=' }, status: 400 },
  ],
);

answerAreas(client, '?partitioned=true')(
  'Names of partitions are checked before methods',
  [],
  [
    { do: 'GET ~/_partition/_x/_find', status: 400, has: { error: 'illegal_partition' } },
    { do: 'GET ~/_partition/%ff', status: 400, has: { error: 'illegal_partition' } },
    { do: 'GET ~/_partition/p/_find', status: 405 },
  ],
);

test('semicolons divide the fields of a login too', async () => {
  const answer = await client.anonymous.send('POST', '/_session', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    raw: 'name=admin;password=secret',
  });
  assert.deepEqual([answer.status, answer.body.name], [200, 'admin']);
});

test('_all_docs finds local documents that are named, and only those', async () => {
  const db = await newDb(client);
  await client.put(`${db}/_local/a`, { n: 1 });
  const row = { id: '_local/a', key: '_local/a', value: { rev: '0-1' } };
  const missing = { key: '_local/b', error: 'not_found' };
  const keys = ['_local/a', '_local/b'];
  const { body } = await client.post(`${db}/_all_docs`, { keys });
  assert.deepEqual([body.total_rows, body.rows], [0, [row, missing]]);
  const { rows } = (await client.get(`${db}/_all_docs?include_docs=true&keys=["_local/a"]`)).body;
  assert.deepEqual(rows, [{ ...row, doc: { _id: '_local/a', _rev: '0-1', n: 1 } }]);
  assert.deepEqual((await client.get(`${db}/_all_docs?key="_local/a"`)).body.rows, []);
  assert.deepEqual((await client.post(`${db}/_design_docs`, { keys })).body.rows, []);
});
