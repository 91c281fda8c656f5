/** How other servers are reached: logins, sessions, proxies, TLS. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { pemFile, startTlsServer } from '../support/tls.js';
import { Front, type Passing } from './front.js';
import { listen, startHttpProxy, startSocksProxy } from './proxies.js';
import { addressOf, assertSame, newest, replicate } from './scene.js';

const here = await startServer({ dataDir: temporaryFolder() });
const there = await startServer({
  dataDir: temporaryFolder(),
  config: { couchdb: { default_security: 'admin_only' } },
});
const front = await Front.start(there.url);
const name = (db: string): string => db.slice(1);
const basic = `Basic ${Buffer.from('admin:secret').toString('base64')}`;

async function source(): Promise<string> {
  const db = await newDb(there);
  await there.post(`${db}/_bulk_docs`, { docs: [{ _id: 'a' }, { _id: 'b' }] });
  front.passed.length = 0;
  front.interfere = () => false;
  return db;
}

/** Plays a server with sessions in front of one that the test knows to have none of this name. */
function playSessions(state: { logins: number; maxAge: string; valid: string }): void {
  front.interfere = (passing: Passing, response) => {
    if (passing.path === '/_session') {
      const token = `AuthSession=token${++state.logins}`;
      state.valid = token;
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': `${token}; Version=1${state.maxAge}`,
      });
      response.end('{"ok":true}');
      return true;
    }
    assert.equal(passing.headers.authorization, undefined);
    if (passing.headers.cookie !== state.valid) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"unauthorized"}');
      return true;
    }
    passing.headers.authorization = basic;
    delete passing.headers.cookie;
    return false;
  };
}

describe('credentials', () => {
  test('of an address become a session of a server like this one', async () => {
    const db = await source();
    const to = await newDb(here);
    await replicate(here, { source: front.url(db), target: name(to) });
    const [login, ...others] = front.passed;
    assert.deepEqual([login!.method, login!.path], ['POST', '/_session']);
    assert.ok(others.length > 4);
    for (const { path, headers } of others) {
      assert.equal(headers.authorization, undefined, path);
      assert.match(headers.cookie ?? '', /^AuthSession=./, path);
    }
    await assertSame([there, db], [here, to]);
  });

  test('of an address become a session where the server has sessions, and are sent once', async () => {
    const db = await source();
    const state = { logins: 0, maxAge: '; Max-Age=600', valid: '' };
    playSessions(state);
    const to = await newDb(here);
    await replicate(here, { source: front.url(db), target: name(to) });
    assert.equal(state.logins, 1);
    assert.ok(front.passed.length > 4);
    await assertSame([there, db], [here, to]);
  });

  test('open a new session where the old one ended early', async () => {
    const db = await source();
    const state = { logins: 0, maxAge: '; Max-Age=600', valid: '' };
    playSessions(state);
    const play = front.interfere;
    let requests = 0;
    front.interfere = (passing, response) => {
      if (++requests % 3 === 0) state.valid = 'ended';
      return play(passing, response);
    };
    const to = await newDb(here);
    await replicate(here, { source: front.url(db), target: name(to) });
    assert.ok(state.logins > 1);
    await assertSame([there, db], [here, to]);
  });

  test('open a new session before the old one ends', async () => {
    const db = await source();
    const state = { logins: 0, maxAge: '; Max-Age=0', valid: '' };
    playSessions(state);
    await replicate(here, { source: front.url(db), target: name(await newDb(here)) });
    assert.ok(state.logins > 3, String(state.logins));
    assert.ok(!front.passed.some(({ headers }) => headers.cookie === 'ended'));
  });

  test('are sent with each request where the server has no sessions', async () => {
    const db = await source();
    front.interfere = ({ path }, response) => {
      if (path !== '/_session') return false;
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
      return true;
    };
    const to = await newDb(here);
    await replicate(here, { source: front.url(db), target: name(to) });
    const others = front.passed.filter(({ path }) => path !== '/_session');
    assert.ok(others.length > 3 && others.every(({ headers }) => headers.authorization === basic));
  });

  test('may stand in the address, in an object and in a header', async () => {
    const db = await source();
    const url = there.url + db;
    for (const endpoint of [
      addressOf(there, db),
      { url, auth: { basic: { username: 'admin', password: 'secret' } } },
      { url, headers: { Authorization: basic } },
    ]) {
      const answer = await replicate(here, { source: endpoint, target: name(await newDb(here)) });
      assert.equal(newest(answer)['docs_written'], 2);
    }
  });

  test('that are wrong or missing are answered 401, and appear nowhere', async () => {
    const db = await source();
    const target = name(await newDb(here));
    const url = there.url + db;
    for (const endpoint of [
      url,
      url.replace('://', '://admin:wrong-one@'),
      { url, auth: { basic: { username: 'admin', password: 'wrong-one' } } },
      { url, headers: { Authorization: 'Bearer wrong-one' } },
    ]) {
      const { status, text } = await here.post('/_replicate', { source: endpoint, target });
      assert.equal(status, 401, text);
      assert.ok(!text.includes('wrong-one'));
    }
  });

  test('headers of an object go with every request', async () => {
    const db = await source();
    const endpoint = { url: front.url(db), headers: { 'X-Tenant': 'seven' } };
    await replicate(here, { source: endpoint, target: name(await newDb(here)) });
    assert.ok(front.passed.length > 3);
    assert.ok(front.passed.every(({ headers }) => headers['x-tenant'] === 'seven'));
  });
});

