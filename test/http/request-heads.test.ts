import assert from 'node:assert/strict';
import net from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { basicAuth, requestHead, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({
  config: { tuffet: { headers_timeout_ms: '400', idle_timeout_ms: '600' } },
});
const { port } = client;
const db = await newDb(client);

afterEach(async () => assertOk(await client.get('/_up'), 200));

const hasAnswer = (text: string): boolean => /\r\n\r\n\{.*\}\n$/s.test(text);

/** Sends a raw request; it must be refused with this status in the interface's form. */
async function refused(request: string | string[], status: number, error: string): Promise<string> {
  const received = await sendRaw(port, request, { until: hasAnswer });
  assert.deepEqual(statusesIn(received), [status], received.slice(0, 300));
  const [head = '', body = ''] = received.split('\r\n\r\n');
  assert.match(head, /^content-type: (?:application\/json|text\/plain; charset=utf-8)$/im);
  const { error: name, reason } = JSON.parse(body) as Record<string, string>;
  assert.equal(name, error);
  assert.equal(typeof reason, 'string');
  return received;
}

describe('Limits of a head', () => {
  test('headers that are too long together: 431', async () => {
    const long = `A: ${'a'.repeat(40_000)}\r\n`;
    await refused(`GET / HTTP/1.1\r\nHost: x\r\n${long}${long}\r\n`, 431, 'request_header_fields_too_large');
    const one = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(500_000)}\r\n\r\n`;
    await refused(one, 431, 'request_header_fields_too_large');
  });

  test('too many headers: 431, and none of them is dropped without a word', async () => {
    const headers = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: y`);
    await refused(requestHead('GET', '/', ...headers(256)), 431, 'request_header_fields_too_large');
    await refused(requestHead('GET', '/', ...headers(3000)), 431, 'request_header_fields_too_large');
    const fine = await sendRaw(port, requestHead('GET', '/', ...headers(250)), { until: hasAnswer });
    assert.deepEqual(statusesIn(fine), [200]);
  });

  test('a request line that is too long: 414', async () => {
    await refused(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'too_long');
    await refused(requestHead('GET', `/?${'a=b&'.repeat(25_000)}`), 414, 'too_long');
  });

  test('max_uri_length is heeded at once', async () => {
    await client.put('/_node/_local/_config/chttpd/max_uri_length', '200');
    assertOk(await client.get(`/?${'a'.repeat(198)}`), 200);
    assertRefused(await client.get(`/?${'a'.repeat(199)}`), 414, 'too_long');
    await client.delete('/_node/_local/_config/chttpd/max_uri_length');
    assertOk(await client.get(`/?${'a'.repeat(10_000)}`), 200);
  });
});

