import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { basicAuth, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const outside = temporaryFolder();
const dataDir = path.join(outside, 'data');
fs.writeFileSync(path.join(outside, 'secret.txt'), 'TOP SECRET');
const client = await startServer({ dataDir });
const { port } = client;
const db = await newDb(client);

afterEach(async () => assertOk(await client.get('/_up'), 200));

const ups = [
  '..',
  '%2e%2e',
  '.%2e',
  '%2E%2e',
  '..%2f',
  '..%5c',
  '..\\',
  '%252e%252e',
  '%c0%ae%c0%ae',
  '..%00',
];
const files = ['secret.txt', 'local.ini', 'config-api.ini', 'tuffet.json', 'package.json', 'etc/passwd'];

describe('No path leads to a file', () => {
  const starts = [
    '',
    '/_utils',
    db,
    `${db}/_design/x`,
    `${db}/doc/att`,
    '/_node/_local/_config',
    '/favicon.ico',
  ];
  for (const method of ['GET', 'PUT', 'DELETE', 'COPY']) {
    test(`by ${method} and any spelling of the folder above`, async () => {
      const before = fs.readdirSync(outside);
      for (const start of starts) {
        for (const up of ups) {
          for (const file of files) {
            const target = `${start}/${`${up}/`.repeat(3)}${file}`;
            const json = method === 'PUT' ? {} : undefined;
            const answer = await client.send(method, target, {
              json,
              headers: { destination: `${up}/${file}` },
            });
            assert.ok(answer.status < 500, `${method} ${target}: ${answer.status}`);
            assert.doesNotMatch(answer.text, /TOP SECRET|root:|devDependencies|pbkdf2/);
          }
        }
      }
      assert.deepEqual(fs.readdirSync(outside), before);
    });
  }

  test('a database cannot be named so that it lies elsewhere', async () => {
    for (const name of [
      '..',
      '.',
      '%2e%2e%2fx',
      'a%2f..%2f..%2fx',
      '%5cx',
      'x%00',
      '~',
      '%2fetc',
      'C%3a',
      'a.b',
    ]) {
      const answer = await client.put(`/${name}`);
      assert.ok([400, 405].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
    }
    assert.deepEqual(
      fs.readdirSync(outside).filter((name) => !['data', 'secret.txt'].includes(name)),
      [],
    );
  });

  test('dots and slashes are names like others where names are free', async () => {
    const free = await newDb(client);
    for (const id of ['..', '.', '../../a', '/', '\\..\\a', 'a/../b', '%2e%2e', '\u0000']) {
      const at = `${free}/${encodeURIComponent(id)}`;
      assertOk(await client.put(at, { id }), 201);
      assert.equal((await client.get(at)).body._id, id);
    }
    for (const name of ['../x', '..', 'a//b', '\\']) {
      const at = `${free}/${encodeURIComponent(`of ${name}`)}/${encodeURIComponent(name)}`;
      const headers = { 'content-type': 'text/plain' };
      assertOk(await client.send('PUT', at, { raw: name, headers }), 201);
      assert.equal((await client.get(at)).text, name);
    }
  });
});

describe('A path by any spelling meets the same checks', () => {
  const secured = `${db}_members`;
  const spellings = [
    '/_node/_local/_config',
    '//_node//_local///_config/',
    '/%5fnode/_local/_config',
    '/%5F%6eode/%5flocal/%5fconfig',
    '/_node/_local/_config?',
    '/_node/_local/_config/?x=1',
    'http://x/_node/_local/_config',
  ];
  test('the configuration is for server admins', async () => {
    for (const spelling of spellings) {
      const request = `GET ${spelling} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const received = await sendRaw(port, request);
      assert.deepEqual(statusesIn(received), [401], spelling);
    }
    const dots = [
      '/./_node/_local/_config',
      '/x/../_node/_local/_config',
      '/_node/_local/./_config',
      '/_NODE/_local/_config',
    ];
    for (const spelling of dots) {
      const request = `GET ${spelling} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const [status] = statusesIn(await sendRaw(port, request));
      assert.ok([401, 404].includes(status!), `${spelling}: ${status}`);
    }
  });

  test('a database is for its members', async () => {
    assertOk(await client.put(secured), 201);
    await client.put(`${secured}/a`, { secret: true });
    await client.put(`${secured}/_security`, { members: { names: ['somebody'] } });
    const name = secured.slice(1);
    const escaped = [...name].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
    for (const way of [name, escaped, `/${name}`, `//${name}/`]) {
      for (const rest of [
        '/a',
        '/%61',
        '/_all_docs?include_docs=true',
        '/%5fall_docs',
        '//a',
        '/_local/../a',
        '',
      ]) {
        const answer = await client.anonymous.get(`/${way}${rest}`);
        assert.ok(!answer.text.includes('secret":true'), `/${way}${rest}`);
        assert.ok([401, 404].includes(answer.status), `/${way}${rest}: ${answer.status}`);
      }
    }
  });

  test('a method named in a header meets them too', async () => {
    for (const method of ['PUT', 'DELETE', 'GET']) {
      const headers = { 'x-http-method-override': method };
      assertRefused(await client.anonymous.send('POST', `${secured}/a`, { json: {}, headers }), 401);
    }
    const delayed = await client.anonymous.send('POST', secured, {
      headers: { 'x-http-method-override': 'DELETE' },
    });
    assertRefused(delayed, 401);
    assertOk(await client.get(`${secured}/a`), 200);
  });

  test('a POST that means HEAD is answered as GET is, with a body', { timeout: 20_000 }, async () => {
    const headers = { 'x-http-method-override': 'HEAD' };
    for (const path of [`${secured}/a`, `${secured}/_all_docs`, secured, '/_up']) {
      const answer = await client.send('POST', path, { json: {}, headers });
      assertOk(answer, 200);
      assert.deepEqual(answer.body, (await client.get(path)).body, path);
    }
  });

  test('raw bytes that are no text are refused or not found', async () => {
    for (const bytes of ['\xff\xfe', '\xc0\xae', '\xed\xa0\x80', '\x80', '\xf5\x80\x80\x80']) {
      for (const method of ['GET', 'PUT']) {
        const body = method === 'PUT' ? 'Content-Length: 2\r\n' : '';
        const request = Buffer.from(
          `${method} ${db}/${bytes} HTTP/1.1\r\nHost: x\r\n${basicAuth}${body}Connection: close\r\n\r\n${method === 'PUT' ? '{}' : ''}`,
          'latin1',
        );
        const [status] = statusesIn(await sendRaw(port, request));
        assert.ok([400, 404].includes(status!), `${method} ${JSON.stringify(bytes)}: ${status}`);
      }
    }
  });
});
