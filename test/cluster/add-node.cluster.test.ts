import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { endWithParent } from '../support/end-with-parent.js';
import { HttpClient } from '../support/http-client.js';
import { freePort, skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const program = path.join(import.meta.dirname, '../../src/main/cli.js');
const fresh = { 'x-tuffet-reads': 'fresh' };

/** A server that was started without a cluster. */
class LoneServer {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-lone-'));
  #process: ChildProcess | undefined;
  log = '';

  private constructor(readonly port: number) {}

  static async start(): Promise<LoneServer> {
    const server = new LoneServer(await freePort());
    await server.run();
    return server;
  }

  get client(): HttpClient {
    return new HttpClient(`http://127.0.0.1:${this.port}`);
  }

  async run(): Promise<void> {
    const args = ['serve', '--port', String(this.port), '--data', this.folder, '--admin', 'admin:secret'];
    const env = { ...process.env, TUFFET__CHTTPD_AUTH__ITERATIONS: '10' };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    endWithParent(child);
    child.stderr.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    this.#process = child;
    await until(async () => (await this.client.get('/_up').catch(() => undefined))?.status === 200);
  }

  async end(): Promise<void> {
    const child = this.#process!;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  }

  async close(): Promise<void> {
    await this.end();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('add_node', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const node = await TestNode.start({ nats: nats.url, name: 'a' });
  const lone = await LoneServer.start();
  after(async () => {
    await Promise.all([node.close(), lone.close()]);
    await nats.close();
  });
  const add = (fields: Record<string, unknown>) =>
    node.client.post('/_cluster_setup', {
      action: 'add_node',
      host: '127.0.0.1',
      port: lone.port,
      username: 'admin',
      password: 'secret',
      ...fields,
    });

  test('says what is wrong with what it is given', async () => {
    const refused = async (fields: Record<string, unknown>, reason: RegExp): Promise<void> => {
      const { status, body } = await add(fields);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.reason, reason);
    };
    await refused({ password: 'wrong' }, /refuses the name and password/);
    await refused({ port: await freePort() }, /cannot be reached/);
    await refused({ host: 'no.such.host.invalid' }, /cannot be reached/);
    await refused({ host: 'a/b' }, /`host` must be/);
    await refused({ host: 'admin:x@127.0.0.1' }, /`host` must be/);
    await refused({ host: ' ' }, /`host` must not be empty/);
    await refused({ host: 1 }, /`host` must be a string/);
    await refused({ port: 'x' }, /`port` must be a number/);
    await refused({ port: 70_000 }, /`port` must be/);
    await refused({ username: undefined }, /`username` is required/);
    await refused({ port: Number(new URL(node.client.url).port) }, /is a node of the cluster already/);
    const other = net.createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    await refused({ port: (other.address() as net.AddressInfo).port }, /not a Tuffet server/);
    other.close();
    const alone = await lone.client.post('/_cluster_setup', {
      action: 'add_node',
      host: '127.0.0.1',
      username: 'admin',
      password: 'secret',
    });
    assert.deepEqual([alone.status, alone.body.reason], [400, 'Cluster is not enabled.']);
  });

  test('only server admins, with settings that can be used, make a server a node', async () => {
    const order = {
      cookie_secret: 'x',
      node_name: 'x',
      advertise: lone.client.url,
      settings: { nats: nats.url, secret: 'shared' },
    };
    assert.equal((await lone.client.anonymous.post('/_cluster_join', order)).status, 401);
    for (const wrong of [
      { node_name: 'a b' },
      { advertise: 1 },
      { cookie_secret: '' },
      { members: 'a' },
      { members: ['tuffet@x'] },
      { settings: { nats: nats.url } },
      { settings: { ...order.settings, port: '1' } },
      { settings: { ...order.settings, nats: `nats://127.0.0.1:${await freePort()}` } },
    ])
      assert.equal((await lone.client.post('/_cluster_join', { ...order, ...wrong })).status, 400);
    // The server stays as it is, and answers, also where all but the last look finds nothing wrong.
    const usable = { ...order.settings, allow_unsafe_log: 'true' };
    const wrong = { ...order, settings: { ...usable, streams: 'abc' } };
    assert.equal((await lone.client.post('/_cluster_join', wrong)).status, 400);
    assert.equal((await lone.client.get('/')).status, 200);
    const file = path.join(lone.folder, 'config-api.ini');
    fs.rmSync(file, { force: true });
    fs.mkdirSync(file);
    const { status, text } = await lone.client.post('/_cluster_join', { ...order, settings: usable });
    assert.equal(status, 500, text);
    fs.rmdirSync(file);
    assert.deepEqual((await lone.client.get('/_node/_local/_config/cluster/nats')).body, '');
    // Without allow_unsafe_log, this version of NATS is refused.
    assert.equal((await lone.client.post('/_cluster_join', order)).status, 400);
    assert.deepEqual((await lone.client.get('/_membership')).body.cluster_nodes.length, 1);
  });

  test('refuses a server that has data', async () => {
    await lone.client.put('/mine');
    const { status, body } = await add({});
    assert.equal(status, 400);
    assert.match(body.reason, /has something in the database mine/);
    await lone.client.delete('/mine');
    const user = { name: 'jane', password: 'x', roles: [], type: 'user' };
    await lone.client.put('/_users/org.couchdb.user:jane', user);
    assert.match((await add({})).body.reason, /has something in the database _users/);
    const { _rev } = (await lone.client.get('/_users/org.couchdb.user:jane')).body;
    await lone.client.delete(`/_users/org.couchdb.user:jane?rev=${_rev}`);
  });

  test('makes no server a node under the name of another one', async () => {
    await lone.client.put('/_node/_local/_config/cluster/node_name', 'a');
    const { status, body } = await add({});
    assert.equal(status, 400);
    assert.match(body.reason, /has the name tuffet@a of another node/);
    await lone.client.delete('/_node/_local/_config/cluster/node_name');
  });

  test('keeps a database that is created while a server becomes a node', async () => {
    const other = await LoneServer.start();
    try {
      const joining = add({ port: other.port });
      let isOver = false;
      void joining.then(() => (isOver = true));
      const created: string[] = [];
      for (let n = 0; !isOver && created.length === 0; n++) {
        const { status } = await other.client.put(`/during${n}`).catch(() => ({ status: 0 }));
        if (status === 201) created.push(`during${n}`);
      }
      const { status } = await joining;
      const listed = await until(async () => {
        const { body } = await other.client.get('/_all_dbs').catch(() => ({ body: undefined }));
        return Array.isArray(body) && created.every((name) => body.includes(name));
      }).then(() => true);
      assert.ok(listed);
      assert.ok(status === 201 || status === 400, String(status));
    } finally {
      await other.close();
    }
  });

  test('makes a server a node, which has the databases of the cluster and stays one', async () => {
    await node.client.put('/db');
    await node.client.put('/db/doc', { n: 1 });
    const added = await add({});
    assert.deepEqual([added.status, added.body], [201, { ok: true }], added.text + lone.log);
    const { body } = await node.client.get('/_membership');
    assert.deepEqual(body.all_nodes, ['tuffet@127.0.0.1', 'tuffet@a']);
    assert.equal((await lone.client.get('/db/doc', fresh)).body.n, 1);
    assert.equal((await lone.client.put('/db/other', {})).status, 201);
    assert.equal((await node.client.get('/db/other', fresh)).status, 200);
    const secretOf = async ({ client }: { client: HttpClient }): Promise<unknown> =>
      (await client.get('/_node/_local/_config/chttpd_auth/secret')).body;
    assert.equal(await secretOf(lone), await secretOf(node));
    // Again is no error.
    assert.equal((await add({})).status, 201);
    await lone.end();
    await lone.run();
    assert.equal((await lone.client.get('/db/other', fresh)).status, 200);
  });

  test('an admin that is set up on one node is one on all', async () => {
    const setup = { action: 'enable_single_node', username: 'jane', password: 'her password' };
    assert.equal((await node.client.post('/_cluster_setup', setup)).status, 201);
    const jane = lone.client.as('jane:her password');
    await until(async () => (await jane.get('/_all_dbs')).status === 200);
  });
});
