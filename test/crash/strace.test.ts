import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { noise, putBytes } from '../attachments/attachment-client.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { traced, withoutTracing, type SystemCall } from './system-calls.js';

/**
 * What LMDB does for a commit: it writes the new pages, waits for `fdatasync` of the file, and then writes the page
 * that makes them count through a second descriptor, opened with O_DSYNC, so that this write returns when it is on
 * disk. Only then may the answer leave.
 */
const requests: {
  send: (client: HttpClient) => Promise<unknown>;
  line: string;
  file: string;
  holds?: string;
}[] = [
  { send: (client) => client.put('/db'), line: 'PUT /db HTTP', file: 'catalogue', holds: 'ddb' },
  ...Array.from({ length: 6 }, (_, i) => ({
    send: (client: HttpClient) => client.put(`/db/doc${i}`, { text: `mark-${i}-` }),
    line: `PUT /db/doc${i} HTTP`,
    file: 'documents',
    holds: `mark-${i}-`,
  })),
  {
    send: (client) => client.put('/db/large', { text: 'y'.repeat(100_000) }),
    line: 'PUT /db/large HTTP',
    file: 'documents',
  },
  {
    send: (client) =>
      client.post('/db/_bulk_docs', { docs: [{ _id: 'a' }, { _id: 'b' }, { _id: 'mark-bulk' }] }),
    line: 'POST /db/_bulk_docs HTTP',
    file: 'documents',
    holds: 'mark-bulk',
  },
];

test('no 201 leaves before what it stands for is on disk', { skip: withoutTracing() }, async (t) => {
  const calls = await traced(t, temporaryFolder(), async (url) => {
    const client = new HttpClient(url);
    for (const { send } of requests) await send(client);
  });
  for (const { line, file, holds } of requests) {
    const request = calls.find(({ name, text }) => name === 'read' && text.includes(`"${line}`));
    assert.ok(request, `the trace has the request ${line}`);
    const answer = calls.find(
      ({ begin, text }) => begin > request.end && isSend(text) && /HTTP\/1\.1 \d/.test(text),
    );
    assert.match(answer?.text ?? '', /HTTP\/1\.1 201 /, line);
    const between = calls.filter(({ begin, end }) => begin > request.end && end < answer!.begin);
    checkCommit(
      calls,
      between.filter(({ text }) => ofFile(text, file)),
      line,
      holds,
    );
  }
});

test(
  'no 201 leaves before an attachment, its name and its document are on disk',
  { skip: withoutTracing() },
  async (t) => {
    const bytes = noise(1_000_000);
    const calls = await traced(t, temporaryFolder(), async (url) => {
      const client = new HttpClient(url);
      assert.equal((await client.put('/db')).status, 201);
      await putBytes(client, '/db/doc/f', bytes);
    });
    const request = calls.find(({ name, text }) => name === 'read' && text.includes('"PUT /db/doc/f HTTP'))!;
    const later = calls.filter(({ begin }) => begin > request.end);
    const answer = later.find(({ text }) => isSend(text) && /HTTP\/1\.1 \d/.test(text));
    assert.match(answer?.text ?? '', /HTTP\/1\.1 201 /);
    const commit = later.find(
      (call) => isWrite(call) && ofFile(call.text, 'documents') && isWrittenThrough(calls, call),
    )!;
    assert.ok(commit.end < answer!.begin, 'the document is on disk before the answer');
    checkBlob(
      later.filter(({ end }) => end < commit.begin),
      bytes,
    );
  },
);

/** All bytes, then the name; then both are synced, in whichever order. */
function checkBlob(calls: SystemCall[], bytes: Buffer): void {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const folder = `/attachments/${digest.slice(0, 2)}`;
  const ofBlob = calls.filter(({ text }) => /^\w+\(\d+<[^>]*\/attachments\/tmp\//.test(text));
  const writes = ofBlob.filter(isWrite);
  assert.equal(
    writes.reduce((sum, { text }) => sum + Number(/\d+$/.exec(text)![0]), 0),
    bytes.length,
  );
  const written = Math.max(...writes.map(({ end }) => end));
  const named = calls.find(({ name, text }) => /^(link|rename)/.test(name) && text.includes(folder));
  assert.ok(named!.begin > written, 'a file gets its name when it is whole');
  assert.ok(named!.text.includes(`${folder}/${digest.slice(2)}"`));
  const bytesSync = ofBlob.find(({ name, begin }) => /^f(data)?sync$/.test(name) && begin > written);
  assert.match(bytesSync?.text ?? '', / = 0$/, 'the bytes are synced');
  const nameSync = calls.find(
    ({ name, text, begin }) => name === 'fsync' && text.includes(`${folder}>`) && begin > named!.end,
  );
  assert.match(nameSync?.text ?? '', / = 0$/, 'the name is synced');
}

/** Pages, then the sync that covers them, then the page that makes them count, written through. */
function checkCommit(
  calls: SystemCall[],
  commit: SystemCall[],
  line: string,
  holds: string | undefined,
): void {
  const head = commit.findLast((call) => isWrite(call) && isWrittenThrough(calls, call));
  assert.ok(head, `${line}: the head page is written through`);
  const pages = commit.filter((call) => isWrite(call) && !isWrittenThrough(calls, call));
  assert.ok(pages.length > 0, `${line}: pages are written`);
  if (holds !== undefined)
    assert.ok(
      pages.some(({ text }) => text.includes(holds)),
      `${line}: with what came`,
    );
  const written = Math.max(...pages.map(({ end }) => end));
  const sync = commit.find(({ name, begin }) => /^f(data)?sync$/.test(name) && begin > written);
  assert.ok(sync, `${line}: the file is synced after its last page was written`);
  assert.match(sync.text, / = 0$/, line);
  assert.ok(head.begin > sync.end, `${line}: the head page waits for the sync`);
  assert.match(head.text, / = [1-9]\d*$/, line);
}

const isSend = (text: string): boolean => /^(write|writev|sendto|sendmsg)\(\d+<(socket|TCP)/.test(text);
const isWrite = ({ name }: SystemCall): boolean => /^(pwrite64|pwritev|write|writev)$/.test(name);
const ofFile = (text: string, folder: string): boolean =>
  new RegExp(`^\\w+\\(\\d+<[^>]*/data/${folder}/[^>]*data\\.mdb>`).test(text);

/** Whether the descriptor of a call was opened so that every write waits for the disk. */
function isWrittenThrough(calls: SystemCall[], { text, begin }: SystemCall): boolean {
  const descriptor = /^\w+\((\d+<[^>]*>)/.exec(text)![1]!;
  const opened = calls.findLast(
    (call) => call.name === 'openat' && call.end < begin && call.text.endsWith(` = ${descriptor}`),
  );
  return /O_D?SYNC/.test(opened?.text ?? '');
}
