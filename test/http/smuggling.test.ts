import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { basicAuth, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const { port } = client;
const db = await newDb(client);
await client.put(`${db}/kept`, { a: 1 });

afterEach(async () => {
  assertOk(await client.get('/_up'), 200);
  assertRefused(await client.get(`${db}/smuggled`), 404);
  assertOk(await client.get(`${db}/kept`), 200);
});

/** What an attacker hides in the body of another request. */
const hidden = `PUT ${db}/smuggled HTTP/1.1\r\nHost: x\r\n${basicAuth}Content-Length: 2\r\n\r\n{}`;
const put = (headers: string, body: string): string =>
  `PUT ${db}/x HTTP/1.1\r\nHost: x\r\n${basicAuth}${headers}\r\n\r\n${body}`;

describe('Where a body ends is never a matter of opinion', () => {
  const chunked = 'Transfer-Encoding: chunked';
  const disputed: [what: string, request: string][] = [
    ['length and chunks', put(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${hidden}`)],
    ['chunks and length', put(`${chunked}\r\nContent-Length: 5`, `0\r\n\r\n${hidden}`)],
    ['two lengths', put('Content-Length: 2\r\nContent-Length: 3', `{}${hidden}`)],
    ['the same length twice', put('Content-Length: 2\r\nContent-Length: 2', `{}${hidden}`)],
    ['a list of lengths', put('Content-Length: 2, 2', `{}${hidden}`)],
    ['a signed length', put('Content-Length: +2', `{}${hidden}`)],
    ['a negative length', put('Content-Length: -2', hidden)],
    ['a length in hexadecimal', put('Content-Length: 0x2', `{}${hidden}`)],
    ['a length with a point', put('Content-Length: 2.0', `{}${hidden}`)],
    ['an empty length', put('Content-Length:', hidden)],
    ['a length beyond all bounds', put('Content-Length: 99999999999999999999999', hidden)],
    ['chunks named in a list', put('Transfer-Encoding: identity, chunked, identity', `0\r\n\r\n${hidden}`)],
    ['chunks of an unknown kind', put('Transfer-Encoding: xchunked', `0\r\n\r\n${hidden}`)],
    ['chunks twice', put(`${chunked}\r\n${chunked}x`, `0\r\n\r\n${hidden}`)],
    ['a header that is folded', put('Transfer-Encoding:\r\n chunked', `0\r\n\r\n${hidden}`)],
    ['a folded header of another kind', put('X-A: b\r\n c\r\nContent-Length: 0', hidden)],
    ['a space before the colon', put('Transfer-Encoding : chunked', `0\r\n\r\n${hidden}`)],
    ['a tab before the name', put('X-A: b\r\n\tTransfer-Encoding: chunked', `0\r\n\r\n${hidden}`)],
    ['a bare line feed between headers', put(`X-A: b\n${chunked}`, `0\r\n\r\n${hidden}`)],
    ['a bare carriage return', put(`X-A: b\r${chunked}`, `0\r\n\r\n${hidden}`)],
    ['a null byte', put(`X-A: b\0\r\n${chunked}`, `0\r\n\r\n${hidden}`)],
    ['chunks in HTTP/1.0', put(chunked, `0\r\n\r\n${hidden}`).replace('HTTP/1.1', 'HTTP/1.0')],
    ['a chunk size that is none', put(chunked, `zz\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a negative chunk size', put(chunked, `-1\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a signed chunk size', put(chunked, `+2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size with 0x', put(chunked, `0x2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size beyond all bounds', put(chunked, `ffffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk that is longer than it says', put(chunked, `2\r\n{}x\r\n0\r\n\r\n${hidden}`)],
    ['a chunk that ends with a bare line feed', put(chunked, `2\n{}\n0\n\n${hidden}`)],
    ['a space before the chunk size', put(chunked, ` 2\r\n{}\r\n0\r\n\r\n${hidden}`)],
  ];
  for (const [what, request] of disputed) {
    test(`${what}: refused, and nothing behind it is taken for a request`, async () => {
      const received = await sendRaw(port, request, { until: (text) => statusesIn(text).length > 1 });
      const statuses = statusesIn(received);
      assert.ok(statuses.length <= 1, received);
      for (const status of statuses) assert.ok(status >= 400 && status < 500, received);
      assertRefused(await client.get(`${db}/x`), 404);
    });
  }

  test('what follows a whole request is a request of its own, and only then', async () => {
    const first = `GET / HTTP/1.1\r\nHost: x\r\n\r\n`;
    const received = await sendRaw(port, first + first, { until: (text) => statusesIn(text).length === 2 });
    assert.deepEqual(statusesIn(received), [200, 200]);
  });

  test('a body that a GET brings is not taken for the next request', async () => {
    const get = `GET ${db}/kept HTTP/1.1\r\nHost: x\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`;
    const received = await sendRaw(port, get, { until: (text) => statusesIn(text).length > 1 });
    assert.deepEqual(statusesIn(received), [200]);
  });

  test('a body that is refused is not taken for the next request', async () => {
    const refused = `PUT /none/x HTTP/1.1\r\nHost: x\r\n${basicAuth}Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
    const received = await sendRaw(port, refused, { until: (text) => statusesIn(text).length > 1 });
    assert.deepEqual(statusesIn(received), [404]);
  });

  test('extensions of chunks without end are refused', async () => {
    const request = put(chunked, `2;${'a'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`);
    const statuses = statusesIn(await sendRaw(port, request));
    assert.ok(statuses.length === 0 || (statuses[0]! >= 400 && statuses[0]! < 500));
  });
});
