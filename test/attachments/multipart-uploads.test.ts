import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import {
  boundary,
  fileSize,
  getBytes,
  md5,
  multipart,
  noise,
  related,
  sendBytes,
  type BinaryAnswer,
} from './attachment-client.js';
import { eventually, keptBlobs, unfinished } from './kept-files.js';

const dataDir = temporaryFolder();
const bytesMax = 400_000;
const client = await startServer({ dataDir, config: { couchdb: { max_attachment_size: String(bytesMax) } } });
const db = await newDb(client);
const large = noise(fileSize, 1);
const follows = { follows: true, content_type: 'image/png' };
let docs = 0;

const put = (
  body: Buffer | Buffer[],
  path = `${db}/${++docs}`,
  headers: Record<string, string> = related,
): Promise<BinaryAnswer> => sendBytes(client, 'PUT', path, { headers, body });

test('a document and its attachments in one request', async () => {
  const packed = gzipSync('packed text');
  const document = {
    n: 1,
    _attachments: {
      a: { ...follows, length: large.length, digest: `md5-${md5(large)}` },
      i: { data: 'aW5saW5l' },
      b: { ...follows, encoding: 'gzip', digest: `md5-${md5(packed)}` },
      c: { follows: true },
    },
  };
  const body = multipart(document, [
    { body: large, headers: { 'Content-Disposition': 'attachment; filename="a"' } },
    { body: packed, headers: { 'content-encoding': 'gzip' } },
    { body: '' },
  ]);
  for (const sent of [body, [...splitBy(body, 7_001)]]) {
    const id = `whole${++docs}`;
    const answer = await put(sent, `${db}/${id}`);
    assert.equal(answer.status, 201, answer.bytes.toString());
    assert.deepEqual((await getBytes(client, `${db}/${id}/a`)).bytes, large);
    assert.equal((await getBytes(client, `${db}/${id}/i`)).bytes.toString(), 'inline');
    assert.equal((await getBytes(client, `${db}/${id}/b`)).bytes.toString(), 'packed text');
    assert.equal((await getBytes(client, `${db}/${id}/c`)).bytes.length, 0);
    assert.equal((await getBytes(client, `${db}/${id}/a`)).headers['content-type'], 'image/png');
  }
});

