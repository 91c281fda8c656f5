import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient, type Answer } from '../support/http-client.js';
import { requestHead, sendRaw } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ cors: ['http://here.example', 'https://there.example:8443'] });
const db = await newDb(client);
await client.put(`${db}/a`, { text: 'x' });
const origin = 'http://here.example';
const allowed = (answer: Answer): string | undefined =>
  answer.headers['access-control-allow-origin'] as string | undefined;

describe('A page of an origin that is named', () => {
  test('is shown every kind of answer: plain, streamed, empty, refused, and of the page and its icon', async () => {
    await client.send('PUT', `${db}/b/file`, {
      raw: 'text '.repeat(100),
      headers: { 'content-type': 'text/plain' },
    });
    const docs = Array.from({ length: 3000 }, (_, i) => ({ _id: `d${i}`, text: 'x'.repeat(100) }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const etag = (await client.get(`${db}/a`)).headers.etag!;
    const answers = [
      await client.get('/', { origin }),
      await client.get(`${db}/a`, { origin }),
      await client.get(`${db}/a`, { origin, 'if-none-match': etag }),
      await client.get(`${db}/a?open_revs=all`, { origin, accept: 'multipart/mixed' }),
      await client.get(`${db}/_all_docs?include_docs=true`, { origin }),
      await client.get(`${db}/b/file`, { origin }),
      await client.get(`${db}/b/file`, { origin, range: 'bytes=0-1' }),
      await client.get(`${db}/none`, { origin }),
      await client.get('/%zz', { origin }),
      await client.send('PATCH', '/', { headers: { origin } }),
      await client.send('PUT', `${db}/c`, { raw: '{', headers: { origin } }),
      await client.as('admin:wrong').get('/', { origin }),
      await client.get('/_utils/', { origin }),
      await client.get('/_utils', { origin }),
      await client.get('/favicon.ico', { origin }),
      await client.put(`${db}/a`, {}, { origin }),
    ];
    for (const answer of answers) {
      assert.equal(allowed(answer), origin, `${answer.status} ${answer.text.slice(0, 100)}`);
      assert.equal(answer.headers['access-control-allow-credentials'], 'true');
      assert.match(String(answer.headers.vary), /\bOrigin$/);
    }
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 304, 200, 200, 200, 206, 404, 400, 405, 400, 401, 200, 301, 200, 409],
    );
  });

  test('may read the headers that clients need', async () => {
    const exposed = String((await client.get('/', { origin })).headers['access-control-expose-headers']);
    for (const name of ['etag', 'location', 'x-couch-update-newrev', 'content-type']) {
      assert.ok(exposed.split(', ').includes(name), name);
    }
  });

  test('an answer that varies with the encoding varies with the origin too', async () => {
    assert.equal((await client.get(`${db}/b/file`, { origin })).headers.vary, 'Accept-Encoding, Origin');
  });
});

describe('A page of any other origin', () => {
  const others = [
    'http://here.example:80',
    'https://here.example',
    'http://here.example.evil',
    'http://evil-here.example',
    'HTTP://HERE.EXAMPLE',
    'null',
    '*',
    '',
    'http://here.example, https://there.example:8443',
  ];
  test('is shown nothing, and told nothing', async () => {
    for (const other of others) {
      const answer = await client.get(`${db}/a`, { origin: other });
      assertOk(answer, 200);
      assert.equal(allowed(answer), undefined, other);
      assert.equal(answer.headers['access-control-expose-headers'], undefined);
      assert.equal(answer.headers.vary, 'Origin');
      const headers = { origin: other, 'access-control-request-method': 'GET' };
      assertRefused(await client.send('OPTIONS', `${db}/a`, { headers }), 405);
    }
  });
});

