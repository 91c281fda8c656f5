import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const limits = { query_limit: '3', partition_query_limit: '2' };
const client = await startServer({
  config: { chttpd_auth: { iterations: '100' }, query_server_config: limits },
});
const db = await newDb(client, '?partitioned=true');
const docs = Array.from({ length: 5 }, (_, n) => ({ _id: `p:${n}` }));
const all = { map: 'function (doc) { emit(doc._id); }' };
const design = { _id: '_design/d', options: { partitioned: false }, views: { all } };
await client.post(`${db}/_bulk_docs`, { docs: [...docs, design, { _id: '_design/part', views: { all } }] });

const view = `${db}/_design/d/_view/all`;
const cases: [path: string, most: number][] = [
  [`${db}/_all_docs`, 3],
  [view, 3],
  [`${db}/_partition/p/_all_docs`, 2],
  [`${db}/_partition/p/_design/part/_view/all`, 2],
];

for (const [path, most] of cases) {
  test(`${path.slice(db.length)} gives at most ${most} rows, and refuses a larger limit`, async () => {
    assert.equal((await client.get(path)).body.rows.length, most);
    assert.equal((await client.get(`${path}?limit=${most - 1}`)).body.rows.length, most - 1);
    const { status, body } = await client.get(`${path}?limit=${most + 1}`);
    assert.equal(status, 400);
    assert.deepEqual(body, {
      error: 'query_parse_error',
      reason: `Limit is too large, must not exceed ${most}`,
    });
  });
}

test('the limits hold for queries in a body, too', async () => {
  for (const path of [view, `${db}/_all_docs`]) {
    const { body } = await client.post(`${path}/queries`, { queries: [{}, { limit: 1 }] });
    assert.deepEqual(
      (body.results as { rows: unknown[] }[]).map(({ rows }) => rows.length),
      [3, 1],
    );
    assert.equal((await client.post(`${path}/queries`, { queries: [{ limit: 4 }] })).status, 400);
  }
});
