import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const everySecond = { tuffet: { time_seq_interval_seconds: '1', auto_purge_interval_seconds: '1' } };
// Small steps, so that a task lasts long enough to be seen.
const client = await startServer({
  config: { ...everySecond, couch_auto_purge_plugin: { max_batch_size: '100' } },
});

async function until(holds: () => Promise<boolean>, pauseMs = 50): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'it did not happen within a minute');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const setTtl = async (db: string, ttl: unknown): Promise<void> =>
  assertOk(await client.put(`${db}/_auto_purge`, { deleted_document_ttl: ttl }), 201);

const deletedIn = async (db: string): Promise<number> => (await client.get(db)).body.doc_del_count as number;

async function makeDeleted(db: string, ids: readonly string[]): Promise<void> {
  const docs = ids.map((_id) => ({
    _id,
    _rev: '2-b',
    _deleted: true,
    _revisions: { start: 2, ids: ['b', 'a'] },
  }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs, new_edits: false }), 201);
}

// Side by side, since most of the time is spent waiting.
describe('/{db}/_auto_purge', { concurrency: true }, () => {
  test('is empty at first, and keeps what is set', async () => {
    const db = await newDb(client);
    assert.deepEqual((await client.get(`${db}/_auto_purge`)).body, {});
    for (const ttl of ['3_mon', '1_hour', 'infinity', 90_000]) {
      const answer = await client.put(`${db}/_auto_purge`, { deleted_document_ttl: ttl });
      assertOk(answer, 201);
      assert.deepEqual(answer.body, { ok: true });
      assert.deepEqual((await client.get(`${db}/_auto_purge`)).body, { deleted_document_ttl: ttl });
    }
    assertOk(await client.put(`${db}/_auto_purge`, {}), 201);
    assert.deepEqual((await client.get(`${db}/_auto_purge`)).body, {});
  });

  test('what is no period is refused, and changes nothing', async () => {
    const db = await newDb(client);
    await setTtl(db, '2_weeks');
    const refused = ['', '3', '3_', '_days', '-3_days', '0_days', '3_moons', '3_sunday', '1.5_days'];
    for (const ttl of [...refused, 0, -1, 1.5, 1e300, null, true, [], {}])
      assertRefused(await client.put(`${db}/_auto_purge`, { deleted_document_ttl: ttl }), 400, 'bad_request');
    assertRefused(await client.put(`${db}/_auto_purge`, { other: '1_day' }), 400, 'bad_request');
    for (const body of [[], 7, 'x', null]) assertRefused(await client.put(`${db}/_auto_purge`, body), 400);
    assertRefused(await client.delete(`${db}/_auto_purge`), 405, 'method_not_allowed');
    assert.deepEqual((await client.get(`${db}/_auto_purge`)).body, { deleted_document_ttl: '2_weeks' });
  });

  test('deleted documents are purged, conflicts too, and others stay', async () => {
    const db = await newDb(client);
    await makeDeleted(db, ['one', 'two', '_design/old']);
    for (const hash of ['x', 'y'])
      await client.post(`${db}/_bulk_docs`, {
        docs: [{ _id: 'twice', _rev: `1-${hash}`, _deleted: true }],
        new_edits: false,
      });
    await client.put(`${db}/alive`, { n: 1 });
    await client.post(`${db}/_bulk_docs`, {
      docs: [
        { _id: 'half', _rev: '1-x', _deleted: true },
        { _id: 'half', _rev: '1-y' },
      ],
      new_edits: false,
    });
    await setTtl(db, 1);
    await until(async () => (await deletedIn(db)) === 0);
    const { body } = await client.get(`${db}/_changes`);
    assert.deepEqual(body.results.map((row: { id: string }) => row.id).toSorted(), ['alive', 'half']);
    assertRefused(await client.get(`${db}/twice?rev=1-x`), 404, 'not_found');
    assertOk(await client.get(`${db}/half?rev=1-x`), 200);
  });

  test('none is purged before its age', async () => {
    const db = await newDb(client);
    const other = await newDb(client);
    await setTtl(db, 3);
    await setTtl(other, 1);
    await makeDeleted(other, ['gone']);
    await makeDeleted(db, ['gone']);
    const deleted = Date.now();
    await until(async () => (await deletedIn(other)) === 0);
    await until(async () => (await deletedIn(db)) === 0);
    assert.ok(Date.now() - deleted >= 3_000, `purged after ${Date.now() - deleted} ms`);
  });

  test('nothing is purged without a setting or with infinity', async () => {
    const plain = await newDb(client);
    const endless = await newDb(client);
    const purged = await newDb(client);
    for (const db of [plain, endless, purged]) await makeDeleted(db, ['gone']);
    await setTtl(endless, 'infinity');
    await setTtl(purged, 1);
    await until(async () => (await deletedIn(purged)) === 0);
    assert.deepEqual([await deletedIn(plain), await deletedIn(endless)], [1, 1]);
  });

  test('many are purged in steps, with a task, while others are answered', async () => {
    const db = await newDb(client);
    await makeDeleted(
      db,
      Array.from({ length: 5_000 }, (_, i) => `doc-${i}`),
    );
    await setTtl(db, 1);
    const tasks: { type: string; database: string; progress: number }[] = [];
    await until(async () => {
      tasks.push(...(await client.get('/_active_tasks')).body);
      return (await deletedIn(db)) === 0;
    }, 0);
    const seen = tasks.filter(({ type, database }) => type === 'auto_purge' && database === db.slice(1));
    assert.ok(seen.length > 0, 'the task was never listed');
    for (const { progress } of seen) assert.ok(progress >= 0 && progress <= 100);
    assert.equal((await client.get(`${db}/_changes`)).body.results.length, 0);
  });
});

test('the configuration has an age for all databases, and deletions from before a restart count', async () => {
  const dataDir = temporaryFolder();
  const start = async (
    config: Record<string, Record<string, string>>,
  ): Promise<{ http: HttpClient; close: () => Promise<void> }> => {
    const server = await createServer({
      dataDir,
      port: 0,
      logLevel: 'none',
      admins: { admin: 'secret' },
      config,
    });
    return { http: new HttpClient(server.url), close: () => server.close() };
  };
  const first = await start({});
  for (const db of ['/plain', '/kept']) {
    await first.http.put(db);
    const { body } = await first.http.put(`${db}/gone`, {});
    await first.http.delete(`${db}/gone?rev=${body.rev}`);
  }
  await first.http.put('/kept/_auto_purge', { deleted_document_ttl: 'infinity' });
  await first.close();

  const { http, close } = await start({
    ...everySecond,
    couch_auto_purge_plugin: { deleted_document_ttl: '1_sec' },
  });
  try {
    await until(async () => (await http.get('/plain')).body.doc_del_count === 0);
    assert.equal((await http.get('/kept')).body.doc_del_count, 1);
  } finally {
    await close();
  }
});
