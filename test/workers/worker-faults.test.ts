import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { CompactSign } from 'jose';
import { noBytes } from '../../src/base/bytes.js';
import { SystemRuntime, type Timer } from '../../src/base/runtime.js';
import { Config } from '../../src/config/config.js';
import { Compression } from '../../src/http/answer/compression.js';
import { ProxyAndCorsPolicy } from '../../src/http/answer/proxy-and-cors-policy.js';
import { WholeAnswers } from '../../src/http/answer/whole-answers.js';
import type { Services } from '../../src/http/services.js';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { EpochReader } from '../../src/workers/epochs.js';
import { WorkerHandle } from '../../src/workers/worker-handle.js';
import { WorkerHandler } from '../../src/workers/worker-handler.js';
import { withoutProc } from '../long/server-process.js';
import { HttpClient } from '../support/http-client.js';
import { basicAuth } from '../support/raw-socket.js';
import { temporaryFolder } from '../support/server.js';
import { resetOption, setOption } from '../support/users.js';
import { childrenOf, prefixOf, Scene, until } from './scene.js';

/** Sends the same request over several connections at a time; gives the heads of the answers. */
async function answersTo(url: string, request: string, connections: number): Promise<string[]> {
  const sockets = Array.from({ length: connections }, () => net.connect(Number(new URL(url).port)));
  const answers = sockets.map(async (socket) => {
    socket.write(request);
    // A connection that is closed without an answer gives none.
    const [head] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean];
    return Buffer.isBuffer(head) ? head.toString('latin1') : noBytes;
  });
  try {
    return await Promise.all(answers);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function startHere(t: TestContext, dataDir: string, workers: string): Promise<TuffetServer> {
  const server = await createServer({
    ...{ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' },
    config: { chttpd_auth: { iterations: '100' }, tuffet: { workers } },
  });
  t.after(() => server.close());
  return server;
}

test('requests that announce trailers are answered by all processes', { skip: withoutProc }, async (t) => {
  const { server, workers } = await Scene.start(t);
  const head = `Host: x\r\n${basicAuth}Trailer: a\r\n`;
  const body =
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\na: b\r\n\r\n';
  const requests: [request: string, status: number][] = [
    [`GET /db/doc HTTP/1.1\r\n${head}\r\n`, 200],
    [`POST /db HTTP/1.1\r\n${head}${body}`, 201],
  ];
  for (const [request, status] of requests) {
    // Connections go to the process that has fewer: of six, three are served by each.
    for (const answer of await answersTo(server.url, request, 6))
      assert.equal(answer.split(' ')[1], String(status), answer);
  }
  assert.equal(workers.length, 1);
  assert.deepEqual(childrenOf(server.pid), workers);
});

test('a request that cannot be passed on is answered by an error', async (t) => {
  const [runtime, config] = [new SystemRuntime(), new Config()];
  const services = { runtime, config, serverName: 'Tuffet' } as Services;
  const policy = new ProxyAndCorsPolicy(config);
  const wholeAnswers = new WholeAnswers(config, runtime);
  Object.assign(services, { policy, compression: new Compression(config), wholeAnswers });
  const statuses: number[] = [];
  const parts = {
    reads: { readOf: () => undefined },
    forwarder: {
      forward: () => {
        throw new Error('Such a request cannot be sent');
      },
    },
    reports: { note: ({ status }: { status: number }) => statuses.push(status) },
  };
  const handler = new WorkerHandler(services, parts as never, {} as never);
  const server = http.createServer((request: IncomingMessage, response: ServerResponse) =>
    handler.handle(request, response),
  );
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (const answer of [await client.get('/db/doc'), await client.post('/db', { a: 1 })]) {
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body, { error: 'bad_request', reason: 'Such a request cannot be sent' });
  }
  await until('both are noted', () => statuses.length === 2);
  assert.deepEqual(statuses, [400, 400]);
});

test('a token whose key was removed is refused by all processes', { skip: withoutProc }, async (t) => {
  const scene = await Scene.start(t);
  const pair = await scene.pair();
  const [admin] = pair;
  const key = Buffer.from('a key');
  await setOption(admin, 'jwt_keys/hmac:_default', key.toString('base64'));
  const handlers = ['jwt', 'cookie', 'default'].map(
    (name) => `{chttpd_auth, ${name}_authentication_handler}`,
  );
  await setOption(admin, 'chttpd/authentication_handlers', handlers.join(', '));
  const claims = { sub: 'root', exp: 4_102_444_800, '_svc.roles': ['_admin'] };
  const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'HS256' })
    .sign(key);
  const headers = { authorization: `Bearer ${token}` };
  const [owner, worker] = pair.map((client) => client.as(null)) as [HttpClient, HttpClient];
  await until('the worker reads by the token', async () => {
    const answers = [await worker.get('/db/doc', headers), await worker.get('/')];
    assert.equal(answers[0]!.status, 200, answers[0]!.text);
    const names = answers.map((answer) => String(answer.headers['x-couch-request-id']).slice(0, 8));
    return names[0] !== names[1];
  });
  await resetOption(admin, 'jwt_keys/hmac:_default');
  for (const client of [worker, owner]) assert.equal((await client.get('/db/doc', headers)).status, 400);
});

