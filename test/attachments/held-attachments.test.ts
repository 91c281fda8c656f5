import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { getBytes, multipart, noise, related, sendBytes } from './attachment-client.js';
import { eventually, keptBlobs } from './kept-files.js';
import { purgeAndCompact, SlowReader } from './slow-reader.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });

/** The first is more than all buffers on the way hold together; the last is kept beside the document. */
const contents = [
  noise(9_000_000, 1),
  noise(300_000, 2),
  Buffer.from(noise(300_000, 4).toString('base64')),
  noise(900, 3),
] as const;
const types = ['image/png', 'image/png', 'text/plain', 'image/png'];

async function newDoc(db: string): Promise<string> {
  const entries = contents.map(({ length }, i) => [
    `f${i}`,
    { follows: true, length, content_type: types[i] },
  ]);
  const body = multipart(
    { _attachments: Object.fromEntries(entries) },
    contents.map((body) => ({ body })),
  );
  const answer = await sendBytes(client, 'PUT', `${db}/d`, { headers: related, body });
  assert.equal(answer.status, 201, answer.bytes.toString());
  return (JSON.parse(answer.bytes.toString()) as { rev: string }).rev;
}

const json = 'Accept: application/json';
const wholeDoc = JSON.stringify({ docs: [{ id: 'd' }] });

/** Ways to ask for a document with all its bytes. The body of the answer holds them as they are stored, or as base64. */
const ways: readonly [what: string, path: string, headers: string[], body?: string][] = [
  ['multipart/related', '/d?attachments=true', ['Accept: multipart/related']],
  ['JSON', '/d?attachments=true', [json]],
  ['open_revs as multipart/mixed', '/d?open_revs=all', ['Accept: multipart/mixed']],
  ['open_revs as JSON', '/d?open_revs=all&attachments=true', [json]],
  ['_bulk_get as multipart/mixed', '/_bulk_get?attachments=true', ['Accept: multipart/mixed'], wholeDoc],
  ['_bulk_get as multipart/related', '/_bulk_get?attachments=true', ['Accept: multipart/related'], wholeDoc],
  ['_bulk_get as JSON', '/_bulk_get?attachments=true', [json], wholeDoc],
  ['_all_docs', '/_all_docs?include_docs=true&attachments=true', [json]],
  ['_changes', '/_changes?include_docs=true&attachments=true', [json]],
];

const purged = async (db: string): Promise<void> => {
  assertRefused(await client.get(`${db}/d/f0`), 404);
  await eventually(
    async () => {
      assertOk(await client.post(`${db}/_compact`), 202);
      return keptBlobs(dataDir);
    },
    [],
    'nobody holds the bytes any more',
  );
};

for (const [what, path, headers, body] of ways) {
  test(`a slow reader of ${what} gets all attachments of a document that is purged meanwhile`, async () => {
    const db = await newDb(client);
    const rev = await newDoc(db);
    const packed = (await getBytes(client, `${db}/d/f2`, { 'accept-encoding': 'gzip' })).bytes;
    const reader = new SlowReader(client, db + path, headers, body);
    await reader.begin();
    await purgeAndCompact(client, db, 'd', rev);
    assert.equal(keptBlobs(dataDir).length, 3, 'all files are held');
    const answer = await reader.finish();
    for (const [i, bytes] of contents.entries()) {
      const stored = types[i] === 'text/plain' ? packed : bytes;
      const shown = headers[0] === json ? bytes.toString('base64') : stored;
      assert.ok(answer.includes(shown), `f${i}`);
    }
    await purged(db);
  });
}

test('a slow reader of several ranges gets all of them though the document is purged', async () => {
  const db = await newDb(client);
  const rev = await newDoc(db);
  const reader = new SlowReader(client, `${db}/d/f0`, ['Range: bytes=0-8000000,8000001-8999999']);
  await reader.begin();
  await purgeAndCompact(client, db, 'd', rev);
  const answer = await reader.finish();
  assert.ok(answer.includes(contents[0].subarray(0, 8_000_001)));
  assert.ok(answer.includes(contents[0].subarray(8_000_001)));
  await purged(db);
});

test('readers who leave, and those who only ask for the head, hold nothing', async () => {
  const db = await newDb(client);
  const rev = await newDoc(db);
  const readers = ways.map(([, path, headers, body]) => new SlowReader(client, db + path, headers, body));
  readers.push(new SlowReader(client, `${db}/d/f0`, ['Range: bytes=0-8000000,8000001-8999999']));
  for (const more of [
    'feed=longpoll',
    'feed=continuous',
    'feed=continuous&descending=true',
    'descending=true',
  ])
    readers.push(new SlowReader(client, `${db}/_changes?include_docs=true&attachments=true&${more}`));
  await Promise.all(readers.map((reader) => reader.begin()));
  for (const reader of readers) reader.leave();
  for (const accept of ['multipart/related', 'application/json']) {
    for (const path of ['/d?attachments=true', '/d?open_revs=all']) {
      assert.equal((await sendBytes(client, 'HEAD', db + path, { headers: { accept } })).status, 200);
    }
  }
  assert.equal((await getBytes(client, `${db}/d/f1`)).bytes.length, contents[1].length);
  await purgeAndCompact(client, db, 'd', rev);
  await purged(db);
});
