/** Feeds over WebSockets, as `docs/feeds.md` describes them. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { keptBytes } from '../support/kept-bytes.js';
import { sendRaw } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';

const client = await startServer();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function fill(db: string, count: number, pad = ''): Promise<void> {
  const docs = Array.from({ length: count }, (_, n) => ({ _id: `doc${n}`, pad }));
  assert.equal((await client.post(`${db}/_bulk_docs`, { docs })).status, 201);
}

describe('a feed over a WebSocket', () => {
  test('sends no more rows than the client grants', async () => {
    const db = await newDb(client);
    await fill(db, 100);
    const socket = await new SocketClient(client, `${db}/_changes?credit=10`).opened();
    assert.equal(socket.protocol, 'tuffet.changes.v1');
    await socket.until('ten rows', () => socket.rows.length === 10);
    await pause(100);
    assert.equal(socket.rows.length, 10);
    socket.say({ type: 'credit', rows: 25 });
    await socket.until('more rows', () => socket.rows.length === 35);
    socket.say({ type: 'credit', rows: 1_000 });
    await socket.until('the end of what there is', () => socket.ofType('caught_up').length === 1);
    assert.equal(new Set(socket.rows.map(({ id }) => id)).size, 100);
    await client.put(`${db}/live`, {});
    await socket.until('the new one', () => socket.rows.at(-1)!.id === 'live');
    assert.equal(socket.ofType('caught_up').length, 1);
    socket.stop();
  });

  test('goes on from any of its rows, with the parameters of the address', async () => {
    const db = await newDb(client, '?q=1');
    await fill(db, 20);
    const { body } = await client.get(`${db}/_changes?limit=5`);
    const query = `since=${encodeURIComponent(body.last_seq)}&include_docs=true&limit=3&credit=100`;
    const socket = await new SocketClient(client, `${db}/_changes?${query}`).opened();
    await socket.until('the end', () => socket.closed !== undefined);
    assert.deepEqual(
      socket.rows.map(({ id, doc }) => [id, doc!['_id']]),
      ['doc13', 'doc14', 'doc15'].map((id) => [id, id]),
    );
    assert.equal(socket.ofType('end')[0]!.reason, 'limit');
    assert.equal(socket.ofType('end')[0]!.pending, 12);
    assert.equal(socket.closed!.code, 1000);
  });

  test('ends by itself where it is normal or longpoll, and when its time is over', async () => {
    const db = await newDb(client);
    await fill(db, 3);
    for (const query of ['feed=normal', 'feed=longpoll', 'timeout=100']) {
      const socket = await new SocketClient(client, `${db}/_changes?credit=10&${query}`).opened();
      await socket.until('the end', () => socket.closed !== undefined);
      assert.equal(socket.rows.length, 3, query);
      const reason = query === 'timeout=100' ? 'timeout' : 'caught_up';
      assert.equal(socket.ofType('end')[0]!.reason, reason, query);
    }
  });

  test('sends the bytes of attachments, in pieces, and everything in its order', async () => {
    const db = await newDb(client);
    const data = Buffer.alloc(2_000_000, 'abc').toString('base64');
    await client.put(`${db}/large`, { _attachments: { f: { data } } });
    await client.put(`${db}/small`, {});
    const query = 'include_docs=true&attachments=true&credit=10&feed=normal';
    const socket = await new SocketClient(client, `${db}/_changes?${query}`).opened();
    await socket.until('the end', () => socket.closed !== undefined);
    const large = socket.rows.find(({ id }) => id === 'large')!.doc!['_attachments'] as {
      f: { data: string };
    };
    assert.equal(large.f.data, data);
    assert.equal(socket.rows.length, 2);
  });

  test('gives signs of life that a page can see', async () => {
    const db = await newDb(client);
    const socket = await new SocketClient(client, `${db}/_changes?heartbeat=50`).opened();
    await socket.until('heartbeats', () => socket.ofType('heartbeat').length > 2);
    socket.stop();
  });

  test('that is read slowly takes no memory', async () => {
    const db = await newDb(client);
    const socket = await new SocketClient(client, `${db}/_changes?include_docs=true&credit=100000`).opened();
    await socket.until('it begins', () => socket.ofType('caught_up').length === 1);
    socket.pause();
    const before = keptBytes();
    for (let from = 0; from < 300; from += 10) {
      const docs = Array.from({ length: 10 }, (_, n) => ({
        _id: `doc${from + n}`,
        pad: 'x'.repeat(100_000),
      }));
      await client.post(`${db}/_bulk_docs`, { docs });
    }
    const growth = keptBytes() - before;
    assert.ok(growth < 15e6, `${growth} bytes`);
    socket.resume();
    await socket.until('all rows', () => socket.rows.length === 300);
    socket.stop();
  });

  test('ends with its database, with the right to it, and with the server', async () => {
    const server = await createServer({
      inMemory: true,
      admins: { admin: 'secret' },
      port: 0,
      logLevel: 'none',
    });
    const local = new HttpClient(server.url);
    await local.put('/one');
    await local.put('/two');
    await local.put('/three');
    const deleted = await new SocketClient(local, '/one/_changes').opened();
    const refused = await new SocketClient(local.anonymous, '/two/_changes').opened();
    const last = await new SocketClient(local, '/three/_changes').opened();
    await local.delete('/one');
    await local.put('/two/_security', { members: { names: ['somebody'], roles: [] } });
    await deleted.until('the end', () => deleted.closed !== undefined);
    await refused.until('the end', () => refused.closed !== undefined);
    assert.equal(deleted.ofType('end')[0]!.reason, 'database_deleted');
    assert.equal(refused.ofType('end')[0]!.reason, 'forbidden');
    await server.close();
    await last.until('the end', () => last.closed !== undefined);
    assert.equal(last.ofType('end')[0]!.reason, 'server_closing');
  });
});

describe('a WebSocket is refused', () => {
  test('to whoever may not read the database, and for a feed that cannot be', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_security`, { members: { names: ['somebody'], roles: [] } });
    const cases: [HttpClient, string, number][] = [
      [client.anonymous, `${db}/_changes`, 401],
      [client.as('admin:wrong'), `${db}/_changes`, 401],
      [client, '/none/_changes', 404],
      [client, `${db}/_changes?since=abc`, 400],
      [client, `${db}/_changes?credit=x`, 400],
      [client, `${db}/_changes?descending=true`, 400],
      [client, `${db}/_changes?feed=eventsource`, 400],
      [client, `${db}/_changes?filter=a/b`, 404],
    ];
    for (const [who, path, status] of cases) {
      const socket = await new SocketClient(who, path).opened();
      await socket.until('a refusal', () => socket.refused !== undefined);
      assert.equal(socket.refused, status, path);
    }
  });

  test('to pages of other origins, unless they may use the server', async () => {
    const open = await startServer({ cors: ['https://friend.example'] });
    for (const [server, origin, status] of [
      [client, client.url, undefined],
      [client, 'https://friend.example', 403],
      [client, 'null', 403],
      [open, 'https://friend.example', undefined],
      [open, 'https://foe.example', 403],
      [open, open.url, undefined],
    ] as const) {
      const socket = await new SocketClient(server, '/_feeds', { origin }).opened();
      if (status === undefined) assert.equal(socket.closed, undefined, origin);
      else await socket.until('a refusal', () => socket.refused === status);
      socket.stop();
    }
  });

  test('to those who speak something else', async () => {
    const socket = await new SocketClient(client, '/_feeds', { protocols: ['other'] }).opened();
    await socket.until('a refusal', () => socket.refused === 400);
    const { status, body } = await client.get('/_feeds');
    assert.equal(status, 426);
    assert.equal(body.error, 'upgrade_required');
  });
});

test('a client that offers another protocol is answered as if it had not', async () => {
  const { hostname, port } = new URL(client.url);
  const headers = {
    Connection: 'Upgrade, HTTP2-Settings',
    Upgrade: 'h2c',
    'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
  };
  const status = await new Promise((resolve, reject) => {
    const request = http.get({ hostname, port, path: '/', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
  assert.equal(status, 200);
  const head =
    'POST /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n';
  assert.match(await sendRaw(client.port, `${head}{}`), /^HTTP\/1\.1 400 /);
});

describe('several feeds over one connection', () => {
  test('are opened, granted rows, and closed by their names', async () => {
    const one = await newDb(client);
    const two = await newDb(client);
    await fill(one, 50);
    await fill(two, 50);
    const socket = await new SocketClient(client, '/_feeds').opened();
    socket.say({ type: 'open', feed: 'first', db: one.slice(1), credit: 20 });
    socket.say({
      type: 'open',
      feed: 'second',
      db: two.slice(1),
      params: { since: 'now', include_docs: true },
      credit: 5,
    });
    socket.say({
      type: 'open',
      feed: 'third',
      db: two.slice(1),
      params: { filter: '_selector', selector: { _id: 'doc7' } },
      credit: 5,
    });
    await socket.until(
      'rows',
      () => socket.rowsOf('first').length === 20 && socket.rowsOf('third').length === 1,
    );
    await socket.until('the second is caught up', () => socket.ofType('caught_up', 'second').length === 1);
    await client.put(`${two}/new`, { n: 1 });
    await socket.until('the new document', () => socket.rowsOf('second').length === 1);
    assert.equal(socket.rowsOf('second')[0]!.doc!['n'], 1);
    assert.equal(socket.rowsOf('first').length, 20);
    socket.say({ type: 'credit', feed: 'first', rows: 30 });
    await socket.until('the rest', () => socket.rowsOf('first').length === 50);
    socket.say({ type: 'close', feed: 'first' });
    await socket.until('its end', () => socket.ofType('end', 'first').length === 1);
    await client.put(`${one}/new`, {});
    await client.put(`${two}/newer`, {});
    await socket.until('the other goes on', () => socket.rowsOf('second').length === 2);
    assert.equal(socket.rowsOf('first').length, 50);
    assert.equal(socket.closed, undefined);
    // The name is free again, and the place is known.
    const { last_seq } = socket.ofType('end', 'first')[0]!;
    socket.say({ type: 'open', feed: 'first', db: one.slice(1), params: { since: last_seq }, credit: 5 });
    await socket.until('what came meanwhile', () => socket.rowsOf('first').length === 51);
    socket.stop();
  });

  test('do not wait for one whose row is large', async () => {
    const db = await newDb(client);
    const data = Buffer.alloc(3_000_000, 'abc').toString('base64');
    await client.put(`${db}/large`, { _attachments: { f: { data } } });
    const socket = await new SocketClient(client, '/_feeds').opened();
    const params = { include_docs: true, attachments: true };
    socket.say({ type: 'open', feed: 'large', db: db.slice(1), params, credit: 5 });
    socket.say({ type: 'open', feed: 'plain', db: db.slice(1), credit: 5 });
    await socket.until(
      'both',
      () => socket.rowsOf('large').length === 1 && socket.rowsOf('plain').length === 1,
    );
    socket.stop();
  });

  test('are refused one by one, and wrong messages are answered', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_security`, { members: { names: ['somebody'], roles: [] } });
    const socket = await new SocketClient(client.anonymous, '/_feeds').opened();
    const wrong: [unknown, string][] = [
      ['no json', 'bad_request'],
      ['[]', 'bad_request'],
      [Buffer.from('{}'), 'bad_request'],
      [{ type: 'odd' }, 'bad_request'],
      [{ type: 'open' }, 'bad_request'],
      [{ type: 'open', feed: '' }, 'bad_request'],
      [{ type: 'open', feed: 'a' }, 'bad_request'],
      [{ type: 'open', feed: 'a', db: 'none' }, 'not_found'],
      [{ type: 'open', feed: 'a', db: db.slice(1) }, 'unauthorized'],
      [{ type: 'credit', feed: 'a', rows: 5 }, 'bad_request'],
      [{ type: 'close', feed: 'a' }, 'bad_request'],
    ];
    for (const [message, error] of wrong) {
      const before = socket.messages.length;
      socket.say(message);
      await socket.until('an answer', () => socket.messages.length > before);
      assert.equal(socket.messages.at(-1)!.type, 'error');
      assert.equal(socket.messages.at(-1)!.error, error, JSON.stringify(message));
    }
    assert.equal(socket.closed, undefined);
    const other = await newDb(client);
    socket.say({ type: 'open', feed: 'a', db: other.slice(1), params: [] });
    socket.say({ type: 'open', feed: 'a', db: other.slice(1), params: { since: 'abc' } });
    socket.say({ type: 'open', feed: 'a', db: other.slice(1), credit: -1 });
    socket.say({ type: 'open', feed: 'a', db: other.slice(1) });
    socket.say({ type: 'open', feed: 'a', db: other.slice(1) });
    socket.say({ type: 'credit', feed: 'a', rows: 0 });
    await socket.until('five errors', () => socket.ofType('error').length === wrong.length + 5);
    socket.stop();
  });

  test('are a hundred at most', async () => {
    const db = await newDb(client);
    const socket = await new SocketClient(client, '/_feeds').opened();
    for (let n = 0; n < 101; n++) socket.say({ type: 'open', feed: `feed${n}`, db: db.slice(1), credit: 1 });
    await socket.until('a refusal', () => socket.ofType('error').length === 1);
    assert.equal(socket.ofType('error')[0]!.feed, 'feed100');
    await client.put(`${db}/x`, {});
    await socket.until('all rows', () => socket.messages.flatMap(({ rows }) => rows ?? []).length === 100);
    socket.stop();
  });
});
