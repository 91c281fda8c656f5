import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { CompactSign } from 'jose';
import type { Answer, HttpClient } from '../support/http-client.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer } from '../support/server.js';
import { addUser, logIn, resetOption, setOption, userPath, whoAmI } from '../support/users.js';

const admin = await startServer();
const nobody = admin.anonymous;
await addUser(admin, 'ann', { roles: ['r'] });

/** Nobody gets in, and nothing breaks: anonymous, or refused in a clear way. */
function assertKeptOut(answer: Answer, what: string): void {
  if (answer.status === 200) assert.deepEqual(answer.body.userCtx, { name: null, roles: [] }, what);
  else assert.ok([400, 401, 403].includes(answer.status), `${what}: ${answer.status} ${answer.text}`);
}

describe('Cookies that somebody made up', () => {
  const seal = (name: string, seconds: number, key: string | Buffer, digest = 'sha256'): string => {
    const text = `${name}:${seconds.toString(16).toUpperCase()}`;
    const mac = createHmac(digest, key).update(text).digest();
    return Buffer.concat([Buffer.from(`${text}:`), mac]).toString('base64url');
  };
  const now = Math.floor(Date.now() / 1000);

  test('open nothing, whatever they are signed with', async () => {
    const { salt } = (await admin.get(userPath('ann'))).body as { salt: string };
    for (const name of ['ann', 'admin', 'nosuch', '', 'ann\0', ' ann', '__proto__', '_admin']) {
      for (const key of ['', salt, 'undefined', 'null', 'secret', randomBytes(32)]) {
        for (const seconds of [now, now + 1e6, 0]) {
          const cookie = `AuthSession=${seal(name, seconds, key)}`;
          assertKeptOut(await nobody.get('/_session', { cookie }), JSON.stringify([name, key]));
        }
      }
    }
  });

  test('are not opened by changing one that is good', async () => {
    const { cookie } = await logIn(admin, 'ann');
    const value = cookie.slice('AuthSession='.length);
    const bytes = Buffer.from(value, 'base64url');
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      const text = changed.toString('base64url');
      assertKeptOut(await nobody.get('/_session', { cookie: `AuthSession=${text}` }), text);
    }
    for (const text of [value.slice(1), value.slice(0, -2), `${value}AAAA`, value + value]) {
      assertKeptOut(await nobody.get('/_session', { cookie: `AuthSession=${text}` }), text);
    }
    assert.equal(await whoAmI(nobody, { cookie }), 'ann');
  });

  test('of any other form are refused or passed over', async () => {
    const forms = [
      '%',
      '====',
      '"',
      '""',
      'a b',
      'x'.repeat(20_000),
      '::::',
      'Og',
      'Ojo6',
      '\x80\xff',
      'AuthSession=',
    ];
    for (const form of forms) {
      assertKeptOut(await nobody.get('/_session', { cookie: `AuthSession=${form}` }), form);
    }
    assertKeptOut(await nobody.get('/_session', { cookie: '; ;;=;AuthSession' }), 'no value');
  });
});

describe('Tokens that somebody made up', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const claims = { sub: 'root', exp: 4_102_444_800, '_svc.roles': ['_admin'] };
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

  test('open nothing where that way in is closed', async () => {
    await setOption(admin, 'jwt_keys/hmac:_default', Buffer.from('key').toString('base64'));
    const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from('key'));
    assert.equal(await whoAmI(nobody, bearer(token)), null);
    await resetOption(admin, 'jwt_keys/hmac:_default');
  });

  test('open nothing where it is open: none, confused kinds, wrong keys, odd forms', async () => {
    await setOption(admin, 'jwt_keys/rsa:_default', pem.trimEnd().replaceAll('\n', '\\n'));
    await setOption(
      admin,
      'chttpd/authentication_handlers',
      '{chttpd_auth, jwt_authentication_handler}, {chttpd_auth, default_authentication_handler}',
    );
    const hmac = (alg: string, key: string | Buffer): string => {
      const text = `${part({ alg })}.${part(claims)}`;
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const tokens = [
      `${part({ alg: 'none' })}.${part(claims)}.`,
      `${part({ alg: 'nOnE' })}.${part(claims)}.AAAA`,
      hmac('HS256', pem),
      hmac('HS256', pem.trimEnd()),
      hmac('HS256', pem.trimEnd().replaceAll('\n', '\\n')),
      hmac('HS256', ''),
      hmac('RS256', pem),
      `${part({ alg: 'RS256' })}.${part(claims)}.`,
      `${part({ alg: 'RS256', jwk: rsa.publicKey.export({ format: 'jwk' }) })}.${part(claims)}.AAAA`,
      `${part({ alg: 'RS256', crit: ['exp'] })}.${part(claims)}.AAAA`,
      `${part({ alg: 'RS256', b64: false, crit: ['b64'] })}.${part(claims)}.AAAA`,
      `${part([])}.${part(claims)}.AAAA`,
      `${part(null)}.${part(claims)}.AAAA`,
      'a.b.c',
      '..',
      '',
      'x'.repeat(30_000),
    ];
    for (const token of tokens) {
      assertKeptOut(await nobody.get('/_session', bearer(token)), token.slice(0, 200));
    }
    // A key that comes with the token is not the key that counts.
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const own = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'RS256', jwk: stranger.publicKey.export({ format: 'jwk' }) })
      .sign(stranger.privateKey);
    assertRefused(await nobody.get('/_session', bearer(own)), 400);
    const good = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'RS256' })
      .sign(rsa.privateKey);
    assert.equal(await whoAmI(nobody, bearer(good)), 'root');
    await resetOption(admin, 'jwt_keys/rsa:_default');
    assertRefused(await nobody.get('/', bearer(good)), 400);
    await resetOption(admin, 'chttpd/authentication_handlers');
  });
});

