import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { sendRaw } from '../support/raw-socket.js';
import { startServer } from '../support/server.js';
import { resetOption, setOption, whoAmI } from '../support/users.js';

const admin = await startServer({ config: { chttpd_auth: { iterations: '100', secret: 'hush' } } });
const nobody = admin.anonymous;
const handlers = (...names: string[]): string =>
  names.map((name) => `{chttpd_auth, ${name}_authentication_handler}`).join(', ');

const token = (name: string, digest: string, secret = 'hush'): string =>
  createHmac(digest, secret).update(name).digest('hex');

describe('Headers of a proxy', () => {
  test('mean nothing unless that way in is open', async () => {
    for (const brand of ['Svc', 'CouchDB']) {
      const headers = {
        [`X-Auth-${brand}-UserName`]: 'admin',
        [`X-Auth-${brand}-Roles`]: '_admin',
        [`X-Auth-${brand}-Token`]: token('admin', 'sha1'),
      };
      assert.equal(await whoAmI(nobody, headers), null);
      assertRefused(await nobody.get('/_all_dbs', headers), 401);
    }
  });

  test('name the user and the roles once it is', async () => {
    await setOption(admin, 'chttpd/authentication_handlers', handlers('proxy', 'cookie', 'default'));
    for (const brand of ['Svc', 'CouchDB']) {
      const answer = await nobody.get('/_session', {
        [`X-Auth-${brand}-UserName`]: Buffer.from('jürgen').toString('latin1'),
        [`X-Auth-${brand}-Roles`]: 'a, b',
      });
      assert.deepEqual(answer.body.userCtx, { name: 'jürgen', roles: ['a', 'b'] });
      assert.equal(answer.body.info.authenticated, 'proxy');
    }
    const roles = { 'a,': ['a'], ' a , ,b,, ': ['a', '', 'b'], ',': [], ',a': ['', 'a'], '': [''] };
    for (const [header, expected] of Object.entries(roles)) {
      const headers = { 'x-auth-svc-username': 'ann', 'x-auth-svc-roles': header };
      assert.deepEqual((await nobody.get('/_session', headers)).body.userCtx.roles, expected, header);
    }
    assert.equal(await whoAmI(nobody, { 'x-auth-svc-username': '' }), null);
    assert.equal(await whoAmI(admin), 'admin', 'others go on as before');
  });

  test('of two names are refused, also where one header comes twice', async () => {
    const both = { 'x-auth-svc-username': 'ann', 'x-auth-couchdb-username': 'bob' };
    assertRefused(await nobody.get('/', both), 400);
    const roles = { 'x-auth-svc-username': 'ann', 'x-auth-svc-roles': 'a', 'x-auth-couchdb-roles': '_admin' };
    assertRefused(await nobody.get('/', roles), 400);
    const raw = await sendRaw(
      admin.port,
      'GET / HTTP/1.1\r\nHost: x\r\nX-Auth-Svc-UserName: ann\r\nX-Auth-Svc-UserName: bob\r\nConnection: close\r\n\r\n',
    );
    assert.match(raw, /^HTTP\/1\.1 400 /);
  });

  test('need a token where the secret is used, for the very name', async () => {
    await setOption(admin, 'chttpd_auth/proxy_use_secret', 'true');
    const who = (xToken: string | undefined) =>
      whoAmI(nobody, {
        'x-auth-svc-username': 'ann',
        ...(xToken === undefined ? {} : { 'x-auth-svc-token': xToken }),
      });
    assert.equal(await who(token('ann', 'sha1')), 'ann', 'as the interface has it');
    assert.equal(await who(token('ann', 'sha256')), 'ann');
    assert.equal(await who(token('ann', 'sha1').toUpperCase()), 'ann');
    const wrong = [
      undefined,
      '',
      'x',
      token('bob', 'sha1'),
      token('ann', 'sha1', 'x'),
      token('ann', 'sha1', ''),
      token('ann', 'md5'),
    ];
    for (const each of wrong) assert.equal(await who(each), null, String(each));
    await resetOption(admin, 'chttpd_auth/proxy_use_secret');
  });

  test('that were given names of their own are read under these alone', async () => {
    await setOption(admin, 'chttpd_auth/x_auth_username', 'X-Who');
    await setOption(admin, 'chttpd_auth/x_auth_roles', 'X-What');
    const answer = await nobody.get('/_session', {
      'x-who': 'ann',
      'x-what': 'reader',
      'x-auth-svc-roles': '_admin',
      'x-auth-couchdb-roles': '_admin',
    });
    assert.deepEqual(answer.body.userCtx, { name: 'ann', roles: ['reader'] });
    for (const name of ['x-auth-svc-username', 'x-auth-couchdb-username']) {
      assert.equal(await whoAmI(nobody, { [name]: 'ann' }), null);
    }
    await resetOption(admin, 'chttpd_auth/x_auth_username');
    await resetOption(admin, 'chttpd_auth/x_auth_roles');
  });
});

describe('The ways in', () => {
  test('are tried in the order of the configuration', async () => {
    const both = { 'x-auth-svc-username': 'ann' };
    await setOption(admin, 'chttpd/authentication_handlers', handlers('default', 'proxy'));
    assert.equal(await whoAmI(admin, both), 'admin');
    await setOption(admin, 'chttpd/authentication_handlers', handlers('proxy', 'default'));
    assert.equal(await whoAmI(admin, both), 'ann');
    const answer = await nobody.get('/_session');
    assert.deepEqual(answer.body.info.authentication_handlers, ['proxy', 'default']);
  });

  test('that are not known are refused when they are set, and change nothing', async () => {
    await setOption(admin, 'chttpd/authentication_handlers', handlers('default'));
    for (const value of ['nonsense', handlers('nosuch'), handlers('default', 'nosuch'), '{{{']) {
      const answer = await admin.put('/_node/_local/_config/chttpd/authentication_handlers', value);
      assert.equal(answer.status, 400, answer.text);
    }
    assert.deepEqual((await admin.get('/_session')).body.info.authentication_handlers, ['default']);
    await setOption(admin, 'chttpd/authentication_handlers', '');
    const answer = await admin.get('/_session');
    assert.deepEqual(answer.body.info.authentication_handlers, ['cookie', 'default']);
    await resetOption(admin, 'chttpd/authentication_handlers');
  });
});
