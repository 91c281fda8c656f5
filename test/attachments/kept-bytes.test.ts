import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpClient } from '../support/http-client.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { fileSize, getBytes, noise, putBytes, sendBytes } from './attachment-client.js';
import { eventually, keptBlobs, unfinished } from './kept-files.js';

/** Bytes that are kept beside the documents, and bytes that become a file. */
const small = noise(500, 1);
const large = noise(fileSize, 2);

async function serverOf(): Promise<{ client: HttpClient; blobs: () => number; dataDir: string }> {
  const dataDir = temporaryFolder();
  return { client: await startServer({ dataDir }), blobs: () => keptBlobs(dataDir).length, dataDir };
}

const { client, blobs, dataDir } = await serverOf();

/** Compacts and waits until nothing is left to do. */
async function compact(db: string): Promise<void> {
  assertOk(await client.post(`${db}/_compact`), 202);
  await eventually(
    async () => (await client.get(db)).body.compact_running as boolean,
    false,
    'compaction ended',
  );
}

async function attached(db: string): Promise<void> {
  assert.deepEqual((await getBytes(client, `${db}/d/small`)).bytes, small);
  assert.deepEqual((await getBytes(client, `${db}/d/large`)).bytes, large);
}

/** A document with both attachments; gives its revision. */
async function document(db: string): Promise<string> {
  const first = await putBytes(client, `${db}/d/small`, small);
  return await putBytes(client, `${db}/d/large?rev=${first}`, large);
}

test('the same bytes are kept once, however they come', async () => {
  const [db, other] = [await newDb(client), await newDb(client)];
  await Promise.all(Array.from({ length: 12 }, (_, i) => putBytes(client, `${db}/${i}/f`, large)));
  await putBytes(client, `${other}/d/f`, large, 'image/png');
  const inline = { _attachments: { f: { data: large.toString('base64') } } };
  assertOk(await client.put(`${other}/e`, inline), 201);
  await client.copy(`${db}/1`, 'copy');
  assert.equal(blobs(), 1);
  for (const path of [`${db}/0/f`, `${db}/copy/f`, `${other}/d/f`, `${other}/e/f`])
    assert.deepEqual((await getBytes(client, path)).bytes, large);
  await client.delete(db);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(blobs(), 1, 'the other database still needs them');
  assert.deepEqual((await getBytes(client, `${other}/d/f`)).bytes, large);
  await client.delete(other);
  await eventually(blobs, 0, 'nobody needs them');
});

test('compaction removes what no revision needs, and nothing else', async () => {
  const db = await newDb(client);
  const rev = await document(db);
  const { body } = await client.put(`${db}/d`, {
    _rev: rev,
    _attachments: { small: { stub: true }, large: { stub: true } },
  });
  await putBytes(client, `${db}/e/f`, noise(fileSize, 3));
  const second = await putBytes(client, `${db}/e/g`, 'x').catch(() => undefined);
  assert.equal(second, undefined, 'a conflict');
  const { body: e } = await client.get(`${db}/e`);
  assertOk(await client.delete(`${db}/e/f?rev=${e._rev}`), 200);
  assert.equal(blobs(), 2, 'the revision before still has it');
  await compact(db);
  await eventually(blobs, 1, 'one is gone');
  await attached(db);
  assertRefused(await client.get(`${db}/d/large?rev=${rev}`), 404);
  assertOk(await client.delete(`${db}/d?rev=${body.rev}`), 200);
  await compact(db);
  await eventually(blobs, 0, 'the document is deleted, and its last body forgotten');
});

test('a history of one keeps what stubs keep', async () => {
  const db = await newDb(client);
  await client.send('PUT', `${db}/_revs_limit`, { raw: '1' });
  let rev = await document(db);
  const stubs = { small: { stub: true }, large: { stub: true } };
  for (let n = 0; n < 5; n++) {
    const answer = await client.put(`${db}/d`, { _rev: rev, n, _attachments: stubs });
    assertOk(answer, 201);
    rev = answer.body.rev as string;
    await attached(db);
  }
  const docs = [1, 2].map((n) => ({ _id: 'd', _rev: rev, n, _attachments: stubs }));
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  assert.deepEqual([body[0].ok, body[1].error], [true, 'conflict']);
  await compact(db);
  await attached(db);
  await putBytes(client, `${db}/d/large?rev=${body[0].rev}`, noise(fileSize, 4));
  await compact(db);
  await eventually(blobs, 1, 'the old bytes are gone with their revision');
  assert.deepEqual((await getBytes(client, `${db}/d/small`)).bytes, small);
  await client.delete(db);
  await eventually(blobs, 0, 'the database is gone');
});

test('purging gives the bytes back, but for those of the other leaf', async () => {
  const db = await newDb(client);
  const rev = await document(db);
  const leaf = { _id: 'd', _rev: '2-abc', _attachments: { large: { data: large.toString('base64') } } };
  assertOk(await client.post(`${db}/_bulk_docs`, { docs: [leaf], new_edits: false }), 201);
  assertOk(await client.post(`${db}/_purge`, { d: [rev] }), 201);
  await compact(db);
  assert.equal(blobs(), 1);
  assert.deepEqual((await getBytes(client, `${db}/d/large?rev=2-abc`)).bytes, large);
  assertRefused(await client.get(`${db}/d/small`), 404);
  assertOk(await client.post(`${db}/_purge`, { d: ['2-abc'] }), 201);
  await compact(db);
  await eventually(blobs, 0, 'nobody needs them');
});

test('a copy has the bytes of its own accord', async () => {
  const db = await newDb(client, '?q=8');
  const rev = await document(db);
  for (let n = 0; n < 10; n++) assertOk(await client.copy(`${db}/d`, `copy${n}`), 201);
  await client.post(`${db}/_purge`, { d: [rev] });
  await compact(db);
  for (let n = 0; n < 10; n++) {
    assert.deepEqual((await getBytes(client, `${db}/copy${n}/large`)).bytes, large);
    assert.deepEqual((await getBytes(client, `${db}/copy${n}/small`)).bytes, small);
  }
  await client.delete(db);
  await eventually(blobs, 0, 'the database is gone');
});

test('a conflict after the upload leaves no file, whoever wins', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/f`, 'first');
  const put = (seed: number) =>
    sendBytes(client, 'PUT', `${db}/d/f?rev=${rev}`, { body: noise(fileSize, seed) });
  const answers = await Promise.all([10, 11, 12, 13].map(put));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
  assert.deepEqual([blobs(), unfinished(dataDir)], [1, []]);
  const same = await Promise.all([10, 10, 10].map(put));
  assert.ok(same.every(({ status }) => status === 409));
  const winner = 10 + answers.findIndex(({ status }) => status === 201);
  assert.deepEqual((await getBytes(client, `${db}/d/f`)).bytes, noise(fileSize, winner));
  assert.equal(blobs(), 1);
  await client.delete(db);
  await eventually(blobs, 0, 'the database is gone');
});

test('an upload into a database that is deleted meanwhile leaves no file', async () => {
  const db = await newDb(client);
  const uploads = Array.from({ length: 8 }, (_, i) =>
    sendBytes(client, 'PUT', `${db}/${i}/f`, { body: noise(fileSize * 5, 20 + i) }),
  );
  await client.delete(db);
  for (const { status } of await Promise.all(uploads)) assert.ok([201, 404].includes(status), `${status}`);
  await eventually(blobs, 0, 'the database is gone');
  assert.deepEqual(unfinished(dataDir), []);
});
