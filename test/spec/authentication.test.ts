import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { CompactSign } from 'jose';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer } from '../support/server.js';
import { addUser, logIn, openUsers, resetOption, setOption, userPath, whoAmI } from '../support/users.js';

/** Rows of the tables under Authentication, and the numbered statements beside them. */
const admin = await startServer();
const nobody = admin.anonymous;
const ann = await addUser(admin, 'ann', { roles: ['reader'] });

async function withOptions(options: Record<string, string>, work: () => Promise<void>): Promise<void> {
  for (const [name, value] of Object.entries(options)) await setOption(admin, name, value);
  try {
    await work();
  } finally {
    for (const name of Object.keys(options)) await resetOption(admin, name);
  }
}

const cookieOf = async (): Promise<string> =>
  (await nobody.post('/_session', { name: 'ann', password: 'pw' })).headers['set-cookie']![0]!;

describe('Options of [chttpd]', () => {
  test('require_valid_user refuses anonymous requests; false is the default', async () => {
    assertOk(await nobody.get('/'), 200);
    await withOptions({ 'chttpd/require_valid_user': 'true' }, async () => {
      for (const path of ['/', '/_up', '/_utils/', '/nosuch']) assertRefused(await nobody.get(path), 401);
      assertOk(await ann.get('/'), 200);
    });
  });

  test('require_valid_user_except_for_up refuses them but at /_up', async () => {
    await withOptions({ 'chttpd/require_valid_user_except_for_up': 'true' }, async () => {
      assertOk(await nobody.get('/_up'), 200);
      assertRefused(await nobody.get('/'), 401);
      assertOk(await ann.get('/'), 200);
    });
  });
});

