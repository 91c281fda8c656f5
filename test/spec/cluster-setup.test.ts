import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { whoAmI } from '../support/users.js';

const bare = { config: { tuffet: { auto_setup: 'false' }, chttpd_auth: { iterations: '100' } } };
const stateOf = async (client: Awaited<ReturnType<typeof startServer>>, query = ''): Promise<string> =>
  (await client.get(`/_cluster_setup${query}`)).body.state as string;

describe('GET /_cluster_setup', () => {
  test('is single_node_enabled on a server that is ready at its first start', async () => {
    const admin = await startServer({ dataDir: temporaryFolder() });
    const answer = await admin.get('/_cluster_setup');
    assertOk(answer, 200);
    assert.deepEqual(answer.body, { state: 'single_node_enabled' });
    assert.deepEqual((await admin.get('/_all_dbs')).body, ['_global_changes', '_replicator', '_users']);
  });

  test('is single_node_disabled while a system database is missing', async () => {
    const admin = await startServer(bare);
    assert.deepEqual((await admin.get('/_all_dbs')).body, []);
    assert.equal(await stateOf(admin), 'single_node_disabled');
    assertOk(await admin.put('/_users'), 201);
    assert.equal(await stateOf(admin), 'single_node_disabled');
    assert.equal(await stateOf(admin, '?ensure_dbs_exist=["_users"]'), 'single_node_enabled');
    assertOk(await admin.put('/_replicator'), 201);
    assert.equal(await stateOf(admin), 'single_node_enabled');
    assert.equal(await stateOf(admin, '?ensure_dbs_exist=["_global_changes"]'), 'single_node_disabled');
    assert.equal(await stateOf(admin, '?ensure_dbs_exist=[]'), 'single_node_enabled');
  });

  test('counts every name in ensure_dbs_exist', async () => {
    const admin = await startServer({ dataDir: temporaryFolder() });
    const query = '?ensure_dbs_exist=["_users","orders"]';
    assert.equal(await stateOf(admin, query), 'single_node_disabled');
    assertOk(await admin.put('/orders'), 201);
    assert.equal(await stateOf(admin, query), 'single_node_enabled');
  });

  test('is one of cluster_* where several copies are wanted', async () => {
    const admin = await startServer({ ...bare, config: { ...bare.config, cluster: { n: '3' } } });
    assert.equal(await stateOf(admin), 'cluster_disabled');
    const address = '/_node/_local/_config/chttpd/bind_address';
    assertOk(await admin.put(address, '0.0.0.0'), 200);
    assert.equal(await stateOf(admin), 'cluster_enabled');
    assertOk(await admin.post('/_cluster_setup', { action: 'finish_cluster' }), 201);
    assert.equal(await stateOf(admin), 'cluster_finished');
    assertOk(await admin.put(address, '127.0.0.1'), 200);
    assert.equal(await stateOf(admin), 'cluster_disabled');
  });

  test('takes a list of names and nothing else', async () => {
    const admin = await startServer(bare);
    for (const value of ['x', '{}', '[1]', '"_users"', 'null', '']) {
      assertRefused(await admin.get(`/_cluster_setup?ensure_dbs_exist=${value}`), 400);
    }
  });
});

