import assert from 'node:assert/strict';
import test from 'node:test';
import { SystemRuntime } from '../../src/base/runtime.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
await client.post(`${db}/_bulk_docs`, { docs: ['d1', 'd4999', 'other'].map((_id) => ({ _id })) });
const ids = Array.from({ length: 5_000 }, (_, n) => `d${n}`);
const feed = `${db}/_changes?filter=_doc_ids`;

test('a feed of many documents reads their ids in slices', async (t) => {
  const turns = t.mock.method(SystemRuntime.prototype, 'nextTurn');
  let ms = 0;
  // Each look at the clock finds that a slice is over.
  t.mock.method(SystemRuntime.prototype, 'monotonicMs', () => (ms += 20));
  const { body } = await client.post(feed, { doc_ids: ids });
  const found = body.results.map(({ id }: { id: string }) => id).sort();
  assert.deepEqual(found, ['d1', 'd4999']);
  assert.ok(turns.mock.callCount() >= ids.length, `${turns.mock.callCount()} turns`);
});

test('wrong ids among many are refused as among few', async () => {
  const refused = async (list: unknown): Promise<unknown[]> => {
    const { status, body } = await client.post(feed, { doc_ids: list });
    return [status, body];
  };
  assert.deepEqual(await refused([...ids, 7]), await refused([7]));
  assert.equal((await refused([...ids, 7]))[0], 400);
  const unfiltered = await client.post(`${db}/_changes`, { doc_ids: [...ids, 7] });
  assert.equal(unfiltered.body.results.length, 3);
});
