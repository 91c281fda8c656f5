import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient, type Answer } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { addUser, logIn, resetOption, setOption, whoAmI } from '../support/users.js';

const admin = await startServer();
const nobody = admin.anonymous;
await addUser(admin, 'ann', { roles: ['r'] });

describe('A session', () => {
  test('is renewed by requests, and ends without them', async () => {
    await setOption(admin, 'chttpd_auth/timeout', '3');
    let session = await logIn(admin, 'ann');
    const first = session;
    const until = Date.now() + 4_000;
    while (Date.now() < until) {
      const answer = await nobody.get('/_session', session);
      assert.equal(answer.body.userCtx.name, 'ann');
      const renewed = answer.headers['set-cookie']?.[0];
      if (renewed !== undefined) {
        assert.match(renewed, /^AuthSession=[^;]+; Version=1; Expires=.*; Max-Age=3; Path=\/; HttpOnly$/);
        session = { cookie: renewed.split(';')[0]! };
      }
      await sleep(200);
    }
    assert.notEqual(session.cookie, first.cookie);
    assert.equal(await whoAmI(nobody, first), null);
    await sleep(3_100);
    assert.equal(await whoAmI(nobody, session), null);
    await resetOption(admin, 'chttpd_auth/timeout');
  });

  test('is renewed by answers of every kind, refusals too, but not where it begins or ends', async () => {
    await setOption(admin, 'chttpd_auth/timeout', '5');
    const db = await newDb(admin);
    await admin.put(`${db}/a`, {});
    const session = await logIn(admin, 'ann');
    await sleep(1_000);
    const cookies = async (method: string, where: string): Promise<string[]> =>
      (await nobody.send(method, where, { headers: session })).headers['set-cookie'] ?? [];
    for (const where of [`${db}/a`, `${db}/nosuch`, `${db}/_all_docs`, '/_all_dbs', '/']) {
      assert.equal((await cookies('GET', where)).length, 1, where);
    }
    const [ended, ...more] = await cookies('DELETE', '/_session');
    assert.match(ended!, /^AuthSession=;/);
    assert.deepEqual(more, []);
    await resetOption(admin, 'chttpd_auth/timeout');
  });

  test('outlives a restart on the same data folder, where the secret is kept from others', async () => {
    const dataDir = temporaryFolder();
    const options = { dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' as const };
    const quick = { config: { chttpd_auth: { iterations: '100' } } };
    const before = await createServer({ ...options, ...quick });
    await addUser(new HttpClient(before.url), 'bob');
    const session = await logIn(new HttpClient(before.url), 'bob');
    await before.close();
    const after = await createServer({ ...options, ...quick });
    assert.equal(await whoAmI(new HttpClient(after.url, null), session), 'bob');
    await after.close();
    const file = path.join(dataDir, 'config-api.ini');
    assert.match(fs.readFileSync(file, 'utf8'), /\[chttpd_auth\]\nsecret = [0-9a-f]{64}\n/);
    assert.equal(fs.statSync(file).mode & 0o077, 0);
  });

  test('is marked as secure where the client came over TLS', async () => {
    const answer = await nobody.post(
      '/_session',
      { name: 'ann', password: 'pw' },
      { 'x-forwarded-proto': 'https' },
    );
    assert.match(answer.headers['set-cookie']![0]!, /; Secure;/);
  });
});

describe('A login', () => {
  test('redirects only within the server', async () => {
    const at = (query: string) =>
      nobody.send('POST', `/_session?${query}`, { json: { name: 'ann', password: 'pw' } });
    const { host } = new URL(admin.url);
    const good = [
      ['next=/x%3Fa%3D1', `http://${host}/x?a=1`],
      ['next=//evil.example', `http://${host}//evil.example`],
      ['next=/%E2%82%AC%20', `http://${host}/%E2%82%AC%20`],
      ['next=/%0d%0aSet-Cookie:%20a=b', `http://${host}/%0D%0ASet-Cookie:%20a=b`],
    ];
    for (const [query, location] of good) {
      const answer = await at(query!);
      assert.equal(answer.status, 302, answer.text);
      assert.equal(answer.headers.location, location);
    }
    // Each with a name of its own, so that none is locked.
    const failing = (query: string) => nobody.post(`/_session?${query}`, { name: `not ${query}` });
    for (const next of ['http://evil.example', '@evil.example', '.evil.example', 'x', '%5Cevil']) {
      const refused = await at(`next=${next}`);
      assertRefused(refused, 400, 'bad_request');
      assert.equal(refused.headers['set-cookie'], undefined);
      assertRefused(await failing(`fail=${next}`), 400, 'bad_request');
      assertOk(await at(`fail=${next}`), 200);
      assertRefused(await failing(`next=${next}`), 401);
    }
  });

  test('is read before it is asked where to redirect', async () => {
    const headers = { 'content-type': 'text/plain' };
    const login = await nobody.send('POST', '/_session?next=x&fail=x', { raw: 'name=ann', headers });
    assertRefused(login, 415, 'bad_content_type');
  });

  test('is JSON or a form by what its type begins with', async () => {
    const send = (type: string): Promise<Answer> =>
      nobody.send('POST', '/_session', {
        raw: '{"name":"ann","password":"pw"}',
        headers: { 'content-type': type },
      });
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/json, text/plain',
      'Application/JSON',
    ])
      assertOk(await send(type), 200);
    for (const type of ['text/json', '']) assertRefused(await send(type), 415);
    assertRefused(await send('application/x-www-form-urlencoded;charset=utf-8'), 400);
  });

  test('of a browser leads to the page that is configured', async () => {
    await setOption(admin, 'chttpd_auth/authentication_redirect', '/_utils/');
    const login = { name: 'ann', password: 'pw' };
    const html = await nobody.post('/_session', login, { accept: 'text/html' });
    assert.equal(html.status, 302);
    assert.equal(new URL(html.headers.location!).pathname, '/_utils/');
    assertOk(await nobody.post('/_session', login), 200);
    await resetOption(admin, 'chttpd_auth/authentication_redirect');
    assertOk(await nobody.post('/_session', login, { accept: 'text/html' }), 200);
  });

  test('page exists where browsers are sent to', async () => {
    const answer = await nobody.get('/_all_dbs', { accept: 'text/html' });
    const { pathname, search } = new URL(answer.headers.location!);
    const page = await nobody.get(pathname + search, { accept: 'text/html' });
    assertOk(page, 200);
    assert.match(page.headers['content-type']!, /^text\/html/);
  });

  test('page is for those who take pages and no JSON', async () => {
    const statusFor = async (accept: string): Promise<number> =>
      (await nobody.get('/_all_dbs', { accept })).status;
    const pages = ['text/html', 'TEXT/HTML', 'text/*', 'text/html;q=0.5, image/png', 'text/html, */*;q=0'];
    for (const accept of pages) assert.equal(await statusFor(accept), 302, accept);
    const others = [
      'text/html, application/json',
      'text/html, */*',
      'text/plain',
      'text/html;q=0',
      'image/*',
    ];
    for (const accept of others) assert.equal(await statusFor(accept), 401, accept);
  });

  test('takes no body that is too large, and none that is no login', async () => {
    const large = { name: 'ann', password: 'x'.repeat(70_000) };
    assertRefused(await nobody.post('/_session', large), 413, 'too_large');
    for (const json of [{ name: 'ann', password: 1 }, { name: ['ann'] }, { username: {} }, [], 'x', null]) {
      assertRefused(await nobody.post('/_session', json), 400, 'bad_request');
    }
    assertRefused(await nobody.post('/_session', { name: 'ann' }), 401);
  });

  test('is asked for in the way that the client or the configuration wants', async () => {
    const basic = await nobody.get('/_all_dbs', { 'x-couchdb-www-authenticate': 'Basic realm="mine"' });
    assert.equal(basic.headers['www-authenticate'], 'Basic realm="mine"');
    await setOption(admin, 'chttpd/require_valid_user_except_for_up', 'true');
    assertOk(await nobody.get('/_up'), 200);
    const answer = await nobody.get('/');
    assertRefused(answer, 401);
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="server"');
    await resetOption(admin, 'chttpd/require_valid_user_except_for_up');
  });
});