describe('a proxy', () => {
  test('for HTTP is gone through, by the side that it is for', async () => {
    const db = await source();
    const proxy = await startHttpProxy();
    const to = await newDb(here);
    const request = { source: addressOf(there, db), target: name(to) };
    await replicate(here, { ...request, source_proxy: `http://me:pass@127.0.0.1:${proxy.port}` });
    assert.ok(proxy.seen.length > 3);
    assert.ok(
      proxy.seen.every((each) => each.endsWith(there.url)),
      proxy.seen.join(),
    );
    const expected = `Basic ${Buffer.from('me:pass').toString('base64')}`;
    assert.ok(proxy.authorizations.every((each) => each === expected));
    await assertSame([there, db], [here, to]);
    proxy.seen.length = 0;
    await replicate(here, { ...request, target_proxy: `http://127.0.0.1:${proxy.port}` });
    assert.deepEqual(proxy.seen, []);
  });

  test('for SOCKS5 is gone through, with a name and a password', async () => {
    const db = await source();
    const proxy = await startSocksProxy({ name: 'me', password: 'p@ss' });
    const to = await newDb(here);
    const address = `socks5://me:p%40ss@127.0.0.1:${proxy.port}`;
    await replicate(here, { source: addressOf(there, db), target: name(to), source_proxy: address });
    assert.ok(proxy.seen.length > 0);
    assert.ok(
      proxy.seen.every((each) => each === `CONNECT 127.0.0.1:${there.port}`),
      proxy.seen.join(),
    );
    assert.equal(proxy.authorizations[0], 'me:p@ss');
    await assertSame([there, db], [here, to]);
  });

  test('that is not there makes the replication fail', async () => {
    const db = await source();
    const request = { source: addressOf(there, db), target: name(await newDb(here)), retries_per_request: 0 };
    for (const source_proxy of ['http://me:hidden@127.0.0.1:1', 'socks5://me:hidden@127.0.0.1:1']) {
      const { status, body, text } = await here.post('/_replicate', { ...request, source_proxy });
      assert.deepEqual([status, body.error], [500, 'replication_failed'], text);
      assert.ok(!text.includes('hidden'));
    }
  });

  const tunnels: [string, (socket: net.Socket) => void][] = [
    ['closes every tunnel', (socket) => socket.once('data', () => socket.destroy())],
    ['says nothing when it is asked for a tunnel', () => undefined],
  ];
  for (const [what, meet] of tunnels) {
    test(`that ${what} makes the replication fail`, async () => {
      let connections = 0;
      const port = await listen(
        net.createServer((socket) => {
          connections++;
          meet(socket.on('error', () => undefined));
        }),
      );
      const { status, body, text } = await here.post('/_replicate', {
        source: 'https://127.0.0.1:1/db',
        target: name(await newDb(here)),
        source_proxy: `http://127.0.0.1:${port}`,
        retries_per_request: 1,
        connection_timeout: 1_000,
      });
      assert.deepEqual([status, body.error], [500, 'replication_failed'], text);
      assert.match(text, /the proxy opened no tunnel/);
      assert.equal(connections, 2);
    });
  }
});

describe('TLS', () => {
  const servers = (replicator: Record<string, string>) =>
    startServer({ config: { replicator: { retries_per_request: '0', ...replicator } } });

  test('is spoken with servers that somebody vouches for, and with no others', async () => {
    const secure = await startTlsServer();
    const plain = new HttpClient(secure.url);
    await plain.put('/db');
    await plain.put('/db/a', {});
    const request = {
      source: `${secure.tlsUrl.replace('127.0.0.1', 'localhost').replace('://', '://admin:secret@')}/db`,
      target: 'copy',
      create_target: true,
    };
    const strict = await servers({});
    const { status, body, text } = await strict.post('/_replicate', request);
    assert.deepEqual([status, body.error], [500, 'replication_failed']);
    assert.match(body.reason, /certificate/i);
    assert.ok(!text.includes('secret'));
    for (const options of [
      { ssl_trusted_certificates_file: pemFile('server-cert') },
      { verify_ssl_certificates: 'false' },
    ]) {
      const client = await servers(options);
      await replicate(client, request);
      assert.equal((await client.get('/copy')).body.doc_count, 1);
      // On the thread of its own.
      await replicate(client, { ...request, target: addressOf(client, '/beside') });
      assert.equal((await client.get('/beside')).body.doc_count, 1);
    }
  });

  test('shows a certificate of its own to servers that ask for one', async () => {
    const secure = await startTlsServer({
      cacert_file: pemFile('issuer-cert'),
      verify_ssl_certificates: 'true',
      fail_if_no_peer_cert: 'true',
    });
    await new HttpClient(secure.url).put('/db');
    const request = {
      source: `${secure.tlsUrl.replace('://', '://admin:secret@')}/db`,
      target: 'copy',
      create_target: true,
    };
    const without = await servers({ verify_ssl_certificates: 'false' });
    assert.equal((await without.post('/_replicate', request)).status, 500);
    const showing = await servers({
      verify_ssl_certificates: 'false',
      cert_file: pemFile('client-cert'),
      key_file: pemFile('client-key'),
    });
    await replicate(showing, request);
    await replicate(showing, { ...request, target: addressOf(showing, '/beside') });
  });
});
