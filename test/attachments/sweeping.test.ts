import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { noise, putBytes } from './attachment-client.js';
import { eventually, keptBlobs } from './kept-files.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });
const count = 250;
/** Just large enough to be a file. */
const bytesOf = (seed: number): Buffer => noise(33_000, seed);

async function compacting(db: string): Promise<boolean> {
  return (await client.get(db)).body.compact_running as boolean;
}

/** Puts an attachment on a new document and purges it: its bytes are released. */
async function comeAndGo(db: string, id: string, seed: number): Promise<void> {
  const rev = await putBytes(client, `${db}/${id}/f`, bytesOf(seed));
  assertOk(await client.post(`${db}/_purge`, { [id]: [rev] }), 201);
}

test('bytes that come and go while a compaction removes others', async () => {
  const db = await newDb(client, '?q=1');
  for (let seed = 0; seed < count; seed++) await comeAndGo(db, `doc${seed}`, seed);
  assert.equal(keptBlobs(dataDir).length, count, 'released, not yet removed');
  assertOk(await client.post(`${db}/_compact`), 202);
  let rounds = 0;
  while (await compacting(db)) await comeAndGo(db, `again${rounds}`, rounds++ % count);
  assert.ok(rounds > 0);
  await eventually(
    async () => {
      await client.post(`${db}/_compact`);
      return keptBlobs(dataDir).length;
    },
    0,
    'nobody needs them',
  );
});
