import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newDb, startServer } from '../support/server.js';

// On a busy machine one call takes long.
const client = await startServer({ config: { couchdb: { os_process_timeout: '60000' } } });

/** Processor time in milliseconds that work takes, on all threads. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const count = 30_000;
const maps = {
  'different keys': 'function (doc) { for (var i = 0; i < doc.rows; i++) emit([i % 7, i], doc.value); }',
  'equal keys': 'function (doc) { for (var i = 0; i < doc.rows; i++) emit(1, [doc.value, i]); }',
};

describe('a document with many rows in a view', () => {
  for (const [name, map] of Object.entries(maps)) {
    it(`is updated in about the time in which they were first written: ${name}`, async () => {
      const db = await newDb(client);
      await client.put(`${db}/_design/d`, { views: { v: { map, reduce: '_count' } } });
      const query = `${db}/_design/d/_view/v`;
      const total = async (): Promise<number> =>
        ((await client.get(query)).body as { rows: { value: number }[] }).rows[0]?.value ?? 0;
      const first = await client.put(`${db}/x`, { rows: count, value: 1 });
      const built = await cpuMs(async () => assert.equal(await total(), count));
      const second = await client.put(`${db}/x`, { _rev: first.body.rev, rows: count, value: 2 });
      const replaced = await cpuMs(async () => assert.equal(await total(), count));
      const third = await client.put(`${db}/x`, {
        _rev: second.body.rev,
        rows: count,
        value: 2,
        other: true,
      });
      const repeated = await cpuMs(async () => assert.equal(await total(), count));
      await client.put(`${db}/x`, { _rev: third.body.rev, rows: count / 2, value: 2 });
      const halved = await cpuMs(async () => assert.equal(await total(), count / 2));
      const most = 4 * built + 1_000;
      for (const ms of [replaced, repeated, halved]) {
        assert.ok(ms < most, `built in ${built} ms, then ${replaced}, ${repeated}, ${halved} ms`);
      }
      const { body } = await client.get(`${query}?reduce=false&skip=${count / 2 - 1}`);
      assert.equal((body as { rows: unknown[] }).rows.length, 1);
    });
  }

  it('may have more of them than a function takes arguments', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/d`, { views: { v: { map: maps['different keys'], reduce: '_count' } } });
    const { body } = await client.put(`${db}/x`, { rows: 140_000, value: 1 });
    await client.get(`${db}/_design/d/_view/v`);
    await client.put(`${db}/x`, { _rev: (body as { rev: string }).rev, rows: 0 });
    const { body: found } = await client.get(`${db}/_design/d/_view/v`);
    assert.deepEqual(found, { rows: [] });
  });
});
