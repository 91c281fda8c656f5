import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { assertNoFailure, assertOk, assertRefused } from '../support/expect.js';
import { basicAuth, requestHead, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const { port } = client;
const db = await newDb(client);

afterEach(async () => assertOk(await client.get('/_up'), 200));

const hasAnswer = (text: string): boolean => text.includes('\r\n\r\n');

describe('What is not HTTP', () => {
  const broken: [what: string, bytes: string | Buffer][] = [
    ['noise', Buffer.from([0, 1, 2, 0xff, 0xfe, 13, 10, 13, 10])],
    ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex')],
    ['another protocol', 'SSH-2.0-OpenSSH_9.0\r\n'],
    ['a method that is none', 'FETCH! / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an address that is none', 'GET elsewhere:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n'],
    ['a null byte in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n'],
    ['a length that is no number', `PUT ${db}/x HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n{}`],
    ['a negative length', `PUT ${db}/x HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}`],
    ['two lengths', `PUT ${db}/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`],
    [
      'a length and chunks',
      `PUT ${db}/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a broken chunk',
      `PUT ${db}/x HTTP/1.1\r\nHost: x\r\n${basicAuth}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
  ];
  for (const [what, bytes] of broken) {
    test(`${what} is answered with 400, as JSON, and nothing is stored`, async () => {
      const received = await sendRaw(port, bytes, { until: hasAnswer });
      const statuses = statusesIn(received);
      assert.ok(statuses.length === 0 || statuses[0] === 400, received);
      if (statuses.length > 0) assert.match(received, /"error":/);
      assertRefused(await client.get(`${db}/x`), 404);
    });
  }

  test('a request without Host is refused', async () => {
    assert.deepEqual(statusesIn(await sendRaw(port, 'GET / HTTP/1.1\r\n\r\n', { until: hasAnswer })), [400]);
  });

  test('a hundred connections that say nothing do not keep others waiting', async () => {
    const silent = Array.from({ length: 100 }, () => sendRaw(port, ''));
    assertOk(await client.get('/'), 200);
    await Promise.all(silent);
  });
});

describe('What is too large', () => {
  test('headers beyond the limit: 431', async () => {
    const request = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`;
    assert.equal(statusesIn(await sendRaw(port, request, { until: hasAnswer }))[0], 431);
  });

  test('a thousand headers do no harm', async () => {
    const headers = Array.from({ length: 1000 }, (_, i) => `X-${i}: y`);
    const received = await sendRaw(port, requestHead('GET', '/', ...headers), { until: hasAnswer });
    assert.ok([200, 431].includes(statusesIn(received)[0]!), received.slice(0, 200));
  });

  test('an address beyond the limit is refused, one of 30,000 bytes is not', async () => {
    const long = await sendRaw(port, requestHead('GET', `/${'a'.repeat(100_000)}`), { until: hasAnswer });
    assert.ok([414, 431].includes(statusesIn(long)[0]!), long.slice(0, 200));
    assertRefused(await client.get(`${db}/${'a'.repeat(30_000)}`), 404, 'not_found');
  });

  test('a thousand parts and a thousand parameters do no harm', async () => {
    assertNoFailure(await client.get('/a'.repeat(1000)), 'parts');
    assertNoFailure(await client.get(`${db}${'/a'.repeat(1000)}`), 'parts below a database');
    assertOk(await client.get(`${db}/_all_docs?${'limit=1&'.repeat(1000)}`), 200);
  });
});

describe('Strange addresses', () => {
  const paths = [
    '/%',
    '/%zz',
    '/%2',
    `${db}/%`,
    `${db}/%zz`,
    `${db}/%E0%A4%A`,
    `${db}/%ff`,
    `${db}/%c0%80`,
    `${db}/%ed%a0%80`,
    `${db}/%00`,
    `${db}/a%00b`,
    `${db}/a?rev=%`,
    `${db}/a?%=1`,
    `${db}/_all_docs?startkey=%ff`,
    `${db}/_all_docs?keys=%5B%22%ff%22%5D`,
    '//',
    `//${db}//a`,
    '/..',
    '/../../etc/passwd',
    '/_utils/../../../package.json',
    '/_utils/%2e%2e/%2e%2e/package.json',
    '/_utils/..%2f..%2f..%2fpackage.json',
    '/_utils/%00',
    '/?',
    '/?&&&=&=',
    `${db}/_design/`,
    `${db}/_local/`,
    `${db}/_design`,
    `${db}/_local`,
    '*',
    'http://elsewhere/_up',
  ];
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS', 'PATCH', 'TRACE']) {
    test(`${method} of them is refused or harmless`, async () => {
      for (const path of paths) {
        const json = method === 'PUT' || method === 'POST' ? {} : undefined;
        const answer = await client.send(method, path, { json, headers: { destination: '%ff' } });
        assertNoFailure(answer, `${method} ${path}`);
        assert.ok(!answer.text.includes('devDependencies'), path);
      }
    });
  }

  test('an id that is no UTF-8 is refused with 400 on writing', async () => {
    for (const id of ['%ff', '%c0%80', '%ed%a0%80', 'a%fe']) {
      assertRefused(await client.put(`${db}/${id}`, {}), 400);
    }
  });
});

describe('Strange credentials', () => {
  const known = [
    'Basic',
    'Basic ',
    'Basic !!!',
    'Basic YQ==',
    'Basic Og==',
    'basic YWRtaW46c2VjcmV0',
    'Basic /////w==',
  ];
  const unknown = ['', 'x', 'Bearer x', 'Digest username="admin"', 'Negotiate YII='];

  test('make nobody an admin and never fail the server', async () => {
    for (const authorization of [...known, ...unknown]) {
      const answer = await client.get(`${db}/none`, { authorization });
      assert.ok([400, 401, 404].includes(answer.status), `${authorization}: ${answer.text}`);
    }
  });

  test('do not keep GET / from answering where they name no scheme that is known', async () => {
    for (const authorization of unknown) assertOk(await client.get('/', { authorization }), 200);
  });

  test('a password of 30,000 bytes is refused like any other', async () => {
    assertRefused(await client.as(`admin:${'x'.repeat(30_000)}`).get(db), 401);
  });
});
