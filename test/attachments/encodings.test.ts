import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { fileSize, getBytes, md5, noise, putBytes, sendBytes } from './attachment-client.js';
import { keptBlobs, unfinished } from './kept-files.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });
const gzip = { 'accept-encoding': 'gzip' };

for (const [size, plain] of [
  ['small', Buffer.from('hello hello hello hello')],
  ['large', noise(fileSize, 5)],
] as const) {
  test(`a ${size} upload that is gzipped is kept so, and unpacked for others`, async () => {
    const db = await newDb(client);
    const packed = gzipSync(plain, { level: 1 });
    const headers = { 'content-type': 'image/x', 'content-encoding': 'gzip', 'content-md5': md5(packed) };
    assert.equal((await sendBytes(client, 'PUT', `${db}/d/f`, { headers, body: packed })).status, 201);
    const asKept = await getBytes(client, `${db}/d/f`, gzip);
    assert.deepEqual(asKept.bytes, packed);
    assert.equal(asKept.headers['content-encoding'], 'gzip');
    assert.equal(asKept.headers['content-length'], String(packed.length));
    assert.equal(asKept.headers['content-md5'], md5(packed));
    const unpacked = await getBytes(client, `${db}/d/f`, { 'accept-encoding': 'identity' });
    assert.deepEqual(unpacked.bytes, plain);
    assert.equal(unpacked.headers['content-encoding'], undefined);
    assert.equal(unpacked.headers['content-length'], String(plain.length));
    const head = await sendBytes(client, 'HEAD', `${db}/d/f`, { headers: gzip });
    assert.deepEqual(
      [head.headers['content-encoding'], head.headers['content-length']],
      ['gzip', String(packed.length)],
    );
    const { body } = await client.get(`${db}/d?att_encoding_info=true`);
    const { encoding, encoded_length, length } = body._attachments.f;
    assert.deepEqual([encoding, encoded_length, length], ['gzip', packed.length, plain.length]);
  });
}

test('texts are compressed on the way in and unpacked on the way out', async () => {
  const db = await newDb(client);
  const text = Buffer.from('the same again and again. '.repeat(20_000));
  for (const type of [
    'text/plain',
    'TEXT/html; charset=utf-8',
    'application/json',
    'application/javascript',
  ]) {
    const id = type.replace(/\W/g, '-');
    await putBytes(client, `${db}/${id}/f`, text, type);
    assert.deepEqual((await getBytes(client, `${db}/${id}/f`)).bytes, text);
    const packed = await getBytes(client, `${db}/${id}/f`, gzip);
    assert.equal(packed.headers['content-encoding'], 'gzip', type);
    assert.ok(packed.bytes.length < text.length / 10);
    assert.deepEqual(gunzipSync(packed.bytes), text);
    assert.equal(packed.headers['content-md5'], md5(packed.bytes), 'the digest is that of what is kept');
    assert.equal(packed.headers.vary, 'Accept-Encoding');
  }
  await putBytes(client, `${db}/picture/f`, text, 'image/png');
  assert.equal((await getBytes(client, `${db}/picture/f`, gzip)).headers['content-encoding'], undefined);
});

test('only those who take gzip get it', async () => {
  const db = await newDb(client);
  await putBytes(client, `${db}/d/f`, 'text '.repeat(100), 'text/plain');
  const encodingFor = async (header: string): Promise<string | undefined> =>
    (await getBytes(client, `${db}/d/f`, { 'accept-encoding': header })).headers['content-encoding'];
  for (const yes of ['gzip', 'deflate, gzip;q=0.5', 'GZIP', '*', 'br, *;q=0.1'])
    assert.equal(await encodingFor(yes), 'gzip', yes);
  for (const no of ['identity', 'deflate', 'gzip;q=0', 'gzip; q=0.0, *', '*;q=0', ''])
    assert.equal(await encodingFor(no), undefined, no);
});

test('gzip that is none, or breaks off, is refused and leaves nothing', async () => {
  const db = await newDb(client);
  const kept = keptBlobs(dataDir);
  const packed = gzipSync(noise(fileSize, 6));
  const damaged = Buffer.from(packed);
  damaged.fill(0, 50_000, 50_100);
  const headers = { 'content-type': 'image/x', 'content-encoding': 'gzip' };
  for (const body of [Buffer.from('nope'), noise(fileSize), packed.subarray(0, -5), damaged]) {
    const answer = await sendBytes(client, 'PUT', `${db}/d/f`, { headers, body });
    assert.equal(answer.status, 400, answer.bytes.toString());
  }
  assertRefused(await client.get(`${db}/d`), 404);
  assert.deepEqual([keptBlobs(dataDir), unfinished(dataDir)], [kept, []]);
});

test('other encodings are refused', async () => {
  const db = await newDb(client);
  const headers = { 'content-type': 'image/x', 'content-encoding': 'deflate' };
  const answer = await sendBytes(client, 'PUT', `${db}/d/f`, { headers, body: 'x' });
  assert.equal(answer.status, 415);
});

test('data in a document is plain whatever encoding says, so that what was read can be written back', async () => {
  const db = await newDb(client);
  const f = { data: Buffer.from('hello there').toString('base64'), content_type: 'text/plain' };
  const said = { encoding: 'gzip', encoded_length: 31, digest: 'md5-nonsense' };
  assertOk(await client.put(`${db}/d`, { _attachments: { f: { ...f, ...said } } }), 201);
  assert.equal((await getBytes(client, `${db}/d/f`)).bytes.toString(), 'hello there');
  const { body: read } = await client.get(`${db}/d?attachments=true&att_encoding_info=true`);
  assert.deepEqual([read._attachments.f.encoding, read._attachments.f.data], ['gzip', f.data]);
  assertOk(await client.put(`${db}/copy`, { _attachments: read._attachments }), 201);
  assert.equal((await getBytes(client, `${db}/copy/f`)).bytes.toString(), 'hello there');
});

test('compression can be turned off', async () => {
  const plain = await startServer({ config: { attachments: { compression_level: '0' } } });
  const db = await newDb(plain);
  await putBytes(plain, `${db}/d/f`, 'text', 'text/plain');
  const answer = await getBytes(plain, `${db}/d/f`, gzip);
  assert.deepEqual([answer.headers['content-encoding'], answer.bytes.toString()], [undefined, 'text']);
});