describe('Options of [chttpd_auth]', () => {
  test('allow_persistent_cookies gives the cookie Max-Age and Expires', async () => {
    assert.match(await cookieOf(), /; Expires=[^;]+; Max-Age=600;/);
    await withOptions({ 'chttpd_auth/allow_persistent_cookies': 'false' }, async () => {
      assert.doesNotMatch(await cookieOf(), /Expires|Max-Age/);
    });
  });

  test('cookie_domain is the domain of the cookie; empty by default', async () => {
    assert.doesNotMatch(await cookieOf(), /Domain/);
    await withOptions({ 'chttpd_auth/cookie_domain': 'db.example.org' }, async () => {
      assert.match(await cookieOf(), /; Domain=db\.example\.org(;|$)/);
    });
  });

  test('same_site adds SameSite for none, lax and strict', async () => {
    assert.doesNotMatch(await cookieOf(), /SameSite/);
    for (const value of ['none', 'lax', 'strict']) {
      await withOptions({ 'chttpd_auth/same_site': value }, async () => {
        assert.match(await cookieOf(), new RegExp(`; SameSite=${value}(;|$)`, 'i'));
      });
    }
  });

  test('auth_cache_size is 50; logins work whatever it is', async () => {
    assert.equal((await admin.get('/_node/_local/_config/chttpd_auth/auth_cache_size')).body, '50');
    for (const size of ['0', '1']) {
      await withOptions({ 'chttpd_auth/auth_cache_size': size }, async () => {
        for (let i = 0; i < 3; i++)
          assert.equal(await whoAmI(i === 1 ? admin : ann), i === 1 ? 'admin' : 'ann');
      });
    }
  });

  test('authentication_redirect is where a login leads a client that accepts text/html', async () => {
    await withOptions({ 'chttpd_auth/authentication_redirect': '/_utils/' }, async () => {
      const login = { name: 'ann', password: 'pw' };
      const answer = await nobody.post('/_session', login, { accept: 'text/html' });
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.location, `${admin.url}/_utils/`);
      assertOk(await nobody.post('/_session', login), 200);
    });
  });

  test('iterations is how often new passwords are hashed', async () => {
    await withOptions({ 'chttpd_auth/iterations': '123' }, async () => {
      await addUser(admin, 'iterated');
      assert.equal((await admin.get(userPath('iterated'))).body.iterations, 123);
      await admin.put('/_node/_local/_config/admins/iterated', 'x');
      assert.match((await admin.get('/_node/_local/_config/admins/iterated')).body, /,123$/);
      await admin.delete('/_node/_local/_config/admins/iterated');
    });
    const other = await startServer({ config: { chttpd_auth: {} } });
    assert.equal((await other.get('/_node/_local/_config/chttpd_auth/iterations')).body, '10000');
  });

  test('min_iterations and max_iterations forbid users with fewer and more, and include the bounds', async () => {
    const hash = '-pbkdf2-1bd11b8339ec6f7de87f6f261929a704e2898643,0123456789abcdef0123456789abcdef,1000';
    const bounds = { min_iterations: '1000', max_iterations: '1000' };
    const other = await startServer({ admins: { admin: hash }, config: { chttpd_auth: bounds } });
    const root = other.as('admin:swordfish');
    for (const [iterations, status] of [
      [999, 403],
      [1000, 200],
      [1001, 403],
    ] as const) {
      await setOption(root, 'chttpd_auth/iterations', String(iterations));
      const user = await addUser(root, `user${iterations}`);
      assertOk(await user.get('/'), status);
    }
  });

  test('password_regexp must be matched by new passwords; a reason is appended; the older section counts', async () => {
    const rules = '["\\\\d", {".{4,}", "Four at least."}]';
    const reasons: [password: string, reason: string][] = [
      ['abcd', 'Password does not conform to requirements.'],
      ['1ab', 'Password does not conform to requirements. Four at least.'],
    ];
    for (const section of ['chttpd_auth', 'svc_httpd_auth']) {
      await withOptions({ [`${section}/password_regexp`]: rules }, async () => {
        for (const [password, reason] of reasons) {
          const doc = { name: 'ruled', type: 'user', roles: [], password };
          const answer = await admin.put(userPath('ruled'), doc);
          assertRefused(answer, 400, 'bad_request');
          assert.equal(answer.body.reason, reason, section);
        }
        await addUser(admin, `ruled-${section}`, { password: '1abc' });
      });
    }
  });

  test('public_fields are shown to any user, with users_db_public; without them users see their own alone', async () => {
    await openUsers(admin);
    await addUser(admin, 'public', { email: 'p@example.org', phone: '1' });
    const path = userPath('public');
    assertRefused(await ann.get(path), 404);
    assertOk(await ann.get(userPath('ann')), 200);
    await withOptions({ 'chttpd_auth/public_fields': 'name,email' }, async () => {
      assertRefused(await ann.get(path), 404);
    });
    await withOptions({ 'chttpd_auth/users_db_public': 'true' }, async () => {
      assertRefused(await ann.get(path), 404);
      await withOptions({ 'chttpd_auth/public_fields': 'name, email' }, async () => {
        const { body } = await ann.get(path);
        assert.deepEqual(Object.keys(body as object).sort(), ['_id', '_rev', 'email', 'name']);
        assertOk(await ann.get('/_users/_all_docs'), 200);
      });
    });
    assertRefused(await ann.get('/_users/_all_docs'), 401);
    assertOk(await admin.get('/_users/_all_docs'), 200);
  });

  test('secret is the token of cookies', async () => {
    const session = await logIn(admin, 'ann');
    assert.equal(await whoAmI(nobody, session), 'ann');
    await withOptions({ 'chttpd_auth/secret': 'another' }, async () => {
      assert.equal(await whoAmI(nobody, session), null);
      assert.equal(await whoAmI(nobody, await logIn(admin, 'ann')), 'ann');
    });
  });

  test('timeout is how many seconds after the last request a session expires', async () => {
    assert.match(await cookieOf(), /Max-Age=600/);
    await withOptions({ 'chttpd_auth/timeout': '1' }, async () => {
      const session = await logIn(admin, 'ann');
      await sleep(1_100);
      assert.equal(await whoAmI(nobody, session), null);
    });
  });
});