describe('The host', () => {
  test('must be named, once, by HTTP/1.1, and be the name of a host', async () => {
    await refused('GET / HTTP/1.1\r\n\r\n', 400, 'bad_request');
    await refused('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'bad_request');
    await refused('GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400, 'bad_request');
    for (const host of ['a/b', 'a b', 'a@b', 'a?b', 'a#b', 'a\\b', '<a>', '"a"']) {
      await refused(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, 'bad_request');
    }
  });

  test('may be missing from HTTP/1.0, and be a name, an address or empty', async () => {
    const old = await sendRaw(port, 'GET / HTTP/1.0\r\n\r\n', { until: hasAnswer });
    assert.deepEqual(statusesIn(old), [200]);
    for (const host of ['localhost', '127.0.0.1:5984', '[::1]:5984', 'a_b.example', '']) {
      const request = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      assert.deepEqual(statusesIn(await sendRaw(port, request)), [200], host);
    }
  });
});

describe('What is asked for', () => {
  test('may be a whole address, of which the path counts', async () => {
    for (const target of [
      `http://elsewhere${db}/_all_docs`,
      `HTTPS://x:1${db}?a=b`,
      'http://x',
      'http://x?a=b',
    ]) {
      const request = `GET ${target} HTTP/1.1\r\nHost: x\r\n${basicAuth}Connection: close\r\n\r\n`;
      assert.deepEqual(statusesIn(await sendRaw(port, request)), [200], target);
    }
    const [up] = statusesIn(
      await sendRaw(port, 'GET http://x/none/_all_docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    );
    assert.equal(up, 404);
  });

  test('nothing but a path or an address is understood', async () => {
    await refused('GET * HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_request');
    await refused('GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_request');
    await refused('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed');
  });

  test('the server is no proxy, and echoes nothing', async () => {
    await refused(
      'CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\n\r\n',
      405,
      'method_not_allowed',
    );
    await refused(requestHead('CONNECT', `${db}/_all_docs`), 405, 'method_not_allowed');
    await refused(requestHead('CONNECT', `${db}/_index/a`), 404, 'not_found');
    const traced = await refused(requestHead('TRACE', '/', 'X-Secret: mine'), 405, 'method_not_allowed');
    assert.ok(!traced.includes('mine'));
  });

  test('an expectation that nobody can meet: 417', async () => {
    const head = requestHead('PUT', `${db}/x`, 'Content-Length: 2', 'Expect: wonders');
    await refused(head, 417, 'expectation_failed');
    assertRefused(await client.get(`${db}/x`), 404);
  });

  test('a switch to another protocol is not made', async () => {
    for (const protocol of ['h2c', 'websocket', 'TLS/1.0']) {
      const head = requestHead('GET', '/', 'Connection: Upgrade', `Upgrade: ${protocol}`);
      assert.deepEqual(statusesIn(await sendRaw(port, head, { until: hasAnswer })), [200]);
    }
  });
});

describe('A client that dawdles', () => {
  /** How long a connection stays open to who sends these pieces, and what it is told. */
  async function patience(pieces: string[], pauseMs: number): Promise<{ ms: number; received: string }> {
    const started = performance.now();
    const received = await sendRaw(port, pieces, { pauseMs });
    return { ms: performance.now() - started, received };
  }

  test('over the head is told 408 and hung up on, however steadily it drips', async () => {
    const drips = ['GET / HTTP/1.1\r\n', ...Array.from({ length: 60 }, (_, i) => `X-${i}: y\r\n`)];
    const { ms, received } = await patience(drips, 50);
    assert.deepEqual(statusesIn(received), [408]);
    assert.match(received, /"error":"request_timeout"/);
    assert.ok(ms < 2500, `${ms} ms`);
  });

  test('over saying anything at all is hung up on', async () => {
    const closed = await new Promise<number>((resolve) => {
      const started = performance.now();
      const socket = net.connect(port, '127.0.0.1');
      socket.on('close', () => resolve(performance.now() - started));
      socket.resume();
    });
    assert.ok(closed < 3000, `${closed} ms`);
  });

  test('over a body is waited for', async () => {
    const body = ['{"a"', ':', '1', '}'];
    const pieces = [requestHead('PUT', `${db}/slow`, 'Content-Length: 7'), ...body];
    const received = await sendRaw(port, pieces, { pauseMs: 300, until: hasAnswer });
    assert.deepEqual(statusesIn(received), [201]);
  });

  test('over the next request is hung up on', async () => {
    const { ms, received } = await patience([requestHead('GET', '/')], 0);
    assert.deepEqual(statusesIn(received), [200]);
    assert.ok(ms < 3000, `${ms} ms`);
  });
});

test('connections beyond the limit are closed, and those within it served', async () => {
  const small = await startServer({ config: { tuffet: { connections_max: '2' } } });
  const held = await Promise.all(
    [1, 2].map(
      () =>
        new Promise<net.Socket>((resolve) => {
          const socket = net.connect(small.port, '127.0.0.1', () => resolve(socket));
        }),
    ),
  );
  assert.equal(await sendRaw(small.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), '');
  for (const socket of held) socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertOk(await small.get('/'), 200);
});
