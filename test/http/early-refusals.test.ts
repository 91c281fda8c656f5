/** Refusals that come before the body has, and requests that only look harmless. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { requestHead, sendRaw } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { chttpd: { max_http_request_size: '1000000' } } });
const db = await newDb(client);

/** Sends all of a request, whatever comes back, and only then reads. Gives the answer, or what went wrong. */
function sendThenRead(head: string, bodyBytes: number): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = net.connect(client.port, '127.0.0.1').pause();
    socket.on('error', (error) => resolve(String(error)));
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('close', () => resolve(received));
    socket.write(head);
    socket.write(Buffer.alloc(bodyBytes, 'x'), () => socket.resume());
  });
}

describe('A client that sends its whole body first can read why it was refused', () => {
  const bytes = 20_000_000;
  const length = `Content-Length: ${bytes}`;
  const json = 'Content-Type: application/json';
  const anonymous = (head: string): string =>
    head.replace(/^Authorization.*\r\n/m, 'Authorization: Basic eDp4\r\n');
  const refusals: [what: string, head: string, status: number][] = [
    ['too large', requestHead('PUT', `${db}/doc`, length), 413],
    ['no such database', requestHead('PUT', '/none/doc', length), 404],
    ['a wrong password', anonymous(requestHead('PUT', `${db}/doc`, length)), 401],
    ['a wrong type', requestHead('POST', `${db}/_bulk_docs`, length, 'Content-Type: text/plain'), 415],
    ['a wrong encoding', requestHead('POST', `${db}/_find`, length, json, 'Content-Encoding: br'), 415],
    ['a wrong parameter', requestHead('PUT', `${db}/_bad`, length), 400],
  ];
  for (const [what, head, status] of refusals) {
    test(what, async () => {
      const received = await sendThenRead(head, bytes);
      assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\n\\r\\n\\{"error":"[^]*"\\}\\n$`));
    });
  }
});

test('HTTP/0.9 is refused', async () => {
  assert.match(await sendRaw(client.port, 'GET /_up\r\n\r\n'), /^HTTP\/1\.1 400 /);
});

describe('Requests that act without a body', () => {
  const paths = [`${db}/_view_cleanup`, '/_node/_local/_config/_reload', '/_node/_local/_restart'];
  for (const path of paths) {
    test(`${path.replace(db, '/{db}')} is taken from scripts, and not from pages of other origins`, async () => {
      const post = (headers: Record<string, string | null>): ReturnType<typeof client.post> =>
        client.post(path, undefined, { 'content-type': null, ...headers });
      const { status } = await post({ 'content-type': 'application/json' });
      assert.ok(status === 200 || status === 202);
      const types = [
        null,
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ];
      for (const type of types) {
        assertOk(await post({ 'content-type': type }), status);
        for (const origin of ['https://evil.example', 'null'])
          assertRefused(await post({ 'content-type': type, origin }), 415, 'bad_content_type');
      }
    });
  }
});
