import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('a replication of many documents reads their ids in slices', async (t) => {
  const source = await newDb(client);
  const target = await newDb(client);
  const docs = ['d1', 'd 2', 'd19999', 'other'].map((_id) => ({ _id }));
  await client.post(`${source}/_bulk_docs`, { docs });
  const ids = Array.from({ length: 20_000 }, (_, n) => (n === 2 ? 'd%202' : `d${n}`));
  const names = { source: source.slice(1), target: target.slice(1) };
  const lengths: number[] = [];
  const { sort } = Array.prototype;
  t.after(() => (Array.prototype.sort = sort));
  Array.prototype.sort = function (compare) {
    lengths.push(this.length);
    return sort.call(this, compare);
  };
  const done = await client.post('/_replicate', { ...names, doc_ids: [...ids, 'd1', 'd+2'] });
  Array.prototype.sort = sort;
  assert.equal(done.body.ok, true, JSON.stringify(done.body));
  assert.ok(Math.max(...lengths) < 5_000, `${Math.max(...lengths)} ids were sorted in one go`);
  const { body } = await client.get(`${target}/_all_docs`);
  assert.deepEqual(
    body.rows.map(({ id }: { id: string }) => id),
    ['d 2', 'd1', 'd19999'],
  );
  // Order and repetition don't count: it is the same replication, and goes on from its checkpoint.
  const again = await client.post('/_replicate', { ...names, doc_ids: ids.toReversed() });
  assert.equal(again.body.no_changes, true, JSON.stringify(again.body));
  const wrong = await client.post('/_replicate', { ...names, doc_ids: [...ids, 7] });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.reason, /doc_ids/);
});