describe('Names', () => {
  test('of every kind are users like others, or are refused', async () => {
    const names = [
      'ünï',
      '日本',
      '😀',
      'a b',
      ' a',
      'a ',
      'a/b',
      'a%2Fb',
      'a"b',
      'constructor',
      'x'.repeat(2_000),
    ];
    for (const name of names) {
      const user = await addUser(admin, name);
      assert.equal(await whoAmI(user), name);
      const { cookie } = await logIn(admin, name);
      assert.equal(await whoAmI(nobody, { cookie }), name);
    }
    for (const name of ['a:b', ':', '_x', '_admin']) {
      const doc = { name, type: 'user', roles: [], password: 'pw' };
      assertRefused(await admin.put(userPath(name), doc), 403);
    }
    const long = 'x'.repeat(40_000);
    assertRefused(await nobody.post('/_session', { name: long, password: 'pw' }), 401);
    assertRefused(await admin.as(`${long}:pw`).get('/'), 401);
  });

  test('in Basic credentials that are no text are nobody', async () => {
    for (const bytes of [[0xff, 0x3a, 0x41], [0x3a], [0x00, 0x3a, 0x00], [0x61, 0x00, 0x3a, 0x62]]) {
      const authorization = `Basic ${Buffer.from(bytes).toString('base64')}`;
      assertRefused(await nobody.get('/', { authorization }), 401);
    }
  });
});

describe('Guessing', () => {
  const lock = 'Account is temporarily locked due to multiple authentication failures';
  const guess = (client: HttpClient, name: string, i: number): Promise<Answer> =>
    client.as(`${name}:guess${i}`).get('/');

  test('many at once meets the lock as surely as one after the other', async () => {
    await addUser(admin, 'flood');
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => guess(admin, 'flood', i)));
    assert.equal(answers.filter(({ status }) => status === 401).length, 5);
    assert.equal(answers.filter(({ body }) => body.reason === lock).length, 55);
    assertRefused(await admin.as('flood:pw').get('/'), 403);
    assertRefused(await nobody.post('/_session', { name: 'flood', password: 'pw' }), 403);
  });

  test('does not get around the lock by other ways in, headers or spellings of the name', async () => {
    await addUser(admin, 'spell');
    for (let i = 0; i < 5; i++) await guess(admin, 'spell', i);
    assertRefused(await guess(admin, 'spell', 6), 403);
    assertRefused(await nobody.post('/_session', { name: 'spell', password: 'pw' }), 403);
    const form = {
      raw: 'username=spell&password=pw',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    assertRefused(await nobody.send('POST', '/_session', form), 403);
    const forwarded = { 'x-forwarded-for': '10.1.2.3', forwarded: 'for=10.1.2.3', 'x-real-ip': '10.1.2.3' };
    assertRefused(await admin.as('spell:pw').get('/', forwarded), 403);
    for (const name of ['Spell', 'SPELL', ' spell', 'spell ', 'spell\t', 'spell\0', 'spe\u200bll']) {
      assertRefused(await admin.as(`${name}:pw`).get('/'), 401);
      assertRefused(await nobody.post('/_session', { name, password: 'pw' }), 401);
    }
  });

  test('does not tell names that exist from others, nor does it stop who is known', async () => {
    const known = await addUser(admin, 'known');
    assertOk(await known.get('/'), 200);
    for (const name of ['known', 'unknown']) {
      const statuses: number[] = [];
      for (let i = 0; i < 7; i++) statuses.push((await guess(admin, name, i)).status);
      assert.deepEqual(statuses, [401, 401, 401, 401, 401, 403, 403], name);
    }
    assertOk(await known.get('/'), 200);
    assertOk(await admin.get('/_all_dbs'), 200);
  });

  test('takes as long for a name that does not exist', async () => {
    await setOption(admin, 'chttpd_auth_lockout/mode', 'off');
    await setOption(admin, 'chttpd_auth/iterations', '50000');
    await addUser(admin, 'slow');
    const times = { slow: [] as number[], nosuch: [] as number[] };
    for (let i = 0; i < 12; i++) {
      for (const name of ['slow', 'nosuch'] as const) {
        const started = performance.now();
        assertRefused(await guess(admin, name, i), 401);
        times[name].push(performance.now() - started);
      }
    }
    const median = (list: number[]): number => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
    const ratio = median(times.slow) / median(times.nosuch);
    assert.ok(ratio > 0.5 && ratio < 2, `${ratio}`);
    await resetOption(admin, 'chttpd_auth/iterations');
    await resetOption(admin, 'chttpd_auth_lockout/mode');
  });
});

test('after all that the server goes on', async () => {
  assertOk(await admin.get('/_up'), 200);
  assert.equal(await whoAmI(admin.as('ann:pw')), 'ann');
});
