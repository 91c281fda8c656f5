import assert from 'node:assert/strict';
import http, { type RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { pemFile } from '../support/tls.js';
import { tellOfMember } from './fake-member.js';
import { freePort, skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const limitMs = 1_000;
const settings = { forward_timeout_ms: String(limitMs) };

describe('a request that is forwarded to another node', skipWithoutNats, () => {
  let nats: TestNats;
  let a: TestNode;
  let b: TestNode;
  const ends: (() => Promise<unknown>)[] = [];
  const environment = { NODE_EXTRA_CA_CERTS: pemFile('server-cert') };

  before(async () => {
    nats = await TestNats.start();
    [a, b] = (await Promise.all([
      TestNode.start({ nats: nats.url, name: 'a', settings, environment }),
      startWithTls('b'),
    ])) as [TestNode, TestNode];
    await until(async () => (await a.client.get('/_membership')).body.all_nodes.length === 2);
  });
  after(async () => {
    for (const end of ends) await end();
    for (const node of [a, b] as (TestNode | undefined)[]) await node?.close();
    await nats.close();
  });

  async function startWithTls(name: string): Promise<TestNode> {
    const port = String(await freePort());
    const ssl = {
      TUFFET__SSL__ENABLE: 'true',
      TUFFET__SSL__PORT: port,
      TUFFET__SSL__CERT_FILE: pemFile('server-cert'),
      TUFFET__SSL__KEY_FILE: pemFile('server-key'),
    };
    const advertised = { ...settings, advertise: `https://localhost:${port}` };
    return await TestNode.start({
      nats: nats.url,
      name,
      settings: advertised,
      environment: { ...environment, ...ssl },
    });
  }

  /** Lets a node believe that there is another one. */
  async function pretend(name: string, server: net.Server, protocol = 'http'): Promise<void> {
    const sockets = new Set<net.Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const end = await tellOfMember(nats.url, name, url);
    ends.push(async () => {
      await end();
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    await until(async () => (await a.client.get('/_membership')).body.all_nodes.includes(name));
  }

  const serve = (name: string, answer: RequestListener): Promise<void> =>
    pretend(name, http.createServer(answer));

  async function refusal(method: string, path: string, raw?: string): Promise<string> {
    const begun = Date.now();
    const { status, body, text } = await a.client.send(method, path, raw === undefined ? {} : { raw });
    assert.deepEqual([status, body.error], [503, 'service_unavailable'], text);
    assert.ok(Date.now() - begun < 5 * limitMs);
    return String(body.reason);
  }

  /** Asks a node by other means than its client has. */
  function statusOf(path: string, options: http.RequestOptions, body?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const target = { host: '127.0.0.1', port: a.client.port, path, agent: false, ...options };
      const sent = http.request(target, (answer) => resolve(answer.resume().statusCode!));
      sent.on('error', reject);
      sent.end(body);
    });
  }

  test('reaches it over TLS', async () => {
    const { status, body, text } = await a.client.get(`/_node/${b.name}`);
    assert.deepEqual([status, body.name], [200, b.name], text);
    const set = await a.client.put(`/_node/${b.name}/_config/vendor/name`, 'set over TLS');
    assert.equal(set.status, 200, set.text);
    assert.equal((await b.client.get('/')).body.vendor.name, 'set over TLS');
  });

  test('may name trailers, and other things of its connection', async () => {
    const headers = { TE: 'trailers', Trailer: 'x', 'Transfer-Encoding': 'chunked' };
    const auth = 'admin:secret';
    const path = `/_node/${b.name}/_config/vendor/name`;
    assert.equal(await statusOf(path, { auth, headers, method: 'PUT' }, '"with trailers"'), 200);
    const socket = net.connect(a.client.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nTrailer: x\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    assert.match(answer, /^HTTP\/1.1 401 /);
    assert.equal((await a.client.get('/_up')).status, 200);
  });

  test('that is paused is answered 503', async () => {
    b.process.kill('SIGSTOP');
    try {
      await refusal('GET', `/_node/${b.name}/_system`);
      await refusal('PUT', `/_node/${b.name}/_config/vendor/name`, '"paused"');
    } finally {
      b.process.kill('SIGCONT');
    }
    await until(async () => (await a.client.get(`/_node/${b.name}/_system`)).status === 200);
  });

  test('that reads nothing and says nothing is answered 503', async () => {
    await pretend(
      'tuffet@silent',
      net.createServer((socket) => socket.pause()),
    );
    const path = '/_node/tuffet@silent/_system';
    assert.match(await refusal('GET', path), /does not answer in time/);
    assert.match(await refusal('PUT', path, `"${'x'.repeat(9_000_000)}"`), /does not answer in time/);
    await pretend(
      'tuffet@no-handshake',
      net.createServer((socket) => socket.pause()),
      'https',
    );
    assert.match(await refusal('GET', '/_node/tuffet@no-handshake/_system'), /accepts no connections/);
  });

  test('is counted for its client where the login fails', async () => {
    const as = (address: string, secret: string) => ({
      'x-tuffet-client-address': address,
      'x-tuffet-cluster-secret': secret,
    });
    const guess = (headers: Record<string, string>) =>
      a.client.as('admin:wrong').get('/_node/_local/_system', headers);
    // Clients cannot choose an address, and so cannot guess without end.
    for (let n = 0; n < 5; n++) assert.equal((await guess(as(`10.0.0.${n}`, 'guessed'))).status, 401);
    assert.equal((await guess(as('10.0.0.9', 'guessed'))).status, 403);
    // Those that other nodes forward are counted for their clients.
    assert.equal((await guess(as('10.0.0.9', 'shared'))).status, 401);
    // Through a, b counts them for this client, whatever the client says.
    const through = (headers: Record<string, string> = {}) =>
      statusOf(`/_node/${b.name}/_system`, { auth: 'admin:wrong', localAddress: '127.0.0.2', headers });
    for (let n = 0; n < 5; n++) assert.equal(await through(as(`10.0.1.${n}`, 'guessed')), 401);
    assert.equal(await through(), 403);
    assert.equal((await b.client.as('admin:wrong').get('/_session')).status, 401, 'a itself is not counted');
    assert.equal((await b.client.as('admin:wrong').get('/_session', as('10.0.2.1', 'shared'))).status, 401);
  });

  test('is answered 503 where the answer of the other node cannot be passed on', async () => {
    await pretend(
      'tuffet@odd',
      net.createServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 001 Odd\r\nContent-Length: 0\r\n\r\n'));
      }),
    );
    assert.match(await refusal('GET', '/_node/tuffet@odd/_system'), /cannot be passed on/);
    assert.equal((await a.client.get('/_up')).status, 200);
  });

  test('may be answered slowly, once the answer has begun', async () => {
    await serve('tuffet@slow', (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"ok":');
      setTimeout(() => response.end('true}'), 2 * limitMs);
    });
    const { status, body, headers } = await a.client.get('/_node/tuffet@slow/_system');
    assert.deepEqual([status, body], [200, { ok: true }]);
    assert.equal(headers['connection'], 'keep-alive');
  });

  test('is answered before its body has come, where the login fails', async () => {
    const raw = `"${'x'.repeat(3_000_000)}"`;
    const { status, body } = await a.client.anonymous.send('PUT', `/_node/${b.name}/_config/a/b`, { raw });
    assert.deepEqual([status, body.error], [401, 'unauthorized']);
  });

  test('ends when its client is gone, also while it sends a body', async () => {
    const ended: string[] = [];
    await serve('tuffet@patient', (request, response) => {
      request.resume();
      request.on('error', () => undefined);
      response.on('close', () => ended.push(request.method!));
    });
    for (const head of ['GET /', 'PUT /']) {
      const socket = net.connect(a.client.port, '127.0.0.1');
      const begun = `${head}_node/tuffet@patient/_config HTTP/1.1\r\nHost: a\r\n`;
      socket.write(begun + (head.startsWith('PUT') ? 'Content-Length: 1000\r\n\r\n"half of' : '\r\n'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(ended.includes(head.slice(0, 3)), false);
      socket.destroy();
      await until(() => ended.includes(head.slice(0, 3)), limitMs / 2);
    }
    assert.equal((await a.client.get('/_up')).status, 200);
  });
});
