import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { requestHead, sendAndHangUp, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { boundary, getBytes, multipart, noise, putBytes, sendBytes } from './attachment-client.js';
import { eventually, keptBlobs, unfinished } from './kept-files.js';
import { purgeAndCompact, SlowReader } from './slow-reader.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });
/** More than all buffers on the way hold together. */
const long = noise(12_000_000, 1);

for (const [kind, type] of [
  ['plain', 'image/png'],
  ['compressed', 'text/plain'],
] as const) {
  test(`a slow reader gets all of a ${kind} attachment that is purged meanwhile`, async () => {
    const db = await newDb(client);
    const rev = await putBytes(client, `${db}/d/f`, long, type);
    const reader = new SlowReader(client, `${db}/d/f`);
    await reader.begin();
    await purgeAndCompact(client, db, 'd', rev);
    assertRefused(await client.get(`${db}/d/f`), 404);
    assert.equal(keptBlobs(dataDir).length, 1, 'still being read');
    assert.ok((await reader.finish()).equals(long));
    assertOk(await client.delete(db), 200);
    const other = await newDb(client);
    assertOk(await client.post(`${other}/_compact`), 202);
    await eventually(() => keptBlobs(dataDir), [], 'the next compaction removes it');
  });
}

test('readers that leave early let go of the bytes', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/f`, long, 'image/png');
  const rev = await putBytes(client, `${db}/d/g?rev=${first}`, long, 'text/plain');
  const readers = ['f', 'g'].flatMap((name) => [
    new SlowReader(client, `${db}/d/${name}`),
    new SlowReader(client, `${db}/d/${name}`, ['Range: bytes=5-11000000']),
    new SlowReader(client, `${db}/d/${name}`, ['Range: bytes=5-11000000,6-11000000']),
    new SlowReader(client, `${db}/d?attachments=true`, ['Accept: application/json']),
    new SlowReader(client, `${db}/d?attachments=true`, ['Accept: multipart/related']),
    new SlowReader(client, `${db}/_all_docs?include_docs=true&attachments=true`),
  ]);
  await Promise.all(readers.map((reader) => reader.begin()));
  for (const reader of readers) reader.leave();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await purgeAndCompact(client, db, 'd', rev);
  await eventually(
    async () => {
      await client.post(`${db}/_compact`);
      return keptBlobs(dataDir);
    },
    [],
    'nobody holds them',
  );
});

test('what slow readers are yet to get is theirs, however much others read meanwhile', async () => {
  const db = await newDb(client);
  const own = [31, 32, 33].map((seed) => noise(long.length, seed));
  for (const [i, bytes] of own.entries()) await putBytes(client, `${db}/slow${i}/f`, bytes, 'image/png');
  await putBytes(client, `${db}/other/f`, noise(4_000_000, 34), 'image/png');
  const readers = own.map((_, i) => new SlowReader(client, `${db}/slow${i}/f`));
  await Promise.all(readers.map((reader) => reader.begin()));
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 4 }, () => getBytes(client, `${db}/other/f`)));
  for (const [i, reader] of readers.entries()) assert.ok((await reader.finish()).equals(own[i]!), `slow${i}`);
  assertOk(await client.delete(db), 200);
  await eventually(() => keptBlobs(dataDir), [], 'the database is gone');
});

test('a slow writer is waited for, and others are not kept waiting', async () => {
  const db = await newDb(client);
  const bytes = noise(60_000, 5);
  const pieces = Array.from({ length: 12 }, (_, i) => bytes.subarray(i * 5_000, (i + 1) * 5_000));
  const head = requestHead('PUT', `${db}/slow/f`, 'Content-Type: image/png', 'Content-Length: 60000');
  const slow = sendRaw(client.port, [head, ...pieces], {
    pauseMs: 40,
    until: (text) => text.includes('rev'),
  });
  for (let i = 0; i < 10; i++) await putBytes(client, `${db}/fast${i}/f`, bytes);
  assert.deepEqual(statusesIn(await slow), [201]);
  assert.deepEqual((await getBytes(client, `${db}/slow/f`)).bytes, bytes);
  assertOk(await client.delete(db), 200);
  await eventually(() => keptBlobs(dataDir), [], 'the database is gone');
});

const half = long.subarray(0, 3_000_000);
const broken: readonly [what: string, head: readonly string[], body: Buffer][] = [
  ['a plain upload', ['Content-Type: image/png', `Content-Length: ${long.length}`], half],
  ['a text', ['Content-Type: text/plain', `Content-Length: ${long.length}`], half],
  ['a gzipped upload', ['Content-Encoding: gzip', 'Content-Length: 900000'], half.subarray(0, 500_000)],
  [
    'an upload in chunks',
    ['Content-Type: image/png', 'Transfer-Encoding: chunked'],
    Buffer.concat([Buffer.from('2dc6c0\r\n'), half]),
  ],
];

for (const [what, head, body] of broken) {
  test(`${what} whose client hangs up leaves nothing`, async () => {
    const db = await newDb(client);
    const bytes = Buffer.concat([Buffer.from(requestHead('PUT', `${db}/d/f`, ...head)), body]);
    await Promise.all([1, 2, 3].map(() => sendAndHangUp(client.port, bytes)));
    await eventually(() => unfinished(dataDir), [], 'no file of an upload is left');
    assert.deepEqual(keptBlobs(dataDir), []);
    assertRefused(await client.get(`${db}/d`), 404);
  });
}

test('a multipart document whose client hangs up leaves nothing', async () => {
  const db = await newDb(client);
  const entries = { a: { follows: true }, b: { follows: true } };
  const body = multipart({ _attachments: entries }, [{ body: half }, { body: half }]);
  const type = `Content-Type: multipart/related; boundary="${boundary}"`;
  const head = requestHead('PUT', `${db}/d`, type, `Content-Length: ${body.length}`);
  for (const end of [2_000_000, 3_500_000, body.length - 10]) {
    await sendAndHangUp(client.port, Buffer.concat([Buffer.from(head), body.subarray(0, end)]));
  }
  await eventually(() => [...unfinished(dataDir), ...keptBlobs(dataDir)], [], 'nothing is left');
  assertRefused(await client.get(`${db}/d`), 404);
  assert.equal((await sendBytes(client, 'PUT', `${db}/d/f`, { body: 'x' })).status, 201);
});
