import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import nano from 'nano';
import httpAdapter from 'pouchdb-adapter-http';
import PouchDB from 'pouchdb-core';
import { startServer } from '../support/server.js';
import { addUser, openUsers, setOption } from '../support/users.js';

/** Clients of CouchDB, unchanged, as people who log in, are let in and are refused. */
const admin = await startServer();
await openUsers(admin);
await setOption(admin, 'couchdb/default_security', 'admin_only');

describe('nano', () => {
  const root = nano(admin.urlWithCredentials);

  test('makes users and lets them into a database', async () => {
    const users = root.use('_users');
    const made = await users.insert(
      { name: 'nina', type: 'user', roles: [], password: 'pw' } as nano.MaybeDocument,
      'org.couchdb.user:nina',
    );
    assert.equal(made.ok, true);
    await root.db.create('for-nina');
    await assert.rejects(nano(admin.url).use('for-nina').insert({}, 'x'), { statusCode: 401 });
    const nina = nano(admin.as('nina:pw').urlWithCredentials).use('for-nina');
    await assert.rejects(nina.insert({}, 'x'), { statusCode: 403 });
    await root.request({
      db: 'for-nina',
      path: '_security',
      method: 'put',
      body: { members: { names: ['nina'] } },
    });
    assert.equal((await nina.insert({}, 'x')).ok, true);
    await assert.rejects(nina.insert({}, '_design/x'), { statusCode: 403 });
  });

  test('logs in, keeps the cookie, and tells who it is', async () => {
    await addUser(admin, 'noel', { roles: ['r'] });
    const client = nano(admin.url);
    await assert.rejects(client.auth('noel', 'wrong'), { statusCode: 401 });
    const login = await client.auth('noel', 'pw');
    assert.deepEqual(login, { ok: true, name: 'noel', roles: ['r'] });
    const { userCtx, info } = await client.session();
    assert.deepEqual(userCtx, { name: 'noel', roles: ['r'] });
    assert.equal(info.authenticated, 'cookie');
    await assert.rejects(client.db.create('not-for-noel'), { statusCode: 401 });
    const own = client.use('_users');
    const doc = await own.get('org.couchdb.user:noel');
    assert.equal((await own.insert({ ...doc, password: 'new' } as nano.MaybeDocument)).ok, true);
    await assert.rejects(own.get('org.couchdb.user:noel'), { statusCode: 404 }, 'the session has ended');
    assert.equal((await client.auth('noel', 'new')).ok, true);
  });
});

describe('PouchDB over HTTP', () => {
  PouchDB.plugin(httpAdapter);
  const open = (name: string, auth?: { username: string; password: string }): PouchDB =>
    new PouchDB(`${admin.url}/${name}`, { skip_setup: true, ...(auth && { auth }) });

  test('reads and writes as a user with credentials, and is refused without or with wrong ones', async () => {
    await addUser(admin, 'pia', { roles: ['writers'] });
    await admin.put('/for-pia');
    await admin.put('/for-pia/_security', { members: { roles: ['writers'] } });
    const pia = open('for-pia', { username: 'pia', password: 'pw' });
    assert.equal((await pia.put({ _id: 'a' })).ok, true);
    assert.equal((await pia.info()).doc_count, 1);
    await assert.rejects(pia.put({ _id: '_design/x' }), { status: 403, name: 'forbidden' });
    await assert.rejects(open('for-pia').get('a'), { status: 401, name: 'unauthorized' });
    const wrong = open('for-pia', { username: 'pia', password: 'no' });
    await assert.rejects(wrong.get('a'), { status: 401, name: 'unauthorized' });
    await addUser(admin, 'paul');
    const paul = open('for-pia', { username: 'paul', password: 'pw' });
    await assert.rejects(paul.get('a'), { status: 403, name: 'forbidden' });
  });

  test('signs a user up, who then changes the own document and sees no other', async () => {
    const users = open('_users');
    const doc = { name: 'petra', type: 'user', roles: [], password: 'pw' };
    assert.equal((await users.put({ _id: 'org.couchdb.user:petra', ...doc })).ok, true);
    const petra = open('_users', { username: 'petra', password: 'pw' });
    const own = await petra.get('org.couchdb.user:petra');
    await assert.rejects(petra.put({ ...own, roles: ['writers'] }), { status: 403, name: 'forbidden' });
    assert.equal((await petra.put({ ...own, color: 'blue' })).ok, true);
    await assert.rejects(petra.get('org.couchdb.user:pia'), { status: 404, name: 'not_found' });
    const foreign = { _id: 'org.couchdb.user:pia', name: 'pia' };
    await assert.rejects(petra.bulkDocs([{ ...own, color: 'red' }, foreign]), {
      status: 404,
      name: 'not_found',
    });
    assert.equal(((await petra.get('org.couchdb.user:petra')) as { color?: string }).color, 'blue');
  });
});
