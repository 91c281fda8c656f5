import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemRuntime } from '../../src/base/runtime.js';
import { checkPartitionAsked } from '../../src/http/request/partition-asked.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('the keys of a listing of a partitioned database are checked in slices', async () => {
  let turns = 0;
  let ms = 0;
  const runtime = new (class extends SystemRuntime {
    override monotonicMs(): number {
      return (ms += 10);
    }

    override nextTurn(): Promise<void> {
      turns++;
      return super.nextTurn();
    }
  })();
  const database = { isPartitioned: true, runtime };
  const keys = Array.from({ length: 100_000 }, (_, n) => `p:${n}`);
  await checkPartitionAsked(database, 'all', { keys });
  assert.ok(turns > 20, `${turns} turns`);
  const refused = Promise.resolve(checkPartitionAsked(database, 'all', { keys: [...keys, 'none'] }));
  await assert.rejects(refused, { error: 'illegal_docid' });
});

test('many keys are answered in their order, or refused as a whole', async () => {
  const db = await newDb(client, '?partitioned=true');
  await client.put(`${db}/p:3999`, {});
  const keys = Array.from({ length: 5_000 }, (_, n) => `p:${n}`);
  const { status, body } = await client.post(`${db}/_all_docs?descending=true&skip=1000&limit=2`, { keys });
  assert.equal(status, 200);
  assert.deepEqual(
    body.rows.map(({ key, error }: { key: string; error?: string }) => [key, error]),
    [
      ['p:3999', undefined],
      ['p:3998', 'not_found'],
    ],
  );
  for (const wrong of ['none', 1, null, 'ü']) {
    const listing = await client.post(`${db}/_all_docs`, { keys: [...keys, wrong] });
    assert.deepEqual([listing.status, listing.body.error], [400, 'illegal_docid']);
    const queries = await client.post(`${db}/_all_docs/queries`, { queries: [{ keys: [...keys, wrong] }] });
    assert.deepEqual([queries.status, queries.body.error], [400, 'illegal_docid']);
  }
});
