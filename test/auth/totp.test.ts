import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tokenOf, type TokenSettings } from '../../src/auth/hotp.js';
import { readTotp } from '../../src/auth/totp.js';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { startServer } from '../support/server.js';
import { addUser, resetOption, setOption, userDoc, userPath, whoAmI } from '../support/users.js';

const admin = await startServer();
const totp = { key: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' };
const wrong = 'Name or password is incorrect.';

/** A token that counts now, by some steps earlier or later. */
function tokenNow(steps = 0, settings: object = totp): string {
  return tokenOf(readTotp(settings) as TokenSettings, Math.floor(Date.now() / 30_000) + steps);
}

const logIn = (name: string, more: object): Promise<Answer> =>
  admin.anonymous.post('/_session', { name, password: 'pw', ...more });

const cookieOf = (answer: Answer): { cookie: string } => {
  assertOk(answer, 200);
  return { cookie: answer.headers['set-cookie']![0]!.split(';')[0]! };
};

/** A token that is wrong for a while to come. */
function wrongToken(): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => tokenNow(steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((each) => !right.includes(each))!;
}

describe('A user with a second factor', () => {
  test('logs in with name, password and token, and with nothing less', async () => {
    const ann = await addUser(admin, 'ann', { totp });
    for (const more of [{}, { token: '' }, { token: wrongToken() }, { token: tokenNow(), password: 'x' }]) {
      const answer = await logIn('ann', more);
      assert.equal(
        `${answer.status} ${answer.body.error} ${answer.body.reason}`,
        `401 unauthorized ${wrong}`,
      );
      assert.match(answer.headers['set-cookie']![0]!, /^AuthSession=;/);
    }
    assertRefused(await logIn('ann', { token: 123456 }), 400);
    const session = cookieOf(await logIn('ann', { token: tokenNow() }));
    assert.equal(await whoAmI(admin.anonymous, session), 'ann');
    const basic = await ann.get('/_session');
    assert.equal(`${basic.status} ${basic.body.reason}`, `401 ${wrong}`);
    assert.equal(await whoAmI(admin.anonymous, session), 'ann');
  });

  test('may be a little late or early, and send a form', async () => {
    await addUser(admin, 'ben', { totp });
    for (const steps of [-1, 1]) {
      // The step may change between here and there, away from one of both.
      const answers = [
        await logIn('ben', { token: tokenNow(steps) }),
        await logIn('ben', { token: tokenNow() }),
      ];
      assert.ok(answers.some(({ status }) => status === 200));
    }
    const form = await admin.anonymous.send('POST', '/_session', {
      raw: `name=ben&password=pw&token=${tokenNow()}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    cookieOf(form);
  });

  test('may have another algorithm and longer tokens', async () => {
    const longer = { key: 'MFRGGZDFMZTWQ===', algorithm: 'sha512', length: 8 };
    await addUser(admin, 'cat', { totp: longer });
    assertRefused(await logIn('cat', { token: tokenNow(0, totp) }), 401);
    cookieOf(await logIn('cat', { token: tokenNow(0, longer) }));
  });

  test('who gets it later loses Basic at once, and keeps the session', async () => {
    const dan = await addUser(admin, 'dan');
    const session = cookieOf(await logIn('dan', {}));
    assert.equal(await whoAmI(dan), 'dan');
    const doc = (await admin.get(userPath('dan'))).body as object;
    assertOk(await admin.put(userPath('dan'), { ...doc, totp }), 201);
    assertRefused(await dan.get('/'), 401);
    assertRefused(await logIn('dan', {}), 401);
    assert.equal(await whoAmI(admin.anonymous, session), 'dan');
    const now = (await admin.get(userPath('dan'))).body as object;
    assertOk(await admin.put(userPath('dan'), { ...now, totp: undefined }), 201);
    assert.equal(await whoAmI(dan), 'dan');
  });

  test('is locked after wrong tokens, but not by a program that sends Basic', async () => {
    const eve = await addUser(admin, 'eve', { totp });
    for (let i = 0; i < 8; i++) assertRefused(await eve.get('/'), 401);
    cookieOf(await logIn('eve', { token: tokenNow() }));
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await logIn('eve', { token: wrongToken() })).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 403]);
    assertRefused(await logIn('eve', { token: tokenNow() }), 403);
  });
});

describe('A second factor', () => {
  test('that cannot be used is refused when it is saved', async () => {
    for (const bad of [null, true, 'key', {}, { key: '' }, { key: 'x1' }, { ...totp, length: 9 }]) {
      const answer = await admin.put(userPath('fay'), userDoc('fay', { password: 'pw', totp: bad }));
      assertRefused(answer, 403);
      assert.match(answer.body.reason, /^totp/);
    }
  });

  test('that was saved all the same lets no one in', async () => {
    await addUser(admin, 'gus');
    const saved = (await admin.get(userPath('gus'))).body as object;
    const doc = { ...saved, _rev: undefined };
    await admin.put('/imported');
    await admin.put('/imported/org.couchdb.user:gus', { ...doc, totp: { key: '' } });
    await admin.put('/imported/org.couchdb.user:hal', {
      ...doc,
      _id: 'org.couchdb.user:hal',
      name: 'hal',
      totp: null,
    });
    await setOption(admin, 'chttpd_auth/authentication_db', 'imported');
    for (const name of ['gus', 'hal']) {
      for (const more of [{}, { token: '' }, { token: '755224' }])
        assertRefused(await logIn(name, more), 401);
      assertRefused(await admin.as(`${name}:pw`).get('/'), 401);
    }
    await resetOption(admin, 'chttpd_auth/authentication_db');
  });

  test('of a server admin is not asked for, as in CouchDB', async () => {
    await addUser(admin, 'root', { totp });
    await admin.put('/_node/_local/_config/admins/root', 'pw');
    assert.equal(await whoAmI(admin.as('root:pw')), 'root');
    cookieOf(await logIn('root', {}));
  });
});

test('a new password opens a lock', async () => {
  await addUser(admin, 'ida');
  for (let i = 0; i < 6; i++) await logIn('ida', { password: 'guess' });
  assertRefused(await logIn('ida', {}), 403);
  const doc = (await admin.get(userPath('ida'))).body as object;
  assertOk(await admin.put(userPath('ida'), { ...doc, phone: '1' }), 201);
  assertRefused(await logIn('ida', {}), 403);
  const next = (await admin.get(userPath('ida'))).body as object;
  assertOk(await admin.put(userPath('ida'), { ...next, password: 'new' }), 201);
  cookieOf(await logIn('ida', { password: 'new' }));
  for (let i = 0; i < 6; i++) await logIn('ida', { password: 'guess' });
  assertRefused(await logIn('ida', { password: 'new' }), 403);
  // The same for server admins.
  await admin.put('/_node/_local/_config/admins/joe', 'pw');
  for (let i = 0; i < 6; i++) await logIn('joe', { password: 'guess' });
  assertRefused(await logIn('joe', {}), 403);
  await admin.put('/_node/_local/_config/admins/joe', 'new');
  cookieOf(await logIn('joe', { password: 'new' }));
});