describe('POST /_cluster_setup', () => {
  test('enable_single_node makes databases and an admin, and keeps address and port', async () => {
    const admin = await startServer(bare);
    const answer = await admin.post('/_cluster_setup', {
      action: 'enable_single_node',
      bind_address: '0.0.0.0',
      port: 5985,
      username: 'boss',
      password: 'word',
      singlenode: true,
      ensure_dbs_exist: ['_users', '_replicator', '_global_changes', 'extra'],
    });
    assertOk(answer, 201);
    assert.deepEqual(answer.body, { ok: true });
    assert.equal(await whoAmI(admin.as('boss:word')), 'boss');
    assert.deepEqual((await admin.get('/_all_dbs')).body, [
      '_global_changes',
      '_replicator',
      '_users',
      'extra',
    ]);
    assert.equal((await admin.get('/_node/_local/_config/chttpd/bind_address')).body, '0.0.0.0');
    assert.equal((await admin.get('/_node/_local/_config/chttpd/port')).body, '5985');
    assert.equal(await stateOf(admin), 'single_node_enabled');
    assertOk(await admin.post('/_cluster_setup', { action: 'enable_single_node' }), 201);
  });

  test('enable_single_node leaves a server that wants one copy', async () => {
    const admin = await startServer(bare);
    assertOk(await admin.put('/_node/_local/_config/cluster/n', '3'), 200);
    assertOk(await admin.post('/_cluster_setup', { action: 'enable_single_node' }), 201);
    assert.equal((await admin.get('/_node/_local/_config/cluster/n')).body, '1');
    assert.equal(await stateOf(admin), 'single_node_enabled');
  });

  test('by default makes _users and _replicator', async () => {
    const admin = await startServer(bare);
    assertOk(await admin.post('/_cluster_setup', { action: 'enable_single_node' }), 201);
    assert.deepEqual((await admin.get('/_all_dbs')).body, ['_replicator', '_users']);
  });

  test('finish_cluster makes the system databases, once', async () => {
    const admin = await startServer(bare);
    assertOk(await admin.post('/_cluster_setup', { action: 'finish_cluster' }), 201);
    assert.deepEqual((await admin.get('/_all_dbs')).body, ['_replicator', '_users']);
    assertRefused(await admin.post('/_cluster_setup', { action: 'finish_cluster' }), 400);
    const more = { action: 'finish_cluster', ensure_dbs_exist: ['_users', '_global_changes'] };
    assertOk(await admin.post('/_cluster_setup', more), 201);
  });

  test('enable_cluster and add_node check their fields, then say that a server is one node', async () => {
    const admin = await startServer(bare);
    const enable = {
      action: 'enable_cluster',
      bind_address: '0.0.0.0',
      username: 'a',
      password: 'b',
      port: 5984,
      node_count: 3,
      remote_node: '10.0.0.2',
      remote_current_user: 'a',
      remote_current_password: 'b',
    };
    const add = { action: 'add_node', host: '10.0.0.2', port: 5984, username: 'a', password: 'b' };
    for (const setup of [enable, add])
      assert.deepEqual((await admin.post('/_cluster_setup', setup)).body, {
        error: 'bad_request',
        reason: 'Cluster is not enabled.',
      });
    const wrong: [object, RegExp][] = [
      ...['username', 'password', 'node_count', 'remote_current_user', 'remote_current_password'].map(
        (name): [object, RegExp] => [{ ...enable, [name]: undefined }, new RegExp(`\`${name}\` is required`)],
      ),
      [{ ...enable, node_count: 0 }, /node_count/],
      [{ ...enable, node_count: 1.5 }, /node_count/],
      [{ ...enable, bind_address: '127.0.0.1' }, /requires a remote bind_address/],
      [{ ...enable, bind_address: '::1' }, /requires a remote bind_address/],
      [{ ...enable, bind_address: undefined }, /requires a remote bind_address/],
      [{ ...enable, bind_address: 'non sense' }, /bind_address/],
      [{ action: 'enable_cluster' }, /requires a remote bind_address/],
      [{ action: 'add_node' }, /^Cluster is not enabled\.$/],
      [[], /^Missing JSON body'$/],
    ];
    for (const [setup, reason] of wrong) {
      const answer = await admin.post('/_cluster_setup', setup);
      assertRefused(answer, 400, 'bad_request');
      assert.match(answer.body.reason as string, reason);
    }
    assertRefused(await admin.as('a:b').get('/'), 401);
  });

  test('refuses fields of the wrong type and changes nothing', async () => {
    const admin = await startServer(bare);
    const wrong: object[] = [
      { action: 'enable_single_node', port: '5984' },
      { action: 'enable_single_node', port: 70_000 },
      { action: 'enable_single_node', port: 1.5 },
      { action: 'enable_single_node', bind_address: 7 },
      { action: 'enable_single_node', bind_address: '' },
      { action: 'enable_single_node', username: 'x' },
      { action: 'enable_single_node', password: 'x' },
      { action: 'enable_single_node', username: 'x', password: '' },
      { action: 'enable_single_node', username: ['x'], password: 'x' },
      { action: 'enable_single_node', singlenode: 'yes' },
      { action: 'enable_single_node', ensure_dbs_exist: '_users' },
      { action: 'enable_single_node', ensure_dbs_exist: [1] },
      { action: 'enable_single_node', ensure_dbs_exist: ['_nosuch'] },
      { action: 'enable_single_node', ensure_dbs_exist: ['Upper'] },
      { action: 'finish_cluster', ensure_dbs_exist: {} },
      { action: 'enable_cluster', node_count: 'three' },
      { action: 'add_node', host: 1 },
      { action: 'receive_cookie' },
      { action: ['enable_single_node'] },
      { action: 'constructor' },
      {},
    ];
    for (const setup of wrong) assertRefused(await admin.post('/_cluster_setup', setup), 400);
    assertRefused(await admin.post('/_cluster_setup', {}, { 'content-type': 'text/plain' }), 415);
    assert.deepEqual((await admin.get('/_all_dbs')).body, []);
    assertRefused(await admin.anonymous.post('/_cluster_setup', { action: 'enable_single_node' }), 401);
  });
});

describe('The system databases', () => {
  test('are not made again once somebody has deleted them', async () => {
    const dataDir = temporaryFolder();
    const first = await startServer({ dataDir });
    await first.delete('/_global_changes');
    await first.post('/_node/_local/_restart');
    assert.deepEqual((await first.get('/_all_dbs')).body, ['_replicator', '_users']);
  });

  test('begin closed to all but server admins', async () => {
    const admin = await startServer();
    for (const db of ['/_users', '/_replicator', '/_global_changes']) {
      assertRefused(await admin.anonymous.get(db), 401);
      const closed = { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } };
      assert.deepEqual((await admin.get(`${db}/_security`)).body, closed);
    }
    assertRefused(await admin.put('/_users/_security', {}), 403);
    assertOk(await admin.put('/_replicator/_security', {}), 200);
  });
});
