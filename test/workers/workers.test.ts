import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withoutProc } from '../long/server-process.js';
import { SocketClient } from '../support/socket-client.js';
import { isRunning, Scene, until } from './scene.js';

test('two processes answer as one server', { skip: withoutProc }, async (t) => {
  const scene = await Scene.start(t);
  const pair = await scene.pair();
  const [owner, worker] = pair;

  await t.test('a write through either is visible through both', async () => {
    let { _rev } = (await owner.get('/db/doc')).body as { _rev: string };
    for (let n = 1; n <= 50; n++) {
      const written = await pair[n % 2]!.put('/db/doc', { _rev, n });
      assert.equal(written.status, 201, written.text);
      _rev = written.body.rev as string;
      for (const client of pair) assert.equal((await client.get('/db/doc')).body.n, n);
      assert.equal((await worker.head('/db/doc')).headers.etag, `"${_rev}"`);
    }
    assert.equal((await worker.get('/db/doc', { 'if-none-match': `"${_rev}"` })).status, 304);
    assert.ok(await scene.isByWorker(worker));
  });

  await t.test('a document that is deleted or missing is so through both', async () => {
    const { rev } = (await worker.put('/db/short', {})).body as { rev: string };
    for (const client of pair) assert.equal((await client.get('/db/short')).status, 200);
    assert.equal((await owner.delete(`/db/short?rev=${rev}`)).status, 200);
    for (const client of pair) {
      assert.deepEqual((await client.get('/db/short')).body, { error: 'not_found', reason: 'deleted' });
      assert.deepEqual((await client.get('/db/none')).body, { error: 'not_found', reason: 'missing' });
    }
  });

  await t.test('a right that was taken away is gone through both', async () => {
    const user = { name: 'u', type: 'user', roles: [], password: 'pw' };
    assert.equal((await owner.put('/_users/org.couchdb.user:u', user)).status, 201);
    for (let round = 0; round < 3; round++) {
      const open = { admins: { roles: [] }, members: { names: ['u'] } };
      assert.equal((await pair[round % 2]!.put('/db/_security', open)).status, 200);
      const readers = await scene.pair('u:pw');
      assert.equal((await pair[round % 2]!.put('/db/_security', { members: { names: ['v'] } })).status, 200);
      for (const reader of readers) assert.equal((await reader.get('/db/doc')).status, 403);
    }
    assert.equal((await owner.put('/db/_security', { members: { names: ['u'] } })).status, 200);
  });

  await t.test('a password that was changed is refused through both, and so is its session', async () => {
    const readers = await scene.pair('u:pw');
    const login = await worker.as(null).post('/_session', { name: 'u', password: 'pw' });
    const cookie = String(login.headers['set-cookie']).split(';')[0]!;
    const anonymous = pair.map((client) => client.as(null));
    await until('the worker reads by the cookie', async () => {
      const [first, second] = [await anonymous[1]!.get('/db/doc', { cookie }), await anonymous[1]!.get('/')];
      assert.equal(first.status, 200);
      const names = [first, second].map(({ headers }) => String(headers['x-couch-request-id']).slice(0, 8));
      return names[0] !== names[1];
    });
    const { body } = await owner.get('/_users/org.couchdb.user:u');
    assert.equal((await owner.put('/_users/org.couchdb.user:u', { ...body, password: 'other' })).status, 201);
    for (const reader of readers) assert.equal((await reader.get('/db/doc')).status, 401);
    for (const client of anonymous) assert.equal((await client.get('/db/doc', { cookie })).status, 401);
  });

  await t.test('feeds, long polls and WebSockets hear of a write through both', async () => {
    // Connections go to the process that has fewer: of four, two are served by each.
    const many = <T>(open: () => T): T[] => Array.from({ length: 4 }, open);
    const sockets = many(() => new SocketClient(owner, '/db/_changes?since=now&credit=10'));
    await Promise.all(sockets.map((socket) => socket.opened()));
    const polls = many(() => scene.client().get('/db/_changes?feed=longpoll&since=now&timeout=60000'));
    const updates = many(() => scene.client().get('/_db_updates?feed=longpoll&since=now&timeout=60000'));
    let answered = 0;
    for (const poll of [...polls, ...updates]) void poll.then(() => answered++);
    await until('all polls are answered', async () => {
      assert.equal((await worker.post('/db', { news: true })).status, 201);
      return answered === 8;
    });
    for (const poll of await Promise.all(polls)) assert.ok(poll.body.results.length > 0);
    for (const update of await Promise.all(updates)) assert.ok(update.body.results.length > 0);
    await until('all sockets', () => sockets.every(({ rows }) => rows.length > 0));
    for (const socket of sockets) socket.stop();
  });

  await t.test('a database that was deleted and made anew is empty through both', async () => {
    for (let round = 0; round < 3; round++) {
      assert.equal((await pair[round % 2]!.delete('/db')).status, 200);
      for (const client of pair) assert.equal((await client.get('/db/doc')).status, 404);
      assert.equal((await worker.put('/db')).status, 201);
      for (const client of pair) assert.equal((await client.get('/db/doc')).status, 404);
      assert.equal((await owner.put('/db/doc', { round })).status, 201);
      await until('the worker reads', async () => {
        for (const client of pair) assert.equal((await client.get('/db/doc')).body.round, round);
        return scene.isByWorker(worker);
      });
    }
  });
});

test(
  'a killed worker is replaced, and a killed owner takes its workers along',
  { skip: withoutProc },
  async (t) => {
    const scene = await Scene.start(t);
    const { server } = scene;
    const [owner] = await scene.pair();
    const [killed] = scene.workers as [number];
    process.kill(killed, 'SIGKILL');
    await until('another worker', async () => {
      assert.equal((await owner.get('/db/doc')).status, 200);
      return scene.workers.some((pid) => pid !== killed);
    });
    await scene.pair();
    const workers = scene.workers;
    await server.stop('SIGKILL');
    await until('no worker is left', () => !workers.some(isRunning));
    await server.start();
    const again = await scene.pair();
    for (const client of again) assert.equal((await client.get('/db/doc')).body.n, 0);
    const last = scene.workers;
    await server.stop();
    assert.deepEqual(last.filter(isRunning), []);
    assert.ok(!fs.existsSync(path.join(scene.folder, 'workers')));
  },
);
