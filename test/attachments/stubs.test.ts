import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { fileSize, getBytes, md5, noise, putBytes } from './attachment-client.js';
import { keptBlobs } from './kept-files.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });
const bytes = noise(fileSize, 9);
const stub = { stub: true };

test('a stub keeps what the parent revision has, and what is not named goes', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/a`, 'aaa');
  const second = await putBytes(client, `${db}/d/b?rev=${first}`, bytes);
  const { body: kept } = await client.put(`${db}/d`, { _rev: second, _attachments: { b: stub }, n: 1 });
  const { body } = await client.get(`${db}/d`);
  const { revpos, digest, length } = body._attachments.b;
  assert.deepEqual([revpos, digest, length], [2, `md5-${md5(bytes)}`, fileSize], 'as it was');
  assert.deepEqual(Object.keys(body._attachments), ['b']);
  assert.deepEqual((await getBytes(client, `${db}/d/b`)).bytes, bytes);
  assertOk(await client.put(`${db}/d`, { _rev: kept.rev, n: 2 }), 201);
  assert.equal((await client.get(`${db}/d`)).body._attachments, undefined);
});

test('a stub tells nothing by what it says beside its name', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/a`, 'aaa', 'image/png');
  const lie = { ...stub, digest: `md5-${md5('zzz')}`, length: 99, content_type: 'x/y' };
  assertOk(await client.put(`${db}/d`, { _rev: rev, _attachments: { a: lie } }), 201);
  const { a } = (await client.get(`${db}/d`)).body._attachments;
  assert.deepEqual([a.digest, a.length, a.content_type, a.revpos], [`md5-${md5('aaa')}`, 3, 'image/png', 1]);
});

test('a stub with a wrong revpos stands for nothing', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/a`, 'aaa');
  const second = await putBytes(client, `${db}/d/b?rev=${first}`, 'bbb');
  for (const revpos of [1, 3, 0, -1, 1.5, '2', null, [], {}]) {
    const doc = { _id: 'd', _rev: second, _attachments: { b: { ...stub, revpos } } };
    assertRefused(await client.put(`${db}/d`, doc), 412, 'missing_stub');
    assertRefused(await client.post(`${db}/_bulk_docs`, { docs: [doc] }), 412, 'missing_stub');
    const history = { start: 3, ids: ['next', second.slice(2), first.slice(2)] };
    const replicated = { ...doc, _rev: '3-next', _revisions: history };
    const bulk = { docs: [replicated], new_edits: false };
    assertRefused(await client.post(`${db}/_bulk_docs`, bulk), 412, 'missing_stub');
  }
  assert.equal((await client.get(`${db}/d`)).body._rev, second);
  const right = { _rev: second, _attachments: { a: { ...stub, revpos: 1 }, b: { ...stub, revpos: 2 } } };
  assertOk(await client.put(`${db}/d`, right), 201);
});

test('what a stub says of its type does not matter, whatever it is', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/a`, 'aaa');
  assertOk(
    await client.put(`${db}/d`, { _rev: rev, _attachments: { a: { ...stub, content_type: 1 } } }),
    201,
  );
  assert.equal((await client.get(`${db}/d`)).body._attachments.a.content_type, 'application/octet-stream');
});

test('a revpos beside bytes is that of the new revision, unless another server has made that', async () => {
  const db = await newDb(client);
  for (const [at, revpos] of [7, -1, 1.5, '2', null, [], {}].entries()) {
    const _attachments = { a: { data: 'YQ==', revpos } };
    assertOk(await client.put(`${db}/${at}`, { _attachments }), 201);
    assert.equal((await client.get(`${db}/${at}`)).body._attachments.a.revpos, 1);
    const made = await client.put(`${db}/made${at}?new_edits=false`, { _rev: '3-abc', _attachments });
    if (revpos === 7) assertOk(made, 201);
    else assertRefused(made, 400, 'bad_request');
  }
});

