import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { Random, seed } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';
import { kills } from './kills.js';

const docsCount = 6_000;
const rounds = kills(9);
const db = '/indexed';
const view = `${db}/_design/d/_view`;
/** Rows of several KB, so that an index is written in more than one commit. */
const views = {
  n: { map: 'function (doc) { emit(doc.n, doc.text + doc.text) }' },
  group: { map: 'function (doc) { emit([doc.n % 7, doc.n], doc.n) }', reduce: '_sum' },
};

/** What the views must show of these documents, by id. */
function checkRows(
  rows: readonly { id: string; key: number }[],
  expected: ReadonlyMap<string, number>,
): void {
  assert.equal(rows.length, expected.size);
  for (const { id, key } of rows) assert.equal(key, expected.get(id), id);
}

test(`an index whose filling was killed again and again is right in the end (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  let client = new HttpClient(server.url);
  const expected = new Map<string, number>();
  await client.put(db);
  await client.put(`${db}/_design/d`, { views });
  for (let at = 0; at < docsCount; at += 1_000) {
    const docs = Array.from({ length: 1_000 }, (_, i) => ({
      _id: `d${at + i}`,
      n: at + i,
      text: 'x'.repeat(2_000),
    }));
    for (const { _id, n } of docs) expected.set(_id, n);
    await client.post(`${db}/_bulk_docs`, { docs });
  }
  let pending = Infinity;
  const places: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const query = client.get(`${view}/n?limit=0`).catch(() => undefined);
    await Promise.race([query, new Promise((resolve) => setTimeout(resolve, 200 + random.below(2_500)))]);
    await server.stop('SIGKILL');
    await query;
    await server.start();
    client = new HttpClient(server.url);
    const { body } = await client.get(`${db}/_design/d/_info`);
    places.push(body.view_index.updates_pending.total as number);
    assert.ok(places.at(-1)! <= pending, 'an index never goes back');
    const { body: old } = await client.get(`${db}/d${round}`);
    await client.put(`${db}/d${round}`, { ...old, n: docsCount + round });
    expected.set(`d${round}`, docsCount + round);
    pending = places.at(-1)! + 1;
  }
  t.diagnostic(`changes that were still to be indexed after each kill: ${places.join(' ')}`);
  const { body } = await client.get(`${view}/n`);
  checkRows(body.rows as { id: string; key: number }[], expected);
  const sum = [...expected.values()].reduce((total, n) => total + n, 0);
  const { body: reduced } = await client.get(`${view}/group`);
  assert.deepEqual(reduced.rows, [{ key: null, value: sum }]);
});