describe('Proxy authentication', () => {
  const open = {
    'chttpd/authentication_handlers':
      '{chttpd_auth, proxy_authentication_handler}, {chttpd_auth, default_authentication_handler}',
  };

  test('takes name and roles from X-Auth-Svc-UserName and X-Auth-Svc-Roles, and no token', async () => {
    await withOptions(open, async () => {
      const answer = await nobody.get('/_session', {
        'X-Auth-Svc-UserName': 'pat',
        'X-Auth-Svc-Roles': 'a,b',
      });
      assert.deepEqual(answer.body.userCtx, { name: 'pat', roles: ['a', 'b'] });
    });
  });

  test('with proxy_use_secret demands the HMAC-SHA1 of secret and name in X-Auth-Svc-Token', async () => {
    const options = { ...open, 'chttpd_auth/proxy_use_secret': 'true', 'chttpd_auth/secret': 'hush' };
    await withOptions(options, async () => {
      const token = createHmac('sha1', 'hush').update('pat').digest('hex');
      const headers = { 'X-Auth-Svc-UserName': 'pat' };
      assert.equal(await whoAmI(nobody, { ...headers, 'X-Auth-Svc-Token': token }), 'pat');
      assert.equal(await whoAmI(nobody, headers), null);
      assert.equal(await whoAmI(nobody, { ...headers, 'X-Auth-Svc-Token': token.replace(/^./, 'g') }), null);
    });
  });

  test('reads the headers that x_auth_username, x_auth_roles and x_auth_token name', async () => {
    const options = {
      ...open,
      'chttpd_auth/proxy_use_secret': 'true',
      'chttpd_auth/secret': 'hush',
      'chttpd_auth/x_auth_username': 'X-U',
      'chttpd_auth/x_auth_roles': 'X-R',
      'chttpd_auth/x_auth_token': 'X-T',
    };
    await withOptions(options, async () => {
      const token = createHmac('sha1', 'hush').update('pat').digest('hex');
      const answer = await nobody.get('/_session', { 'X-U': 'pat', 'X-R': 'r', 'X-T': token });
      assert.deepEqual(answer.body.userCtx, { name: 'pat', roles: ['r'] });
    });
  });
});

describe('JSON Web Tokens', () => {
  const open = {
    'chttpd/authentication_handlers': '{chttpd_auth, jwt_authentication_handler}',
    'jwt_keys/hmac:_default': Buffer.from('a key').toString('base64'),
  };
  const handlers = '/_node/_local/_config/chttpd/authentication_handlers';
  const bearer = async (claims: object): Promise<Record<string, string>> => {
    const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from('a key'));
    return { authorization: `Bearer ${token}` };
  };
  const root = { sub: 'root', exp: 4_102_444_800, '_svc.roles': ['_admin'] };

  test('need the claims of required_claims, or get 400; roles_claim_name is _svc.roles by default', async () => {
    for (const [name, value] of Object.entries(open).reverse()) await setOption(admin, name, value);
    const asRoot = await bearer(root);
    const set = (key: string, value: string) =>
      nobody.send('PUT', `/_node/_local/_config/jwt_auth/${key}`, { json: value, headers: asRoot });
    assert.deepEqual((await nobody.get('/_session', asRoot)).body.userCtx, {
      name: 'root',
      roles: ['_admin'],
    });
    assertOk(await set('required_claims', 'exp,iss'), 200);
    assertRefused(await nobody.get('/', asRoot), 400, 'bad_request');
    const full = await bearer({ ...root, iss: 'x' });
    assertOk(await nobody.get('/', full), 200);
    const name = '/_node/_local/_config/jwt_auth/roles_claim_name';
    assertOk(await nobody.send('PUT', name, { json: 'groups', headers: full }), 200);
    const grouped = await bearer({ ...root, iss: 'x', groups: ['_admin', 'g'] });
    assert.deepEqual((await nobody.get('/_session', full)).body.userCtx.roles, []);
    assert.deepEqual((await nobody.get('/_session', grouped)).body.userCtx.roles, ['_admin', 'g']);
    for (const path of [handlers, name, '/_node/_local/_config/jwt_auth/required_claims'].reverse()) {
      assertOk(
        await nobody.send('DELETE', path, { headers: path === name ? grouped : await current() }),
        200,
      );
    }
    async function current(): Promise<Record<string, string>> {
      return bearer({ ...root, iss: 'x', groups: ['_admin'] });
    }
  });
});
