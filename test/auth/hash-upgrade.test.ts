import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { startServer } from '../support/server.js';
import { addUser, resetOption, setOption, userDoc, userPath, whoAmI } from '../support/users.js';

const admin = await startServer();

const hashOf = async (name: string): Promise<{ scheme: string; iterations: number; rev: string }> => {
  const { password_scheme: scheme, iterations, _rev: rev } = (await admin.get(userPath(name))).body;
  return { scheme, iterations, rev };
};

test('a login upgrades a weaker hash if upgrade_hash_on_auth is true', async () => {
  await setOption(admin, 'chttpd_auth/iterations', '500');
  await addUser(admin, 'ann', { password: 'apple', roles: ['reader'], note: 'é' });
  await setOption(admin, 'chttpd_auth/iterations', '1000');
  assert.equal(await whoAmI(admin.as('ann:apple')), 'ann');
  assert.equal((await hashOf('ann')).iterations, 500);
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'true');
  const session = await admin.anonymous.post('/_session', { name: 'ann', password: 'apple' });
  assert.equal(session.status, 200);
  const upgraded = await hashOf('ann');
  assert.equal(upgraded.iterations, 1000);
  const cookie = String(session.headers['set-cookie']).split(';')[0]!;
  assert.equal((await admin.anonymous.get('/_session', { cookie })).body.userCtx.name, 'ann');
  assert.equal(await whoAmI(admin.as('ann:apple')), 'ann');
  assert.deepEqual(await hashOf('ann'), upgraded);
  const { body } = await admin.get(userPath('ann'));
  assert.deepEqual([body.roles, body.note, body.password], [['reader'], 'é', undefined]);
});

test('an upgrade keeps the salt, so that sessions from before go on', async () => {
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'false');
  await setOption(admin, 'chttpd_auth/iterations', '500');
  await addUser(admin, 'eve', { password: 'plum' });
  const before = (await admin.get(userPath('eve'))).body;
  const session = await admin.anonymous.post('/_session', { name: 'eve', password: 'plum' });
  const cookie = String(session.headers['set-cookie']).split(';')[0]!;
  await setOption(admin, 'chttpd_auth/iterations', '1000');
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'true');
  assert.equal(await whoAmI(admin.as('eve:plum')), 'eve');
  const { body } = await admin.get(userPath('eve'));
  assert.deepEqual([body.iterations, body.salt, body.preserve_salt], [1000, before.salt, undefined]);
  assert.notEqual(body.derived_key, before.derived_key);
  assert.equal((await admin.anonymous.get('/_session', { cookie })).body.userCtx.name, 'eve');
  const changed = { ...body, password: 'pear' };
  assert.equal((await admin.put(userPath('eve'), changed)).status, 201);
  assert.notEqual((await admin.get(userPath('eve'))).body.salt, before.salt);
  assert.equal((await admin.anonymous.get('/_session', { cookie })).body.userCtx.name, null);
});

test('a SHA-1 hash is replaced, and a wrong password changes nothing', async () => {
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'true');
  const password_sha = createHash('sha1').update('pearsalt').digest('hex');
  await admin.put(userPath('bob'), userDoc('bob', { password_scheme: 'simple', password_sha, salt: 'salt' }));
  const before = await hashOf('bob');
  assert.equal((await admin.as('bob:plum').get('/_session')).status, 401);
  assert.deepEqual(await hashOf('bob'), before);
  assert.equal(await whoAmI(admin.as('bob:pear')), 'bob');
  assert.equal((await hashOf('bob')).scheme, 'pbkdf2');
  await resetOption(admin, 'chttpd_auth/upgrade_hash_on_auth');
});

test('a login counts where the password no longer fits the rules, and keeps its hash', async () => {
  await setOption(admin, 'chttpd_auth/iterations', '500');
  await addUser(admin, 'cat', { password: 'fig' });
  await setOption(admin, 'chttpd_auth/iterations', '1000');
  await setOption(admin, 'chttpd_auth/password_regexp', '[".{10,}"]');
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'true');
  assert.equal(await whoAmI(admin.as('cat:fig')), 'cat');
  assert.equal((await hashOf('cat')).iterations, 500);
});

test('a password that is changed while the old one is verified stays changed', async () => {
  await setOption(admin, 'chttpd_auth/password_regexp', '[]');
  await setOption(admin, 'chttpd_auth/iterations', '200000');
  await addUser(admin, 'dan', { password: 'old' });
  await setOption(admin, 'chttpd_auth/iterations', '200001');
  await setOption(admin, 'chttpd_auth/upgrade_hash_on_auth', 'true');
  const { rev } = await hashOf('dan');
  const login = admin.as('dan:old').get('/_session');
  const password_sha = createHash('sha1').update('newsalt').digest('hex');
  const changed = { password_scheme: 'simple', password_sha, salt: 'salt', _rev: rev };
  assert.equal((await admin.put(userPath('dan'), userDoc('dan', changed))).status, 201);
  await login;
  assert.equal((await admin.as('dan:old').get('/_session')).status, 401);
  assert.equal(await whoAmI(admin.as('dan:new')), 'dan');
});