describe('A browser that asks first', () => {
  const ask = (path: string, headers: Record<string, string>): Promise<Answer> =>
    client.anonymous.send('OPTIONS', path, { headers: { origin, ...headers } });

  test('is told without a login what it may do, also where a login is demanded', async () => {
    await client.put('/_node/_local/_config/chttpd/require_valid_user', 'true');
    const answer = await ask(`${db}/a`, {
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type, If-Match,x-couch-full-commit',
    });
    await client.delete('/_node/_local/_config/chttpd/require_valid_user');
    assertOk(answer, 204);
    assert.equal(answer.text, '');
    assert.equal(answer.headers['content-length'], undefined);
    assert.equal(allowed(answer), origin);
    assert.match(String(answer.headers['access-control-allow-methods']), /\bPUT\b/);
    assert.equal(
      answer.headers['access-control-allow-headers'],
      'content-type, If-Match,x-couch-full-commit',
    );
    assert.equal(answer.headers['access-control-max-age'], '600');
  });

  test('is refused methods and headers that are not open', async () => {
    for (const method of ['PATCH', 'put', '', 'GET, PUT']) {
      assertRefused(await ask(db, { 'access-control-request-method': method }), 405);
    }
    for (const names of ['cookie', 'accept,,origin', ',accept', 'accept, ,origin']) {
      const headers = { 'access-control-request-method': 'GET', 'access-control-request-headers': names };
      assertRefused(await ask(db, headers), 405);
    }
    for (const names of ['accept,', 'accept, origin , ,', ',', '']) {
      const headers = { 'access-control-request-method': 'GET', 'access-control-request-headers': names };
      assertOk(await ask(db, headers), 204);
    }
  });

  test('changes of the configuration count at once', async () => {
    const config = '/_node/_local/_config';
    await client.put(`${config}/cors/methods`, 'get');
    await client.put(`${config}/cors/headers`, 'X-Mine');
    await client.put(`${config}/cors/max_age`, '5');
    await client.put(`${config}/cors/exposed_headers`, 'X-Out');
    const headers = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-mine' };
    const answer = await ask(db, headers);
    const other = await ask(db, { 'access-control-request-method': 'POST' });
    const shown = await client.get(db, { origin });
    for (const key of ['methods', 'headers', 'max_age', 'exposed_headers']) {
      await client.delete(`${config}/cors/${key}`);
    }
    assertOk(answer, 204);
    assert.equal(answer.headers['access-control-allow-methods'], 'GET');
    assert.equal(answer.headers['access-control-max-age'], '5');
    assertRefused(other, 405);
    assert.equal(shown.headers['access-control-expose-headers'], 'cache-control, content-type, x-out');
    await client.put(`${config}/chttpd/enable_cors`, 'false');
    const off = await client.get(db, { origin });
    await client.put(`${config}/chttpd/enable_cors`, 'true');
    assert.equal(allowed(off), undefined);
    assert.equal(off.headers.vary, undefined);
  });

  test('origins that can never fit are refused', async () => {
    for (const value of ['example.com', 'http://a.example/', 'http://a.example/path', 'http://a b', '**']) {
      assertRefused(await client.put('/_node/_local/_config/cors/origins', value), 400, 'bad_request');
    }
    assert.equal(allowed(await client.get('/', { origin })), origin);
  });
});

test('an origin cannot forge headers', async () => {
  const forged = 'http://here.example\rX-Forged: 1';
  const head = requestHead('GET', '/', `Origin: ${forged}`, 'Connection: close');
  assert.ok(!/^x-forged/im.test((await sendRaw(client.port, head)).replace(/^HTTP.*400.*/s, '')));
});

test('without CORS no answer carries any of it, and a star lets every page in', async () => {
  const off = await startServer();
  const answer = await off.get('/', { origin });
  assert.deepEqual(
    Object.keys(answer.headers).filter((name) => name.startsWith('access-control') || name === 'vary'),
    [],
  );
  const server = await createServer({
    inMemory: true,
    admins: { a: 'b' },
    port: 0,
    logLevel: 'none',
    cors: true,
  });
  after(() => server.close());
  const any = new HttpClient(server.url, null);
  for (const each of ['null', 'app://obsidian.md', 'capacitor://localhost', 'http://localhost:3000']) {
    assert.equal(allowed(await any.get('/', { origin: each })), each);
  }
});

describe('Sections for one host or one origin', () => {
  const option = '/_node/_local/_config';
  test('replace options of [cors], the origin before the host, and each falls back to [cors]', async () => {
    const varied = await startServer({
      config: {
        chttpd: { enable_cors: 'true' },
        cors: { origins: 'https://app.example, https://other.example', methods: 'GET' },
        'cors:db.example': { origins: 'https://only.example' },
        'cors:https://app.example': { credentials: 'true', methods: 'GET, PUT', max_age: '5' },
      },
    });
    const ask = (from: string, host = 'localhost') => varied.get('/', { origin: from, host });
    const app = await ask('https://app.example');
    assert.equal(allowed(app), 'https://app.example');
    assert.equal(app.headers['access-control-allow-credentials'], 'true');
    const other = await ask('https://other.example');
    assert.equal(allowed(other), 'https://other.example');
    assert.equal(other.headers['access-control-allow-credentials'], undefined);
    assert.equal(allowed(await ask('https://other.example', 'DB.example:5984')), undefined);
    assert.equal(allowed(await ask('https://only.example', 'db.example:5984')), 'https://only.example');
    assert.equal(allowed(await ask('https://only.example')), undefined);
    assert.equal(allowed(await ask('https://app.example', 'db.example')), 'https://app.example');
    const preflight = async (from: string) =>
      await varied.send('OPTIONS', '/', {
        headers: { origin: from, 'access-control-request-method': 'PUT' },
      });
    const asked = await preflight('https://app.example');
    assert.equal(asked.status, 204);
    assert.equal(asked.headers['access-control-max-age'], '5');
    assert.equal(
      (await preflight('https://other.example')).headers['access-control-allow-methods'],
      undefined,
    );
  });

  test('may be changed at any time, with values that the option can have', async () => {
    const varied = await startServer({ cors: ['https://app.example'] });
    const credentials = async (): Promise<unknown> =>
      (await varied.get('/', { origin: 'https://app.example' })).headers['access-control-allow-credentials'];
    assert.equal(await credentials(), 'true');
    const section = `${option}/cors:https%3A%2F%2Fapp.example`;
    assertRefused(await varied.get(`${section}/credentials`), 404, 'not_found');
    assertRefused(await varied.put(`${section}/credentials`, 'perhaps'), 400);
    assertOk(await varied.put(`${section}/credentials`, 'false'), 200);
    assert.equal(await credentials(), undefined);
    assert.deepEqual((await varied.get(section)).body, { credentials: 'false' });
    assertOk(await varied.delete(`${section}/credentials`), 200);
    assert.equal(await credentials(), 'true');
  });
});
