import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('rows nest no deeper than documents: a function that emits others skips the document', async () => {
  const db = await newDb(client);
  const nested = 'function nested(n) { var v = []; for (var i = 1; i < n; i++) v = [v]; return v }';
  const views = {
    keys: { map: `function(doc){ emit(nested(doc.n), 1) }; ${nested}`, reduce: '_count' },
    values: { map: `function(doc){ emit(doc.n, nested(doc.n)); emit(0, 0) }; ${nested}` },
    others: { map: 'function(doc){ emit(doc.n) }' },
  };
  assertOk(await client.put(`${db}/_design/d`, { views }), 201);
  const depths = [1, 999, 1000, 1001, 5000, 20000];
  const docs = depths.map((n) => ({ _id: String(n), n }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  const idsOf = async (query: string): Promise<string[]> => {
    const answer = await client.get(`${db}/_design/d/_view/${query}`);
    assertOk(answer, 200);
    return (answer.body.rows as { id: string }[]).map(({ id }) => id);
  };
  assert.deepEqual((await idsOf('keys?reduce=false')).sort(), ['1', '1000', '999']);
  assert.deepEqual((await idsOf('values?key=0')).sort(), ['1', '1000', '999']);
  assert.equal((await idsOf('others')).length, depths.length);
  const grouped = await client.get(`${db}/_design/d/_view/keys?group=true`);
  assert.equal(grouped.body.rows.length, 3);
  // A document that is changed comes and goes by the same rule.
  const { _rev } = (await client.get(`${db}/1001`)).body;
  assertOk(await client.put(`${db}/1001`, { _rev, n: 3 }), 201);
  assert.equal((await idsOf('keys?reduce=false')).length, 4);
});
