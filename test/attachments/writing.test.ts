import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { fileSize, getBytes, md5, noise, putBytes, sendBytes } from './attachment-client.js';
import { keptBlobs, unfinished } from './kept-files.js';

const dataDir = temporaryFolder();
const bytesMax = 300_000;
const client = await startServer({ dataDir, config: { couchdb: { max_attachment_size: String(bytesMax) } } });
const octets = { 'content-type': 'application/octet-stream' };

test('a PUT begins a document, adds to one, and replaces', async () => {
  const db = await newDb(client);
  const begun = await client.send('PUT', `${db}/d/f`, { raw: 'one', headers: octets });
  assertOk(begun, 201);
  assert.deepEqual({ ...begun.body, rev: '' }, { ok: true, id: 'd', rev: '' });
  assert.match(begun.body.rev, revOf(1));
  assert.equal(begun.headers.etag, `"${begun.body.rev}"`);
  assert.equal(begun.headers.location, `${client.url}${db}/d/f`);
  const second = await putBytes(client, `${db}/d/g?rev=${begun.body.rev}`, 'two');
  assert.match(second, revOf(2));
  const third = await client.send('PUT', `${db}/d/f`, {
    raw: 'three',
    headers: { ...octets, 'if-match': `"${second}"` },
  });
  assertOk(third, 201);
  const { body } = await client.get(`${db}/d`);
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(body._attachments as Record<string, { revpos: number; length: number }>).map(
        ([name, { revpos, length }]) => [name, [revpos, length]],
      ),
    ),
    { f: [3, 5], g: [2, 3] },
  );
});

test('the other members of a document stay', async () => {
  const db = await newDb(client);
  const { body } = await client.put(`${db}/d`, { title: 'x', n: 1 });
  await putBytes(client, `${db}/d/f?rev=${body.rev}`, 'bytes');
  const { body: doc } = await client.get(`${db}/d`);
  assert.deepEqual([doc.title, doc.n], ['x', 1]);
});

test('a revision that is missing, outdated or unknown is a conflict', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, 'one');
  const second = await putBytes(client, `${db}/d/f?rev=${first}`, 'two');
  const put = (query: string) =>
    client.send('PUT', `${db}/d/f${query}`, { raw: noise(fileSize), headers: octets });
  assertRefused(await put(''), 409, 'conflict');
  assertRefused(await put(`?rev=${first}`), 409, 'conflict');
  assertRefused(await put('?rev=9-00000000000000000000000000000000'), 409);
  assertRefused(await put('?rev=rubbish'), 400, 'bad_request');
  const both = { ...octets, 'if-match': first };
  assertRefused(
    await client.send('PUT', `${db}/d/f?rev=${second}`, { raw: 'x', headers: both }),
    400,
    'bad_request',
  );
  for (const query of ['', `?rev=${first}`]) assertRefused(await client.delete(`${db}/d/f${query}`), 409);
  assert.equal((await getBytes(client, `${db}/d/f`)).bytes.toString(), 'two');
  assert.deepEqual(keptBlobs(dataDir), [], 'what was in conflict left no file');
});

test('a database, a document or a name that is not there', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/f`, 'one');
  assertRefused(await client.send('PUT', '/no-such-database/d/f', { raw: 'x', headers: octets }), 404);
  assertRefused(await client.delete(`${db}/none/f?rev=${rev}`), 409, 'not_found');
  assertRefused(await client.delete(`${db}/d/f?rev=9-abc`), 409, 'not_found');
  assertRefused(await client.delete(`${db}/none/f`), 404, 'not_found');
  assertRefused(await client.delete(`${db}/d/g?rev=${rev}`), 404, 'not_found');
  assertRefused(await client.delete('/no-such-database/d/f'), 404, 'not_found');
});

test('who may not write may not attach', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/f`, 'one');
  await client.put(`${db}/_security`, { members: { names: ['bob'], roles: [] } });
  const request = { raw: noise(fileSize), headers: octets };
  assertRefused(await client.anonymous.send('PUT', `${db}/e/f`, request), 401, 'unauthorized');
  assertRefused(await client.anonymous.delete(`${db}/d/f?rev=${rev}`), 401, 'unauthorized');
  assert.deepEqual(keptBlobs(dataDir), []);
});

test('a DELETE takes the attachment out of a new revision', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, 'one');
  const second = await putBytes(client, `${db}/d/g?rev=${first}`, 'two');
  const gone = await client.delete(`${db}/d/f?rev=${second}`, { 'X-Svc-Full-Commit': 'true' });
  assertOk(gone, 200);
  assert.deepEqual([gone.body.ok, gone.body.id], [true, 'd']);
  assert.match(gone.body.rev, revOf(3));
  assert.equal(gone.headers.etag, `"${gone.body.rev}"`);
  assert.deepEqual(Object.keys((await client.get(`${db}/d`)).body._attachments), ['g']);
  const last = await client.delete(`${db}/d/g`, {
    'if-match': gone.body.rev,
    'X-Svc-Full-Commit': 'false',
  });
  assertOk(last, 200);
  assert.equal((await client.get(`${db}/d`)).body._attachments, undefined);
});

