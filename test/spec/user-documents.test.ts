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
