import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const config = { tuffet: { expiry_interval_seconds: '1' } };
const client = await startServer({ config });

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'it did not happen within a minute');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function idsIn(db: string, http = client): Promise<string[]> {
  const { rows } = (await http.get(`${db}/_all_docs`)).body as { rows: { id: string }[] };
  return rows.map(({ id }) => id).filter((id) => !id.startsWith('_design/'));
}

async function save(db: string, docs: Record<string, unknown>, http = client): Promise<void> {
  const list = Object.entries(docs).map(([_id, at]) => ({ _id, at }));
  assertOk(await http.post(`${db}/_bulk_docs`, { docs: list }), 201);
}

// Side by side, since most of the time is spent waiting.
describe('/{db}/_expiry', { concurrency: true }, () => {
  test('is empty at first, and can be set, changed and removed', async () => {
    const db = await newDb(client);
    assert.deepEqual((await client.get(`${db}/_expiry`)).body, {});
    for (const field of ['at', 'meta.until']) {
      assertOk(await client.put(`${db}/_expiry`, { field }), 201);
      assert.deepEqual((await client.get(`${db}/_expiry`)).body, { field });
    }
    assertOk(await client.delete(`${db}/_expiry`), 200);
    assert.deepEqual((await client.get(`${db}/_expiry`)).body, {});
    assert.equal((await client.get(`${db}/_index`)).body.total_rows, 1);
    assertRefused(await client.delete(`${db}/_expiry`), 404, 'not_found');
  });

  test('what names no member is refused, and changes nothing', async () => {
    const db = await newDb(client);
    assertOk(await client.put(`${db}/_expiry`, { field: 'at' }), 201);
    for (const field of ['', '_id', '\\_id', '$or', 'x'.repeat(2_000), 'a..b', 7, null, [], {}, undefined])
      assertRefused(await client.put(`${db}/_expiry`, { field }), 400);
    assertRefused(await client.put(`${db}/_expiry`, { field: 'at', more: 1 }), 400, 'bad_request');
    for (const body of [[], 'at', 7]) assertRefused(await client.put(`${db}/_expiry`, body), 400);
    assertRefused(await client.post(`${db}/_expiry`, {}), 405, 'method_not_allowed');
    assert.deepEqual((await client.get(`${db}/_expiry`)).body, { field: 'at' });
  });

  test('documents with a past date are deleted, as tombstones; all others stay', async () => {
    const db = await newDb(client);
    const now = Date.now();
    const past = {
      iso: new Date(now - 1000).toISOString(),
      seconds: Math.floor(now / 1000) - 1,
      milliseconds: now - 1,
      plain: '2020-01-01T00:00:00Z',
      first: 1,
    };
    const kept = {
      future: new Date(now + 3_600_000).toISOString(),
      'future-seconds': Math.floor(now / 1000) + 3_600,
      'future-milliseconds': now + 3_600_000,
      'local-time': '2020-01-01T00:00:00',
      offset: '2020-01-01T00:00:00+02:00',
      day: '2020-01-01',
      'no-date': '2020-99-99T00:00:00Z',
      words: 'yesterday',
      zero: 0,
      negative: -5,
      none: null,
      list: [1],
      nested: { at: 1 },
      yes: true,
    };
    await save(db, { ...past, ...kept });
    assertOk(await client.put(`${db}/_expiry`, { field: 'at' }), 201);
    await until(async () => (await idsIn(db)).length === Object.keys(kept).length);
    assert.deepEqual(await idsIn(db), Object.keys(kept).toSorted());
    assert.equal((await client.get(db)).body.doc_del_count, Object.keys(past).length);
    const { rows } = (await client.post(`${db}/_all_docs`, { keys: ['iso'] })).body;
    assert.match(rows[0].value.rev, /^2-/);
    assert.equal(rows[0].value.deleted, true);
  });

  test('one that expires later is deleted then, and not before', async () => {
    const db = await newDb(client);
    assertOk(await client.put(`${db}/_expiry`, { field: 'meta.until' }), 201);
    const due = Date.now() + 2_500;
    await client.put(`${db}/soon`, { meta: { until: new Date(due).toISOString() } });
    await until(async () => (await idsIn(db)).length === 0);
    assert.ok(Date.now() >= due);
  });

  test('more than one step deletes all, also beside dates that are none', async () => {
    const db = await newDb(client, '?partitioned=true');
    const docs = Array.from({ length: 900 }, (_, i): [string, string] => [
      `part:${i}`,
      i % 3 === 0 ? '2020 no date' : '2020-01-01T00:00:00.000Z',
    ]);
    await save(db, Object.fromEntries(docs));
    assertOk(await client.put(`${db}/_expiry`, { field: 'at' }), 201);
    await until(async () => (await idsIn(db)).length === 300);
  });
});

test('expiry goes on after a restart', async () => {
  const dataDir = temporaryFolder();
  const start = async (): Promise<{ http: HttpClient; close: () => Promise<void> }> => {
    const admins = { admin: 'secret' };
    const server = await createServer({ dataDir, port: 0, logLevel: 'none', admins, config });
    return { http: new HttpClient(server.url), close: () => server.close() };
  };
  const first = await start();
  await first.http.put('/db');
  assertOk(await first.http.put('/db/_expiry', { field: 'at' }), 201);
  await save('/db', { later: Date.now() + 1_500, never: 'x' }, first.http);
  await first.close();
  const { http, close } = await start();
  try {
    await until(async () => (await idsIn('/db', http)).length === 1);
    assert.deepEqual(await idsIn('/db', http), ['never']);
  } finally {
    await close();
  }
});
