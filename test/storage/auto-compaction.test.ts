import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const dataDir = temporaryFolder();
const client = await startServer({
  dataDir,
  config: { tuffet: { auto_compaction: 'false', auto_compaction_bytes_min: '10000' } },
});

const setOption = async (value: string): Promise<void> =>
  assertOk(await client.put('/_node/_local/_config/tuffet/auto_compaction', value), 200);

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 60_000; !(await holds()); await wait(20))
    assert.ok(Date.now() < end, 'it did not come to hold within a minute');
};

const text = 'x'.repeat(500);
const data = Buffer.alloc(3_000, 'y').toString('base64');

async function save(db: string, round: number, revs: readonly string[]): Promise<string[]> {
  const docs = Array.from({ length: 50 }, (_, n) => ({
    _id: `d${n}`,
    ...(revs[n] === undefined ? {} : { _rev: revs[n] }),
    round,
    text,
    _attachments: { a: { content_type: 'x/y', data: round % 2 ? data : `${data.slice(0, -4)}AAAA` } },
  }));
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  return body.map(({ rev }: { rev: string }) => rev);
}

test('superseded revisions go by themselves, and only where that is on', async () => {
  await setOption('false');
  const db = await newDb(client);
  const first = await save(db, 1, []);
  const second = await save(db, 2, first);
  const { sizes } = (await client.get(db)).body;
  assertOk(await client.get(`${db}/d7?rev=${first[7]}`), 200);
  await setOption('true');
  const third = await save(db, 3, second);
  const isGone = async (rev: string): Promise<boolean> =>
    (await client.get(`${db}/d7?rev=${rev}`)).status === 404;
  await until(async () => (await isGone(first[7]!)) && (await isGone(second[7]!)));
  const { body } = await client.get(`${db}/d7?attachments=true`);
  assert.deepEqual([body._rev, body.round, body._attachments.a.data], [third[7], 3, data]);
  // What was saved while a pass ran is left to the next one.
  await until(async () => (await client.get(db)).body.sizes.file < 0.7 * sizes.file);
  await until(async () => !(await client.get(db)).body.compact_running);
});

const documentBytes = (): number =>
  fs
    .readdirSync(path.join(dataDir, 'documents'))
    .map((name) => fs.statSync(path.join(dataDir, 'documents', name, 'data.mdb'), { throwIfNoEntry: false }))
    .reduce((sum, stats) => sum + (stats?.size ?? 0), 0);

test('a file that is mostly free is given back to the system while documents are read and written', async () => {
  await setOption('true');
  const db = await newDb(client);
  const docs = Array.from({ length: 2_500 }, (_, n) => ({ _id: `d${n}`, text: 'x'.repeat(6_000) }));
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  const before = documentBytes();
  assert.ok(before > 14_000_000);
  const deleted = body.map(({ id, rev }: { id: string; rev: string }) => ({
    _id: id,
    _rev: rev,
    _deleted: true,
  }));
  await client.post(`${db}/_bulk_docs`, { docs: deleted });
  let n = 0;
  await until(async () => {
    assertOk(await client.put(`${db}/kept${++n}`, { n }), 201);
    assert.equal((await client.get(`${db}/kept${n}`)).body.n, n);
    return documentBytes() < before / 2;
  });
  assert.equal((await client.get(db)).body.doc_count, n);
  const metrics = (await client.get('/_node/_local/_prometheus')).text;
  assert.match(metrics, /tuffet_reclaimable_bytes\{kind="documents"\} \d+/);
});
