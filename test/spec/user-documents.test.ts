import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { addUser, userPath, whoAmI } from '../support/users.js';

const admin = await startServer();

describe('User documents', () => {
  test('are kept in the users database, which users_db_suffix names', async () => {
    assert.equal((await admin.get('/_node/_local/_config/chttpd_auth/users_db_suffix')).body, '_users');
    const user = await addUser(admin, 'uma', { roles: ['x'], shoe: 42 });
    assert.deepEqual((await user.get('/_session')).body.userCtx, { name: 'uma', roles: ['x'] });
    const doc = (await admin.get(userPath('uma'))).body;
    assert.equal(doc.shoe, 42);
    assert.equal(doc.password, undefined);
    assert.equal(doc.password_scheme, 'pbkdf2');
  });

  test('make members and admins of databases, by name and by role', async () => {
    const db = await newDb(admin);
    const users = {
      member: await addUser(admin, 'member'),
      reader: await addUser(admin, 'reader', { roles: ['readers'] }),
      owner: await addUser(admin, 'owner'),
      chief: await addUser(admin, 'chief', { roles: ['chiefs'] }),
      stranger: await addUser(admin, 'stranger', { roles: ['others'] }),
    };
    await admin.put(`${db}/_security`, {
      admins: { names: ['owner'], roles: ['chiefs'] },
      members: { names: ['member'], roles: ['readers'] },
    });
    for (const user of [users.member, users.reader, users.owner, users.chief]) {
      assertOk(await user.get(db), 200);
      assertOk(await user.post(db, {}), 201);
      assertOk(await user.get(`${db}/_all_docs?include_docs=true`), 200);
    }
    for (const user of [users.member, users.reader]) {
      assertRefused(await user.put(`${db}/_design/d`, {}), 403);
      assertRefused(await user.put(`${db}/_security`, {}), 403);
      assertRefused(await user.put(`${db}/_revs_limit`, 10), 403);
    }
    for (const [i, user] of [users.owner, users.chief].entries()) {
      assertOk(await user.put(`${db}/_design/d${i}`, {}), 201);
      assertOk(await user.put(`${db}/_revs_limit`, 10 + i), 200);
      assertOk(await user.put(`${db}/_security`, (await user.get(`${db}/_security`)).body), 200);
      assertRefused(await user.delete(db), 401);
      assertRefused(await user.put('/rights-another'), 401);
    }
    assertRefused(await users.stranger.get(db), 403);
    assertRefused(await admin.anonymous.get(db), 401);
  });
});

describe('Server administrator accounts', () => {
  test('are made, read, replaced and deleted without a restart, and never kept in clear text', async () => {
    const path = '/_node/_local/_config/admins/root';
    assertOk(await admin.put(path, 'one'), 200);
    assert.equal(await whoAmI(admin.as('root:one')), 'root');
    assert.match((await admin.get(path)).body, /^-pbkdf2-[0-9a-f]{40},[0-9a-f]{32},\d+$/);
    assertOk(await admin.put(path, 'two'), 200);
    assertRefused(await admin.as('root:one').get('/'), 401);
    assert.equal(await whoAmI(admin.as('root:two')), 'root');
    assertOk(await admin.delete(path), 200);
    assertRefused(await admin.as('root:two').get('/'), 401);
  });

  test('take both forms of hashes as they are with raw=true', async () => {
    const salt = '0123456789abcdef0123456789abcdef';
    const hashes = [
      `-pbkdf2-1bd11b8339ec6f7de87f6f261929a704e2898643,${salt},1000`,
      '-hashed-3c1424fa3820fa41357b478b4341ac08eb7ec6b4,fedcba9876543210fedcba9876543210',
    ];
    for (const [i, hash] of hashes.entries()) {
      const path = `/_node/_local/_config/admins/raw${i}`;
      assertOk(await admin.put(`${path}?raw=true`, hash), 200);
      assert.equal((await admin.get(path)).body, hash);
      assert.equal(await whoAmI(admin.as(`raw${i}:swordfish`)), `raw${i}`);
    }
  });
});

test('users who may not list the users database get 401, also where some fields are public', async () => {
  const user = await addUser(admin, 'lister');
  const option = '/_node/_local/_config/chttpd_auth';
  await admin.put(`${option}/users_db_public`, 'true');
  await admin.put(`${option}/public_fields`, 'name');
  try {
    assertRefused(await user.get('/_users/_all_docs'), 401, 'unauthorized');
    assertRefused(await user.get('/_users/_changes'), 401, 'unauthorized');
  } finally {
    await admin.delete(`${option}/public_fields`);
    await admin.delete(`${option}/users_db_public`);
  }
});

test('the database of events is for server admins, who alone are told of every database', async () => {
  const user = await addUser(admin, 'watcher');
  await admin.put('/_global_changes');
  await admin.put('/_global_changes/_security', { members: { names: ['watcher'] } });
  for (const path of ['', '/_all_docs', '/_changes', '/x']) {
    for (const client of [user, admin.anonymous]) {
      const answer = await client.get(`/_global_changes${path}`);
      assertRefused(answer, 401, 'unauthorized');
      assert.equal(answer.body.reason, 'You are not a server admin.');
    }
  }
});

test('who may not see a system database is told so, wherever not only server admins may list it', async () => {
  const user = await addUser(admin, 'outsider');
  for (const db of ['/_users', '/_replicator']) {
    for (const path of ['_design_docs', '_local_docs', '_purged_infos', '_purged_infos_limit']) {
      const refused = await user.get(`${db}/${path}`);
      assertRefused(refused, 403, 'forbidden');
      assert.equal(refused.body.reason, 'You are not allowed to access this db.');
      const anonymous = await admin.anonymous.get(`${db}/${path}`);
      assertRefused(anonymous, 401, 'unauthorized');
      assert.equal(anonymous.body.reason, 'You are not authorized to access this db.');
    }
    assertRefused(await user.post(`${db}/_purge`, {}), 403, 'forbidden');
    assertRefused(await user.get(`${db}/_all_docs`), 401, 'unauthorized');
  }
});