function* splitBy(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('content that looks like a boundary is content', async () => {
  const tricky = Buffer.from(`\r\n--${boundary}x\r\n--${boundary.slice(0, -1)}\r\n--\r\n\r\n`);
  const id = `tricky${++docs}`;
  assert.equal(
    (await put(multipart({ _attachments: { f: follows } }, [{ body: tricky }]), `${db}/${id}`)).status,
    201,
  );
  assert.deepEqual((await getBytes(client, `${db}/${id}/f`)).bytes, tricky);
});

const one = { _attachments: { f: follows } };
const sound = multipart(one, [{ body: large }]);
const replaced = (from: string, to: string): Buffer =>
  Buffer.from(sound.toString('latin1').replace(from, to), 'latin1');
const named = (name: string) => ({ 'Content-Disposition': `attachment; filename="${name}"` });

const packed = gzipSync(large);
const announced = { ...follows, encoding: 'gzip', length: large.length, digest: `md5-${md5(packed)}` };
const gzipped = (said: object): Buffer =>
  multipart({ _attachments: { f: { ...announced, ...said } } }, [{ body: packed }]);

test('gzip that is announced with both its lengths and its digest is kept as it came', async () => {
  const path = `${db}/packed${++docs}`;
  const answer = await put(gzipped({ encoded_length: packed.length }), path);
  assert.equal(answer.status, 201, answer.bytes.toString());
  assert.deepEqual((await getBytes(client, `${path}/f`, { 'accept-encoding': 'gzip' })).bytes, packed);
  assert.deepEqual((await getBytes(client, `${path}/f`)).bytes, large);
});

test('a name between quotes may be as it is, as CouchDB sends it', async () => {
  for (const name of ['a"b', 'a\\b', 'x"; filename="y', 'größe"', ';']) {
    const path = `${db}/quoted${++docs}`;
    const document = { _attachments: { [name]: follows } };
    const answer = await put(multipart(document, [{ body: large, headers: named(name) }]), path);
    assert.equal(answer.status, 201, answer.bytes.toString());
    assert.deepEqual((await getBytes(client, `${path}/${encodeURIComponent(name)}`)).bytes, large);
  }
});

const malformed: readonly [what: string, body: Buffer, status?: number][] = [
  ['nothing at all', Buffer.alloc(0)],
  ['no boundary anywhere', Buffer.from('hello')],
  ['only the end', Buffer.from(`--${boundary}--`)],
  ['no attachment', multipart(one, [])],
  ['one attachment too few', multipart({ _attachments: { f: follows, g: follows } }, [{ body: large }])],
  ['no end', sound.subarray(0, -boundary.length - 10)],
  ['an end cut short', sound.subarray(0, -1)],
  ['half an attachment', sound.subarray(0, 50_000)],
  ['half a header', Buffer.from(`--${boundary}\r\nContent-Ty`)],
  ['a header without a colon', replaced('Content-Type: application/json', 'Content-Type application/json')],
  ['a header twice', replaced('Content-Type: application/json', 'A: 1\r\nA: 2')],
  ['headers without end', Buffer.from(`--${boundary}\r\nA: ${'x'.repeat(40_000)}`)],
  ['a document that is not JSON', multipart('{"_attachments":', [{ body: large }])],
  ['a document that is a list', multipart([], [{ body: large }])],
  ['a document that is bytes', multipart('\u0000\u0001', [{ body: large }])],
  [
    'a wrong digest',
    multipart({ _attachments: { f: { ...follows, digest: `md5-${md5('x')}` } } }, [{ body: large }]),
  ],
  ['the wrong name', multipart(one, [{ body: large, headers: named('other') }])],
  [
    'a stub of nothing',
    multipart({ _attachments: { f: follows, s: { stub: true } } }, [{ body: large }]),
    412,
  ],
  ['a wrong digest of gzip', gzipped({ digest: `md5-${md5('x')}` })],
  ['a wrong length in gzip', gzipped({ length: large.length + 1 })],
  ['an encoded_length too small', gzipped({ encoded_length: packed.length - 1 })],
  ['an encoded_length too large', gzipped({ encoded_length: packed.length + 1 })],
  ['an unknown encoding', gzipped({ encoding: 'br' })],
  ['an encoding that is no text', gzipped({ encoding: 5 })],
  ['bad gzip', multipart({ _attachments: { f: { ...follows, encoding: 'gzip' } } }, [{ body: large }])],
  ['a revision of nothing', multipart({ ...one, _rev: '3-abc' }, [{ body: large }]), 409],
  ['a bad revision', multipart({ ...one, _rev: 'rubbish' }, [{ body: large }])],
  ['a bad member', multipart({ ...one, _bad: 1 }, [{ body: large }])],
  ['an attachment too large', multipart(one, [{ body: noise(bytesMax + 1) }]), 413],
];

async function assertNothing(path: string, kept: readonly string[]): Promise<void> {
  assertRefused(await client.get(path), 404);
  await eventually(() => keptBlobs(dataDir), [...kept], 'no blob is left');
  assert.deepEqual(unfinished(dataDir), [], 'no file of an upload is left');
  assertOk(await client.get(db), 200);
}

for (const [what, body, status = 400] of malformed) {
  test(`a multipart body with ${what} is refused with ${status} and leaves nothing`, async () => {
    const kept = keptBlobs(dataDir);
    for (const sent of [body, [...splitBy(body, 9_999)]]) {
      const path = `${db}/bad${++docs}`;
      const answer = await put(sent, path);
      assert.equal(answer.status, status, answer.bytes.toString());
      await assertNothing(path, kept);
    }
  });
}

/** Taken with 201 as it is. */
const lenient: readonly [what: string, body: Buffer][] = [
  ['no closing boundary behind the last attachment', replaced(`--${boundary}--`, `--${boundary}\r\n`)],
  ['an attachment that nobody announced', multipart(one, [{ body: large }, { body: 'more' }])],
  [
    'another length than announced',
    multipart({ _attachments: { f: { ...follows, length: 7 } } }, [{ body: large }]),
  ],
];

for (const [what, body] of lenient) {
  test(`a multipart body with ${what} is refused`, async () => {
    assert.equal((await put(body)).status, 400);
  });
}

test('a type that names no boundary, or a bad one, is refused', async () => {
  for (const type of [
    'multipart/related',
    'multipart/related; boundary=',
    'multipart/related; boundary="',
    `multipart/related; boundary=${'x'.repeat(300)}`,
    'multipart/related; boundary="other"',
  ]) {
    const path = `${db}/bad${++docs}`;
    assert.equal((await put(sound, path, { 'content-type': type })).status, 400, type);
    assertRefused(await client.get(path), 404);
  }
});
