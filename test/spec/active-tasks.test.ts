import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertTypes } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
const documents = 20_000;

describe('Active tasks', () => {
  test('there are none on an idle server', async () => {
    const answer = await client.get('/_active_tasks');
    assertOk(answer, 200);
    assert.deepEqual(answer.body, []);
  });

  test('a compaction is shown while it runs, and forgets the bodies of old revisions only', async () => {
    const db = await newDb(client);
    for (const round of [1, 2]) {
      const known = round === 1 ? [] : (await client.get(`${db}/_all_docs`)).body.rows;
      const docs = Array.from({ length: documents }, (_, i) => ({
        _id: `doc-${String(i).padStart(6, '0')}`,
        ...(round === 1 ? {} : { _rev: known[i].value.rev }),
        round,
      }));
      assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
    }
    const { _revisions: revisions } = (await client.get(`${db}/doc-000000?revs=true`)).body;
    const old = `1-${revisions.ids[1]}`;
    assertOk(await client.get(`${db}/doc-000000?rev=${old}`), 200);

    const accepted = await client.post(`${db}/_compact`);
    assertOk(accepted, 202);
    assert.deepEqual(accepted.body, { ok: true });
    const seen: unknown[] = [];
    let running = false;
    for (;;) {
      const [tasks, info] = await Promise.all([client.get('/_active_tasks'), client.get(db)]);
      // The volume may be copied at the end, which is a task of another form.
      seen.push(...tasks.body.filter(({ type }: { type: string }) => type !== 'volume_compaction'));
      running ||= info.body.compact_running;
      if (!info.body.compact_running && tasks.body.length === 0) break;
    }
    assert.ok(running, 'compact_running was never true');
    assert.ok(seen.length > 0, 'the compaction was never listed');
    for (const task of seen) {
      assertTypes(task, {
        type: 'string',
        pid: 'string',
        database: 'string',
        changes_done: 'number',
        total_changes: 'number',
        progress: 'number',
        started_on: 'number',
        updated_on: 'number',
        status: 'string',
        task: 'string',
      });
      const { type, database, progress, started_on: started } = task as Record<string, unknown>;
      assert.equal(type, 'database_compaction');
      assert.ok((database as string).includes(db.slice(1)));
      assert.ok((progress as number) >= 0 && (progress as number) <= 100);
      assert.ok(Math.abs((started as number) - Date.now() / 1000) < 600);
    }
    assertOk(await client.get(`${db}/doc-000000?rev=${old}`), 404);
    assert.equal((await client.get(`${db}/doc-000000`)).body.round, 2);
    assert.equal((await client.get(db)).body.doc_count, documents);
  });
});
