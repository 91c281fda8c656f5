/** A disk without room: what cannot be stored is refused with 507, and all else goes on. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { SmallDisk, withoutDisk } from '../support/faults.js';
import { HttpClient, type Answer } from '../support/http-client.js';

const pad = 'x'.repeat(20_000);
const count = 'function(doc){ if (doc.pad) emit(doc._id, doc.pad); }';

/** Writes until the first refusal: LMDB may have free pages left. */
async function writeUntilFull(
  client: HttpClient,
  kept: Set<string>,
): Promise<{ id: string; answer: Answer }> {
  for (let i = 0; i < 1_000; i++) {
    const id = `filling-${kept.size}-${i}`;
    const answer = await client.put(`/db/${id}`, { pad });
    if (answer.status !== 201) return { id, answer };
    kept.add(id);
  }
  assert.fail('the disk never became full');
}

test(
  'on a full disk reads go on, writes are 507, and room lets them go on',
  { skip: withoutDisk },
  async (t) => {
    const disk = new SmallDisk(t, 24);
    const server = await ServerProcess.start(t, { data: `${disk.folder}/data` });
    let client = new HttpClient(server.url);
    assertOk(await client.put('/db?q=2'), 201);
    assertOk(await client.put('/db/_design/d', { views: { v: { map: count, reduce: '_count' } } }), 201);
    const kept = new Set<string>();
    const refused: string[] = [];
    const view = async (query = ''): Promise<Answer> => await client.get(`/db/_design/d/_view/v?${query}`);
    const checkReads = async (): Promise<void> => {
      for (const id of [...kept].slice(-5)) assertOk(await client.get(`/db/${id}`), 200);
      for (const id of refused) assertOk(await client.get(`/db/${id}`), 404);
      const { body } = await client.get('/db/_all_docs');
      assert.equal(body.total_rows, kept.size + 1);
      assertOk(
        await client.post('/db/_find', { selector: { pad: { $gt: '' } }, limit: 2, fields: ['_id'] }),
        200,
      );
    };
    assertOk(await view(), 200);

    for (const round of ['a', 'b']) {
      for (let i = 0; i < 20; i++) {
        assertOk(await client.put(`/db/${round}-${i}`, { pad }), 201);
        kept.add(`${round}-${i}`);
      }
      disk.fill();
      const { id, answer } = await writeUntilFull(client, kept);
      refused.push(id);
      assertRefused(answer, 507, 'insufficient_storage');
      await checkReads();
      assertRefused(await view(), 507, 'insufficient_storage');
      assertOk(await view('update=false'), 200);
      const docs = Array.from({ length: 50 }, (_, i) => ({ _id: `bulk-${round}-${i}`, pad }));
      assertRefused(await client.post('/db/_bulk_docs', { docs }), 507, 'insufficient_storage');
      refused.push(`bulk-${round}-0`, `bulk-${round}-49`);
      const large = Array.from({ length: 100 }, (_, i) => ({
        _id: `large-${round}-${i}`,
        pad: pad.repeat(5),
      }));
      assertRefused(await client.post('/db/_bulk_docs', { docs: large }), 507, 'insufficient_storage');
      refused.push(`large-${round}-0`);
      const upload = { raw: randomBytes(100_000), headers: { 'content-type': 'application/octet-stream' } };
      assertRefused(await client.send('PUT', `/db/attached-${round}/a`, upload), 507, 'insufficient_storage');
      refused.push(`attached-${round}`);
      assertRefused(await client.put('/_node/_local/_config/section/key', 'v'.repeat(60_000)), 507);
      assertOk(await client.post('/db/_compact', {}), 202);
      assertOk(await client.post('/db/_compact/d', {}), 202);
      assertOk(await client.post('/db/_view_cleanup', {}), 202);

      if (round === 'b') {
        await server.stop('SIGKILL');
        await server.start();
        client = new HttpClient(server.url);
        await checkReads();
        assertRefused(await client.post('/db/_bulk_docs', { docs }), 507, 'insufficient_storage');
      }

      disk.free();
      assertOk(await client.put(`/db/after-${round}`, { pad }), 201);
      kept.add(`after-${round}`);
      assert.equal((await view()).body.rows[0].value, kept.size);
      await checkReads();
      assert.ok(server.isRunning, server.lastWords);
    }
  },
);