test('a DELETE with batch=ok is answered at once and done a little later', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/f`, 'one');
  const answer = await client.delete(`${db}/d/f?rev=${rev}&batch=ok`);
  assertOk(answer, 202);
  assert.deepEqual(answer.body, { ok: true, id: 'd' });
  await client.post(`${db}/_ensure_full_commit`);
  assertRefused(await client.get(`${db}/d/f`), 404);
  assertRefused(await client.delete(`${db}/d/g?rev=${rev}&batch=ok`), 404);
});

test('Content-MD5 is checked', async () => {
  const db = await newDb(client);
  const bytes = noise(fileSize, 3);
  const put = (path: string, sum: string, headers = {}) =>
    client.send('PUT', db + path, { raw: bytes, headers: { ...octets, 'content-md5': sum, ...headers } });
  assertOk(await put('/right/f', md5(bytes)), 201);
  const kept = keptBlobs(dataDir).length;
  for (const type of ['image/png', 'text/plain']) {
    assertRefused(await put('/wrong/f', md5('other'), { 'content-type': type }), 400, 'bad_request');
  }
  assertOk(await put('/text/f', md5(bytes), { 'content-type': 'text/plain' }), 201);
  assertRefused(await client.get(`${db}/wrong`), 404);
  assert.equal(keptBlobs(dataDir).length, kept + 1, 'only the text that was right');
  assert.deepEqual(unfinished(dataDir), []);
});

test('types are kept to the letter, and have a default', async () => {
  const db = await newDb(client);
  for (const [i, type] of ['text/PLAIN;charset=UTF-8', 'weird', 'a/b; c="d; e\\"f"', ''].entries()) {
    await putBytes(client, `${db}/${i}/f`, 'x', type);
    assert.equal((await getBytes(client, `${db}/${i}/f`)).headers['content-type'], type);
    assert.equal((await client.get(`${db}/${i}`)).body._attachments.f.content_type, type);
  }
  assert.equal((await sendBytes(client, 'PUT', `${db}/none/f`, { body: 'x' })).status, 201);
  assert.equal((await getBytes(client, `${db}/none/f`)).headers['content-type'], octets['content-type']);
});

test('a type with letters beyond ASCII is kept to the letter', async () => {
  const db = await newDb(client);
  const type = Buffer.from('text/plain; title="é"').toString('latin1');
  // With a text for its body, Node's client would write the head as UTF-8 too.
  await putBytes(client, `${db}/d/f`, Buffer.from('x'), type);
  assert.equal((await getBytes(client, `${db}/d/f`)).headers['content-type'], type);
});

test('what is too large is refused, announced or not', async () => {
  const db = await newDb(client);
  const [fitting, more] = [noise(bytesMax), noise(bytesMax + 1)];
  for (const [i, type] of ['image/png', 'text/plain'].entries()) {
    const headers = { 'content-type': type };
    for (const body of [more, [more], [more.subarray(0, 1_000), more]]) {
      const answer = await sendBytes(client, 'PUT', `${db}/${i}/f`, { headers, body });
      assert.equal(answer.status, 413);
      assert.match(answer.bytes.toString(), /attachment_too_large/);
    }
    assertRefused(await client.get(`${db}/${i}`), 404);
    await putBytes(client, `${db}/${i}/f`, [fitting], type);
  }
  const inline = { _attachments: { f: { data: more.toString('base64') } } };
  assertRefused(await client.put(`${db}/inline`, inline), 413, 'attachment_too_large');
  assert.deepEqual(unfinished(dataDir), []);
});

test('a branch that ends deleted stays deleted when an attachment is added to it or removed', async () => {
  const db = await newDb(client);
  const docs = [
    { _id: 'd', _rev: '2-a', live: true },
    { _id: 'd', _rev: '3-b', _deleted: true },
    { _id: 'gone', _rev: '2-a', _deleted: true },
  ];
  assertOk(await client.post(`${db}/_bulk_docs`, { docs, new_edits: false }), 201);
  const added = await putBytes(client, `${db}/d/f?rev=3-b`, 'one');
  const removed = await client.delete(`${db}/d/f?rev=${added}`);
  assertOk(removed, 200);
  for (const rev of [added, removed.body.rev as string])
    assert.equal((await client.get(`${db}/d?rev=${rev}`)).body._deleted, true);
  assert.equal((await client.get(`${db}/d`)).body.live, true);
  const refused = await client.send('PUT', `${db}/gone/f?rev=2-a`, { raw: 'one', headers: octets });
  assertRefused(refused, 409, 'conflict');
});

test('an encoding that is not supported is refused before a revision that is not there', async () => {
  const db = await newDb(client);
  const headers = { ...octets, 'content-encoding': 'br' };
  const refused = await client.send('PUT', `${db}/d/f?rev=2-b`, { raw: 'one', headers });
  assertRefused(refused, 415, 'bad_content_type');
});
