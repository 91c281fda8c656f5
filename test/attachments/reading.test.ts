import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { fileSize, getBytes, md5, noise, putBytes, sendBytes } from './attachment-client.js';

const client = await startServer();

for (const [size, bytes] of [
  ['small', noise(1_000)],
  ['large', noise(fileSize)],
  ['empty', Buffer.alloc(0)],
] as const) {
  test(`a ${size} attachment is answered with its bytes and all its headers`, async () => {
    const db = await newDb(client);
    await putBytes(client, `${db}/d/f`, bytes, 'image/x-test');
    for (const method of ['GET', 'HEAD']) {
      const answer = await sendBytes(client, method, `${db}/d/f`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-length'], String(bytes.length));
      assert.equal(answer.headers['content-type'], 'image/x-test');
      assert.equal(answer.headers['content-md5'], md5(bytes));
      assert.equal(answer.headers.etag, `"${md5(bytes)}"`);
      assert.equal(answer.headers['accept-ranges'], 'bytes');
      assert.equal(answer.headers['content-encoding'], undefined);
      assert.deepEqual(answer.bytes, method === 'GET' ? bytes : Buffer.alloc(0));
    }
  });
}

test('a revision is chosen by rev or by If-Match', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, 'one');
  const second = await putBytes(client, `${db}/d/f?rev=${first}`, 'two');
  const read = async (query: string, headers = {}): Promise<string> =>
    (await getBytes(client, `${db}/d/f${query}`, headers)).bytes.toString();
  assert.equal(await read(''), 'two');
  assert.equal(await read(`?rev=${first}`), 'one');
  assert.equal(await read(`?rev=${second}`), 'two');
  assert.equal(await read('', { 'if-match': `"${first}"` }), 'one');
  assert.equal(await read('', { 'if-match': first }), 'one');
});

test('who has the bytes already is told so', async () => {
  const db = await newDb(client);
  await putBytes(client, `${db}/d/f`, 'hello');
  const tag = `"${md5('hello')}"`;
  for (const header of [tag, `"other", ${tag}`, `W/${tag}`]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await sendBytes(client, method, `${db}/d/f`, { headers: { 'if-none-match': header } });
      assert.equal(answer.status, 304, header);
      assert.equal(answer.headers.etag, tag);
      assert.equal(answer.bytes.length, 0);
    }
  }
  for (const header of ['"other"', '*'])
    assert.equal((await getBytes(client, `${db}/d/f`, { 'if-none-match': header })).status, 200);
});

test('what is not there is not found', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/d/f`, 'hello');
  assertRefused(await client.get(`${db}/d/g`), 404, 'not_found');
  assertRefused(await client.get(`${db}/none/f`), 404, 'not_found');
  assertRefused(await client.get('/no-such-database/d/f'), 404, 'not_found');
  assertRefused(await client.get(`${db}/d/f?rev=7-abc`), 404, 'not_found');
  assertRefused(await client.get(`${db}/d/f?rev=rubbish`), 400, 'bad_request');
  assertRefused(await client.get(`${db}/d/f`, { 'if-match': 'rubbish' }), 400, 'bad_request');
  const { body: deleted } = await client.delete(`${db}/d?rev=${rev}`);
  assertRefused(await client.get(`${db}/d/f`), 404, 'not_found');
  assertRefused(await client.get(`${db}/d/f?rev=${deleted.rev}`), 404, 'not_found');
  const old = await client.get(`${db}/d/f?rev=${rev}`);
  assert.deepEqual([old.status, old.text], [200, 'hello'], 'the revision before is still kept');
});

test('who may not read the database may not read its attachments', async () => {
  const db = await newDb(client);
  await putBytes(client, `${db}/d/f`, 'hello');
  await client.put(`${db}/_security`, { members: { names: ['bob'], roles: [] } });
  assertRefused(await client.anonymous.get(`${db}/d/f`), 401, 'unauthorized');
  assert.equal((await client.anonymous.head(`${db}/d/f`)).status, 401);
  assert.equal((await client.get(`${db}/d/f`)).status, 200);
});

test('design documents have attachments too; local documents have none', async () => {
  const db = await newDb(client);
  const rev = await putBytes(client, `${db}/_design/app/logo.png`, 'picture', 'image/png');
  assert.equal((await getBytes(client, `${db}/_design/app/logo.png`)).bytes.toString(), 'picture');
  const { status } = await sendBytes(client, 'HEAD', `${db}/_design/app/logo.png`);
  assert.equal(status, 200);
  assertRefused(await client.anonymous.delete(`${db}/_design/app/logo.png?rev=${rev}`), 401);
  assert.equal((await client.delete(`${db}/_design/app/logo.png?rev=${rev}`)).status, 200);
  const anonymous = await sendBytes(client.anonymous, 'PUT', `${db}/_design/b/f`, { body: 'x' });
  assert.equal(anonymous.status, 401);
  assertRefused(await client.send('PUT', `${db}/_local/d/f`, { raw: 'x' }), 400, 'bad_request');
  assert.equal((await client.get(`${db}/_design/b`)).status, 404);
});

test('other methods are refused, and told what is allowed', async () => {
  const db = await newDb(client);
  await putBytes(client, `${db}/d/f`, 'hello');
  const answer = await client.post(`${db}/d/f`, {});
  assertRefused(answer, 405, 'method_not_allowed');
  assert.match(answer.headers.allow!, /GET/);
});