test(
  'where no worker can be started, the server serves, and tries again',
  { skip: withoutProc },
  async (t) => {
    const { execPath } = process;
    t.after(() => (process.execPath = execPath));
    // The first is told by an event, the second by an exception.
    for (const missing of ['/nowhere/node', '/no\0where']) {
      process.execPath = missing;
      const server = await startHere(t, temporaryFolder(), '2');
      const client = new HttpClient(server.url);
      assert.equal((await client.get('/_all_dbs')).status, 200);
      assert.deepEqual(childrenOf(process.pid), []);
      process.execPath = execPath;
      await until('a worker', () => childrenOf(process.pid).length === 1);
      assert.equal((await client.get('/_all_dbs')).status, 200);
      await server.close();
      assert.deepEqual(childrenOf(process.pid), []);
    }
  },
);

test('a worker that is slow to start is waited for longer than one that falls silent', async () => {
  let now = 0;
  let look = (): void => undefined;
  class Clock extends SystemRuntime {
    override monotonicMs(): number {
      return now;
    }
    override setIdleRepeating(run: () => void): Timer {
      look = run;
      return { cancel: () => undefined };
    }
  }
  const worker = new WorkerHandle(new Clock(), { asked: () => undefined, ended: () => undefined });
  const lookFor = (seconds: number): void => {
    for (let n = 0; n < seconds; n++) {
      now += 1_000;
      look();
    }
  };
  let hasEnded = false;
  void worker.exited().then(() => (hasEnded = true));
  lookFor(20);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(!hasEnded);
  worker.isReady = true;
  lookFor(12);
  await worker.exited();
});

test('a server of one process voids the permits of one that had several', async (t) => {
  const dataDir = temporaryFolder();
  const folder = path.join(dataDir, 'workers');
  fs.mkdirSync(folder);
  const epochs = path.join(folder, 'epochs');
  fs.writeFileSync(epochs, new Float64Array(64));
  const reader = new EpochReader(epochs);
  const isCurrent = (): boolean => {
    reader.look();
    return reader.isCurrent({ server: 0, database: 0 }, 'db');
  };
  assert.ok(isCurrent());
  await startHere(t, dataDir, '1');
  assert.ok(!isCurrent());
  assert.ok(!fs.existsSync(folder));
});

test('a worker tells of a connection that was closed on its way', async (t) => {
  const program = path.resolve(import.meta.dirname, '../../src/workers/worker-process.js');
  const child = fork(program, [], { execArgv: [] });
  t.after(() => child.kill('SIGKILL'));
  child.send('connection');
  const [message] = (await once(child, 'message')) as unknown[];
  assert.deepEqual(message, { kind: 'tell', body: { type: 'closed', connections: 1 } });
});

/** Begins to read an answer, and gives how to read the rest of it. */
async function slowly(
  scene: Scene,
  path: string,
): Promise<{ isByWorker: (owner: string) => boolean; rest: () => Promise<string> }> {
  const { url } = scene.server;
  const headers = { authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}` };
  const request = http.get(`${url}${path}`, { headers, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const name = String(answer.headers['x-couch-request-id']);
  return {
    isByWorker: (owner) => !name.startsWith(owner),
    rest: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
  };
}

/** Answers that a worker has begun, which are larger than what the sockets hold. */
async function begunByWorker(scene: Scene): Promise<Awaited<ReturnType<typeof slowly>>> {
  const [owner] = await scene.pair();
  const own = prefixOf(await owner.get('/'));
  for (;;) {
    const all = await Promise.all([1, 2].map(() => slowly(scene, '/db/_all_docs?include_docs=true')));
    const found = all.find(({ isByWorker }) => isByWorker(own));
    for (const each of all) if (each !== found) await each.rest();
    if (found !== undefined) return found;
  }
}

test(
  'a long answer of a worker outlives a compaction, and not its database',
  { skip: withoutProc },
  async (t) => {
    const scene = await Scene.start(t);
    const [owner] = await scene.pair();
    const text = 'x'.repeat(100_000);
    const fill = async (): Promise<void> => {
      for (let part = 0; part < 10; part++) {
        const docs = Array.from({ length: 40 }, (_, n) => ({ _id: `d${part}-${n}`, text }));
        assert.equal((await owner.post('/db/_bulk_docs', { docs })).status, 201);
      }
    };
    await fill();
    const { rows } = (await owner.get('/db/_all_docs')).body as {
      rows: { id: string; value: { rev: string } }[];
    };
    const first = await begunByWorker(scene);
    const old = rows.filter(({ id }) => id !== 'doc' && !id.startsWith('d9'));
    const docs = old.map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true }));
    assert.equal((await owner.post('/db/_bulk_docs', { docs })).status, 201);
    const folders = (): string[] => fs.readdirSync(path.join(scene.folder, 'documents')).sort();
    const before = folders();
    await until('another folder, alone', async () => {
      assert.equal((await owner.post('/db/_compact')).status, 202);
      const now = folders();
      return now.length === before.length && now[0] !== before[0];
    });
    const all = JSON.parse(await first.rest()) as { rows: { id: string }[] };
    const left = rows.filter((row) => !old.includes(row)).map(({ id }) => id);
    const found = new Set(all.rows.map(({ id }) => id));
    assert.deepEqual(
      left.filter((id) => !found.has(id)),
      [],
    );

    await fill();
    const second = await begunByWorker(scene);
    assert.equal((await owner.delete('/db')).status, 200);
    await assert.rejects(second.rest());
  },
);
