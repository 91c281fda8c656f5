import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';
import { fileSize, getBytes, noise, putBytes, sendBytes, type BinaryAnswer } from './attachment-client.js';

const client = await startServer();
const db = await newDb(client);
const bytes = noise(fileSize, 7);
const letters = Buffer.from('abcdefghijklmnopqrstuvwxyz'.repeat(4_000));
await putBytes(client, `${db}/plain/f`, bytes);
await putBytes(client, `${db}/packed/f`, letters, 'text/plain');
await putBytes(client, `${db}/small/f`, '0123456789');
await putBytes(client, `${db}/empty/f`, Buffer.alloc(0));

const ranged = (id: string, range: string, headers = {}): Promise<BinaryAnswer> =>
  getBytes(client, `${db}/${id}/f`, { range, ...headers });

const parts: readonly [range: string, first: number, end: number][] = [
  ['bytes=0-0', 0, 1],
  ['bytes=2-5', 2, 6],
  ['bytes=7-', 7, Infinity],
  ['bytes=-3', -3, Infinity],
  ['bytes=4-999999999999999999', 4, Infinity],
  ['bytes= 3-4 ', 3, 5],
];

for (const [id, content] of [
  ['plain', bytes],
  ['packed', letters],
  ['small', Buffer.from('0123456789')],
] as const) {
  test(`one range of a ${id} attachment is answered with just that`, async () => {
    for (const [range, first, end] of parts) {
      const wanted = content.subarray(first, end === Infinity ? content.length : end);
      const start = first < 0 ? content.length + first : first;
      for (const encoding of ['identity', 'gzip']) {
        const answer = await ranged(id, range, { 'accept-encoding': encoding });
        assert.equal(answer.status, 206, range);
        assert.deepEqual(answer.bytes, wanted, range);
        assert.equal(answer.headers['content-length'], String(wanted.length));
        assert.equal(
          answer.headers['content-range'],
          `bytes ${start}-${start + wanted.length - 1}/${content.length}`,
        );
        assert.equal(answer.headers['content-encoding'], undefined, 'a range is of the plain bytes');
        assert.equal(answer.headers['accept-ranges'], 'bytes');
        assert.ok(answer.headers.etag);
      }
    }
  });
}

test('a suffix longer than the attachment is all of it', async () => {
  const answer = await ranged('small', 'bytes=-5000');
  assert.deepEqual([answer.status, answer.bytes.toString()], [206, '0123456789']);
});

test('several ranges come as parts of one answer', async () => {
  const answer = await ranged('plain', 'bytes=0-9,500-599,-20');
  assert.equal(answer.status, 206);
  const mark = /^multipart\/byteranges; boundary="(.+)"$/.exec(answer.headers['content-type']!)![1]!;
  const pieces = answer.bytes.toString('latin1').split(`--${mark}`);
  assert.equal(pieces.length, 5, 'nothing, three parts and the end');
  assert.equal(pieces[4], '--');
  const wanted = [bytes.subarray(0, 10), bytes.subarray(500, 600), bytes.subarray(-20)];
  for (const [i, each] of wanted.entries()) {
    const [head = '', body = ''] = splitHead(pieces[i + 1]!);
    assert.match(head, /Content-Type: application\/octet-stream/i);
    assert.match(head, new RegExp(`Content-Range: bytes \\d+-\\d+/${bytes.length}`, 'i'));
    assert.deepEqual(Buffer.from(body.slice(0, -2), 'latin1'), each);
  }
});

function splitHead(part: string): [string, string] {
  const at = part.indexOf('\r\n\r\n');
  return [part.slice(0, at), part.slice(at + 4)];
}

test('ranges behind the end cannot be satisfied', async () => {
  for (const [id, range] of [
    ['small', 'bytes=10-'],
    ['small', 'bytes=10-12'],
    ['small', 'bytes=-0'],
    ['small', 'bytes=0-1,99-100'],
    ['small', 'bytes=5-2'],
    ['packed', 'bytes=104000-'],
    ['empty', 'bytes=0-0'],
    ['empty', 'bytes=5-'],
    ['empty', 'bytes=-3'],
  ] as const) {
    const answer = await ranged(id, range);
    assert.equal(answer.status, 416, `${id} ${range}`);
    assert.equal(
      (JSON.parse(answer.bytes.toString()) as { error: string }).error,
      'requested_range_not_satisfiable',
    );
  }
});

test('what is not understood, or is all, gets all', async () => {
  const tooMany = `bytes=${Array.from({ length: 10 }, (_, i) => `${i}-${i}`).join(',')}`;
  for (const range of ['bytes=0-', 'bytes=x-y', 'bytes=', 'bytes=-', 'lines=0-1', tooMany]) {
    const answer = await ranged('small', range);
    assert.deepEqual([answer.status, answer.bytes.toString()], [200, '0123456789'], range);
  }
});

test('HEAD with a range tells its size', async () => {
  const answer = await sendBytes(client, 'HEAD', `${db}/plain/f`, { headers: { range: 'bytes=10-19' } });
  assert.deepEqual([answer.status, answer.headers['content-length'], answer.bytes.length], [206, '10', 0]);
});

test('empty elements of a list of ranges are ignored', async () => {
  for (const range of ['bytes=0-3,', 'bytes=,0-3', 'bytes=, ,0-3, ']) {
    const answer = await ranged('small', range);
    assert.deepEqual([answer.status, answer.bytes.toString()], [206, '0123'], range);
  }
  assert.equal((await ranged('small', 'bytes=,')).status, 200);
});

test('a range from the beginning to the end is the whole, also among others', async () => {
  for (const range of ['bytes=0-', 'bytes=0-,1-', 'bytes=0-1,0-']) {
    const answer = await ranged('small', range);
    assert.deepEqual([answer.status, answer.bytes.toString()], [200, '0123456789'], range);
  }
});