test('who knows a digest has nothing by it', async () => {
  const db = await newDb(client);
  const other = await newDb(client);
  await putBytes(client, `${db}/secret/f`, bytes);
  const known = (await client.get(`${db}/secret`)).body._attachments.f;
  const [blob] = keptBlobs(dataDir);
  for (const entry of [
    known,
    { ...stub, digest: known.digest },
    { ...stub, blob, sha256: blob, digest: `sha256-${blob}` },
    { ...stub, revpos: 1 },
  ]) {
    for (const at of [db, other]) {
      const answer = await client.put(`${at}/thief`, { _attachments: { f: entry } });
      assertRefused(answer, 412, 'missing_stub');
    }
    const bulk = { docs: [{ _id: 'thief', _rev: '1-abc', _attachments: { f: entry } }], new_edits: false };
    assertRefused(await client.post(`${other}/_bulk_docs`, bulk), 412, 'missing_stub');
  }
  const rev = await putBytes(client, `${other}/thief/own`, 'x');
  const answer = await client.put(`${other}/thief`, { _rev: rev, _attachments: { f: known } });
  assertRefused(answer, 412, 'missing_stub');
  assert.equal((await client.get(`${other}/thief/f`)).status, 404);
});

test('a stub stands for the revision it continues, not for the winner', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, 'one');
  const branch = (hash: string, text: string) => ({
    _id: 'd',
    _rev: `2-${hash}`,
    _revisions: { start: 2, ids: [hash, first.slice(2)] },
    _attachments: { f: { data: Buffer.from(text).toString('base64') } },
  });
  const docs = [branch('a'.repeat(32), 'left'), branch('b'.repeat(32), 'right')];
  assertOk(await client.post(`${db}/_bulk_docs`, { docs, new_edits: false }), 201);
  for (const [hash, text] of [
    ['a'.repeat(32), 'left'],
    ['b'.repeat(32), 'right'],
  ]) {
    const { body } = await client.put(`${db}/d`, { _rev: `2-${hash}`, _attachments: { f: stub }, text });
    assert.equal((await getBytes(client, `${db}/d/f?rev=${body.rev}`)).bytes.toString(), text);
  }
});

test('a replicated revision keeps what its ancestor has', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, bytes);
  const doc = {
    _id: 'd',
    _revisions: { start: 3, ids: ['c'.repeat(32), 'd'.repeat(32), first.slice(2)] },
    _rev: `3-${'c'.repeat(32)}`,
    _attachments: { f: { ...stub, revpos: 1 } },
  };
  assertOk(await client.put(`${db}/d?new_edits=false`, doc), 201);
  assert.deepEqual((await getBytes(client, `${db}/d/f`)).bytes, bytes);
});

test('one bad stub refuses a whole bulk request, and leaves no file', async () => {
  const db = await newDb(client);
  const kept = keptBlobs(dataDir);
  const data = noise(fileSize, 10).toString('base64');
  const docs = [
    { _id: 'fine', _attachments: { f: { data } } },
    { _id: 'bad', _attachments: { f: stub } },
  ];
  assertRefused(await client.post(`${db}/_bulk_docs`, { docs }), 412, 'missing_stub');
  assertRefused(await client.get(`${db}/fine`), 404);
  assert.deepEqual(keptBlobs(dataDir), kept);
});

test('one bad stub spares the other documents of a batch', async () => {
  const db = await newDb(client);
  assertOk(await client.put(`${db}/fine?batch=ok`, { n: 1 }), 202);
  assertOk(await client.put(`${db}/bad?batch=ok`, { _attachments: { f: stub } }), 202);
  await client.post(`${db}/_ensure_full_commit`);
  assertOk(await client.get(`${db}/fine`), 200);
});

test('entries of the wrong shape are refused', async () => {
  const db = await newDb(client);
  for (const attachments of [[], 'x', 1])
    assertRefused(await client.put(`${db}/d`, { _attachments: attachments }), 400, 'doc_validation');
  const wrong: unknown[] = [
    { f: {} },
    { f: { stub: false } },
    { f: { data: 1 } },
    { f: { data: 'not base64!' } },
    { f: { data: 'YQ' } },
    { f: { data: 'YQ==', content_type: 7 } },
    { f: { data: 'YQ==', content_type: 'a\r\nX-Evil: 1' } },
    { f: { follows: true } },
  ];
  for (const attachments of wrong) {
    const answer = await client.put(`${db}/d`, { _attachments: attachments });
    assertRefused(answer, 400, 'bad_request');
  }
  assertRefused(await client.get(`${db}/d`), 404);
});

test('entries that are no objects are left out', async () => {
  const db = await newDb(client);
  const _attachments = { none: null, list: [], text: { data: 'YQ==' } };
  assertOk(await client.put(`${db}/d`, { _attachments }), 201);
  assert.deepEqual(Object.keys((await client.get(`${db}/d`)).body._attachments), ['text']);
});
