import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { newDb, startServer } from '../support/server.js';

/** Answers are sent in pieces of 64 KB, of which one is sent in a turn of the event loop; a large row may come on top. */
const turnBytesMax = 256 * 1024;
const answerBytesMin = 400_000;
const docCount = 6_000;

/** A client on a thread of its own that takes all it can get, so that the server's socket always has room. */
const reader = new Worker(
  `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ({ port, request }) => {
    const socket = require('node:net').connect(port, '127.0.0.1', () => socket.write(request));
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.on('close', () => parentPort.postMessage(bytes));
  });
`,
  { eval: true },
);
after(() => reader.terminate());

const client = await startServer();
const db = await newDb(client);

describe('a long answer to a fast client leaves each turn of the event loop to others', () => {
  let revs: { id: string; rev: string }[];

  before(async () => {
    const docs = Array.from({ length: docCount }, (_, n) => ({
      _id: `document-${String(n).padStart(50, '0')}`,
      n,
      text: 'x'.repeat(100),
    }));
    revs = (await client.post(`${db}/_bulk_docs`, { docs })).body as typeof revs;
    await client.put(`${db}/many-rows`, { rows: docCount });
    await client.put(`${db}/_design/d`, {
      views: {
        all: {
          map: `function (doc) { emit([doc._id, 1], 'a value of some length, so that there are some megabytes'); }`,
        },
        groups: { map: 'function (doc) { emit([doc._id, 1], 1); }', reduce: '_sum' },
        functions: {
          map: 'function (doc) { emit([doc._id, 1], 1); }',
          reduce: 'function (keys, values, re) { return sum(values); }',
        },
        equal: {
          map: `function (doc) { for (var i = 0; i < doc.rows; i++) emit('a key that they all have', '${'x'.repeat(60)}'); }`,
        },
      },
      filters: { all: 'function () { return true; }' },
      lists: { all: `function () { var row; while ((row = getRow())) send(JSON.stringify(row)); }` },
    });
    for (let at = 0; at < 4_000; at += 2_000) {
      const localDocs = docs
        .slice(at, at + 2_000)
        .map(({ _id }) => ({ _id: `_local/${_id}`, text: 'x'.repeat(250) }));
      await client.post(`${db}/_bulk_docs`, { docs: localDocs });
    }
  });

  /** Gives the size of the answer, and the most of it that was written in one turn. */
  async function measure(
    method: string,
    path: string,
    body?: unknown,
    accept = '*/*',
  ): Promise<[number, number]> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const request = [
      `${method} ${db}/${path} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      `Authorization: Basic ${Buffer.from(client.credentials!).toString('base64')}`,
      'Content-Type: application/json',
      `Accept: ${accept}`,
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n');
    let socket: Socket | undefined;
    const onRequest = (message: unknown): void => void ({ socket } = message as { socket: Socket });
    subscribe('http.server.request.start', onRequest);
    reader.postMessage({ port: client.port, request });
    let most = 0;
    let written = 0;
    let isDone = false;
    const watch = (): void => {
      const now = socket?.bytesWritten ?? 0;
      most = Math.max(most, now - written);
      written = now;
      if (!isDone) setImmediate(watch);
    };
    watch();
    const [bytes] = (await once(reader, 'message')) as [number];
    isDone = true;
    unsubscribe('http.server.request.start', onRequest);
    return [bytes, most];
  }

  const paths = [
    '_all_docs',
    '_all_docs?include_docs=true&descending=true',
    '_all_docs?include_docs=true&attachments=true&limit=2000',
    '_local_docs?include_docs=true',
    '_changes',
    '_changes?descending=true&include_docs=true',
    `_changes?feed=continuous&limit=${docCount}&include_docs=true`,
    '_changes?feed=longpoll&include_docs=true',
    `_changes?feed=eventsource&limit=${docCount}`,
    '_changes?filter=d/all&include_docs=true',
    '_design/d/_view/all',
    '_design/d/_view/all?include_docs=true&descending=true',
    '_design/d/_view/equal',
    '_design/d/_view/equal?descending=true',
    '_design/d/_view/groups?group=true',
    '_design/d/_view/groups?group_level=1&descending=true',
    '_design/d/_view/functions?group=true',
    '_design/d/_list/all/all',
  ];
  for (const path of paths) {
    it(`GET /db/${path}`, async () => {
      const [bytes, most] = await measure('GET', path);
      assert.ok(bytes > answerBytesMin, `${bytes} bytes`);
      assert.ok(most < turnBytesMax, `${most} of ${bytes} bytes in one turn`);
    });
  }

  const posts: [string, (all: typeof revs) => unknown, string?][] = [
    ['_all_docs?include_docs=true', (all) => ({ keys: all.map(({ id }) => id) })],
    ['_design/d/_view/all', (all) => ({ keys: all.slice(0, 6_000).map(({ id }) => [id, 1]) })],
    ['_changes?filter=_selector&include_docs=true', () => ({ selector: { n: { $gte: 0 } } })],
    ['_bulk_get', (all) => ({ docs: all })],
    ['_bulk_get', (all) => ({ docs: all }), 'multipart/mixed'],
    ['_find', () => ({ selector: { n: { $gte: 0 } }, limit: docCount })],
  ];
  for (const [path, body, accept] of posts) {
    it(`POST /db/${path} ${accept ?? ''}`, async () => {
      const [bytes, most] = await measure('POST', path, body(revs), accept);
      assert.ok(bytes > answerBytesMin, `${bytes} bytes`);
      assert.ok(most < turnBytesMax, `${most} of ${bytes} bytes in one turn`);
    });
  }

  it('GET of a document with attachments', async () => {
    const data = Buffer.alloc(30_000, 1).toString('base64');
    const _attachments = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`file${n}`, { data, content_type: 'application/octet-stream' }]),
    );
    assert.equal((await client.put(`${db}/attachments`, { _attachments })).status, 201);
    for (const accept of ['application/json', 'multipart/related']) {
      const [bytes, most] = await measure('GET', 'attachments?attachments=true', undefined, accept);
      assert.ok(bytes > answerBytesMin, `${bytes} bytes`);
      assert.ok(most < turnBytesMax, `${most} of ${bytes} bytes in one turn`);
    }
  });

  it('rows of equal keys come once each, in either direction', async () => {
    for (const order of ['', '?descending=true']) {
      const { body } = await client.get(`${db}/_design/d/_view/equal${order}`);
      assert.equal((body as { rows: unknown[] }).rows.length, docCount);
    }
  });
});
