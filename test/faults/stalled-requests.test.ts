/** Clients that stop in the middle of a request, and what a server that closes does about them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { answerOf, H2Client } from '../support/h2-client.js';
import { HttpClient } from '../support/http-client.js';
import { requestHead, sendRaw } from '../support/raw-socket.js';
import { startTlsServer } from '../support/tls.js';

const idleMs = 400;
const server = await startTlsServer({}, { body_idle_timeout_ms: String(idleMs) });
const client = new HttpClient(server.url);
await client.put('/db');

const multipart = 'Content-Type: multipart/related; boundary=x';
const uploads: [what: string, head: string, beginning: string][] = [
  ['a document', requestHead('PUT', '/db/a', 'Content-Length: 100'), '{"a":'],
  ['a document in chunks', requestHead('PUT', '/db/b', 'Transfer-Encoding: chunked'), '5\r\n{"a":\r\n'],
  [
    'a bulk request',
    requestHead('POST', '/db/_bulk_docs', 'Content-Type: application/json', 'Content-Length: 20000000'),
    '{"docs":[{},',
  ],
  ['an attachment', requestHead('PUT', '/db/c/att', 'Content-Length: 100'), 'abc'],
  ['a multipart document', requestHead('PUT', '/db/d', multipart, 'Content-Length: 1000'), '--x\r\n\r\n{'],
  ['a document of which nothing has come', requestHead('PUT', '/db/e', 'Content-Length: 100'), ''],
];

describe('A body that stops coming is answered with 408', { concurrency: true }, () => {
  for (const [what, head, beginning] of uploads) {
    test(what, async () => {
      const received = await sendRaw(client.port, head + beginning);
      assert.match(received, /^HTTP\/1\.1 408 /);
      assert.match(received, /\{"error":"request_timeout","reason":"[^"]+"\}\n$/);
      assert.match(received, /\r\nConnection: close\r\n/i);
    });
  }

  test('over HTTP/2, and the connection goes on', async () => {
    const h2 = new H2Client(server.tlsUrl);
    const stream = h2.open('PUT', '/db/f');
    stream.write('{"a":');
    const { status, text } = await answerOf(stream);
    assert.equal(status, 408);
    assert.equal(JSON.parse(text).error, 'request_timeout');
    assert.equal((await h2.send('GET', '/db')).status, 200);
    await h2.close();
  });
});

describe('A body that comes slowly is waited for', { concurrency: true }, () => {
  const pieces = ['{"a":', '"', ...'slow but never silent'.split(''), '"', '}'];

  test('over HTTP/1.1', async () => {
    const length = pieces.join('').length;
    const head = requestHead('PUT', '/db/slow1', `Content-Length: ${length}`);
    const received = await sendRaw(client.port, [head, ...pieces], {
      pauseMs: idleMs / 5,
      until: (text) => text.includes('}'),
    });
    assert.match(received, /^HTTP\/1\.1 201 /);
  });

  test('over HTTP/2', async () => {
    const h2 = new H2Client(server.tlsUrl);
    const stream = h2.open('PUT', '/db/slow2');
    for (const piece of pieces) {
      stream.write(piece);
      await sleep(idleMs / 5);
    }
    stream.end();
    assert.equal((await answerOf(stream)).status, 201);
    await h2.close();
  });
});

describe('A server closes in its time', { concurrency: true }, () => {
  const closing = { close_timeout_ms: '300' };

  /** Closes a server on which something is under way, and tells when it is closed too late. */
  async function assertCloses(begin: (port: number, tlsUrl: string) => Promise<void>): Promise<void> {
    const short = await startTlsServer({}, closing);
    const admin = new HttpClient(short.url);
    await admin.put('/db');
    await admin.put('/db/large', { text: 'x'.repeat(7_900_000) });
    await begin(admin.port, short.tlsUrl);
    await sleep(50);
    const late = sleep(10_000, 'late', { ref: false });
    assert.equal(await Promise.race([short.close().then(() => 'closed'), late]), 'closed');
  }

  async function connect(port: number, text: string): Promise<net.Socket> {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  }

  for (const [what, head, beginning] of uploads.slice(0, 4)) {
    test(`while ${what} has stopped coming`, () =>
      assertCloses(async (port) => void (await connect(port, head + beginning))));
  }

  test('while a body over HTTP/2 has stopped coming', () =>
    assertCloses(async (_, tlsUrl) => {
      const h2 = new H2Client(tlsUrl);
      await h2.send('GET', '/');
      const stream = h2.open('PUT', '/db/x');
      stream.on('error', () => undefined);
      stream.write('{');
    }));

  test('while an answer is not read', () =>
    assertCloses(async (port) => {
      const socket = await connect(port, requestHead('GET', '/db/large'));
      await once(socket, 'readable');
    }));

  test('while the head of a request has stopped coming', () =>
    assertCloses(async (port) => void (await connect(port, 'GET / HTTP/1.1\r\n'))));

  test('while a handshake has stopped', () =>
    assertCloses(async (_, tlsUrl) => void (await connect(Number(new URL(tlsUrl).port), '\x16\x03\x01'))));

  test('at once while a connection has not been used', async () => {
    const short = await startTlsServer({}, { close_timeout_ms: '60000' });
    await connect(Number(new URL(short.url).port), '');
    await sleep(50);
    await short.close();
  });
});
