/** Whatever goes wrong while an error is answered costs one answer at most, and never the process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SystemRuntime } from '../../src/base/runtime.js';
import type { TuffetServer } from '../../src/server/create-server.js';
import { FunctionError, RequestError, refusalData, refusalOf } from '../../src/base/errors.js';
import { HttpServer } from '../../src/http/connection/http-server.js';
import { statuses, statusOf } from '../../src/http/answer/statuses.js';
import { H2Client } from '../support/h2-client.js';
import { HttpClient } from '../support/http-client.js';
import { requestHead, sendAndHangUp, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { startTlsServer } from '../support/tls.js';

// Indexes are filled on a thread of their own only where there is a folder.
const client = await startServer({
  dataDir: temporaryFolder(),
  config: { chttpd: { allow_jsonp: 'true' } },
});

const fatalMaps = {
  'a fatal error of its own name': "function(d){throw ['fatal','a','b']}",
  'the word fatal_error': "function(d){throw 'fatal_error'}",
  'a fatal error with an object as its reason': "function(d){throw ['fatal','forbidden',{a:1}]}",
  'a fatal error named like a member of every object': "function(d){throw ['fatal','constructor','b']}",
  'a fatal error without a name': "function(d){throw ['fatal']}",
  'a revoked proxy': 'function(d){var p=Proxy.revocable({},{});p.revoke();throw p.proxy}',
};

const lists = { l: 'function(){var row;while(row=getRow())send("x");}' };

describe('A map function that throws', () => {
  for (const [what, map] of Object.entries(fatalMaps)) {
    test(`${what} makes a query fail, and nothing else`, async () => {
      const db = await newDb(client);
      assert.equal((await client.put(`${db}/doc`, {})).status, 201);
      assert.equal((await client.put(`${db}/_design/d`, { views: { v: { map } } })).status, 201);
      const { status, text, body } = await client.get(`${db}/_design/d/_view/v`);
      assert.ok([403, 500].includes(status), `${status} ${text}`);
      assert.deepEqual(Object.keys(body as object), ['error', 'reason']);
      assert.equal((await client.get(`${db}/doc`)).status, 200);
    });
  }

  test('makes every kind of query fail, and nothing else', async () => {
    const db = await newDb(client);
    const map = fatalMaps['a fatal error of its own name'];
    const design = { views: { v: { map }, reduced: { map, reduce: '_count' } }, lists };
    assert.equal((await client.put(`${db}/doc`, {})).status, 201);
    assert.equal((await client.put(`${db}/_design/d`, design)).status, 201);
    const paths = ['_view/v?callback=cb', '_view/reduced', '_list/l/v'].map(
      (each) => `${db}/_design/d/${each}`,
    );
    for (const path of paths) {
      const { status, text } = await client.get(path);
      assert.equal(status, 500, path);
      assert.match(text, /\{"error":"a","reason":"b"\}/);
    }
    const queries = await client.post(`${db}/_design/d/_view/v/queries`, { queries: [{}, {}] });
    assert.equal(queries.status, 500);
    const pipelined = [...paths, `${db}/doc`].map((path) => requestHead('GET', path)).join('');
    const until = (text: string): boolean => statusesIn(text).length === 4;
    assert.deepEqual(statusesIn(await sendRaw(client.port, pipelined, { until })), [500, 500, 500, 200]);
  });

  test('makes queries over HTTP/2 fail, and nothing else', async () => {
    const server: TuffetServer = await startTlsServer();
    const h2 = new H2Client(server.tlsUrl!);
    await h2.send('PUT', '/db');
    await h2.send('PUT', '/db/doc', {}, '{}');
    const views = { v: { map: fatalMaps['a fatal error of its own name'] } };
    await h2.send('PUT', '/db/_design/d', {}, JSON.stringify({ views }));
    const answer = await h2.send('GET', '/db/_design/d/_view/v');
    assert.equal(answer.status, 500);
    assert.deepEqual(JSON.parse(answer.text), { error: 'a', reason: 'b' });
    assert.equal((await h2.send('GET', '/db/doc')).status, 200);
    await h2.close();
  });
});

test('a reason that is no Unicode is no obstacle to sending a browser to the login page', async () => {
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, {
    validate_doc_update: "function(){throw({unauthorized:'\\ud800'})}",
  });
  const answer = await client.anonymous.put(`${db}/doc`, {}, { accept: 'text/html' });
  assert.equal(answer.status, 302);
  assert.match(answer.headers.location ?? '', /reason=%EF%BF%BD$/);
});

describe('A connection that shall change its protocol', () => {
  const webSocket = (db: string): string =>
    requestHead(
      'GET',
      `${db}/_changes`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    );

  test('is closed where an earlier request waits for its answer', async () => {
    const db = await newDb(client);
    const waiting = requestHead('GET', `${db}/_changes?feed=longpoll&since=now`);
    for (const next of [webSocket(db), requestHead('CONNECT', 'localhost:1')]) {
      assert.deepEqual(statusesIn(await sendRaw(client.port, waiting + next)).slice(1), []);
    }
    assert.equal((await client.get(db)).status, 200);
  });

  test('may have served other requests before', async () => {
    const db = await newDb(client);
    const raw = await sendRaw(client.port, [requestHead('GET', db), webSocket(db)], {
      pauseMs: 100,
      until: (text) => statusesIn(text).length === 2,
    });
    assert.deepEqual(statusesIn(raw), [200, 101]);
  });

  test('may be reset at any time', async () => {
    const db = await newDb(client);
    const heads = [requestHead('CONNECT', 'localhost:1'), webSocket(db)];
    for (let i = 0; i < 10; i++)
      await sendAndHangUp(client.port, heads[i % 2]! + 'x'.repeat((i >> 1) * 50_000));
    assert.equal((await client.get(db)).status, 200);
  });
});

test('an error while an error is answered closes that connection, and is logged', async () => {
  const logged: string[] = [];
  const server = new HttpServer(brokenServices((message) => logged.push(message)) as never);
  const { url } = await server.listen();
  const broken = new HttpClient(url);
  await assert.rejects(broken.get('/'), /socket hang up/);
  await assert.rejects(broken.put('/db'), /socket hang up/);
  assert.deepEqual(logged, Array(2).fill(['a request failed', 'a request failed']).flat());
  await server.close();
});

/** Services of which those fail that are needed for every answer. */
function brokenServices(log: (message: string) => void): object {
  const broken = (): never => {
    throw new Error('broken');
  };
  const numbers: Record<string, number> = { 'chttpd/port': 0, 'chttpd/backlog': 10 };
  return {
    config: {
      number: (name: string) => numbers[name] ?? 10_000,
      text: () => '127.0.0.1',
      boolean: () => false,
    },
    policy: { uriBytesMax: 8_000, jsonp: false, marks: true, mark: broken },
    logger: { error: (_: object, message: string) => log(message), logsRequests: false },
    metrics: { request: () => undefined },
    authenticator: { authenticate: broken },
    registry: { isClosing: false },
    serverName: 'test',
    runtime: new SystemRuntime(),
    wholeAnswers: { flush: () => undefined },
  };
}

describe('Every error has a status', () => {
  test('which is one of an error', () => {
    for (const [name, status] of Object.entries(statuses))
      assert.ok(Number.isInteger(status) && status >= 400 && status < 600, `${name}: ${status}`);
  });

  test('also when its name is one that nobody knows', () => {
    for (const name of ['a', '', 'constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      assert.equal(statusOf(new FunctionError(name, 'x')), 500);
      assert.equal(statusOf(new RequestError(name as never, 'x')), 500);
    }
    assert.equal(statusOf(new FunctionError('forbidden', 'x')), 403);
  });

  test('which it keeps on its way from one thread to another', () => {
    const sent = [
      new RequestError('too_large', 'x'),
      new FunctionError('too_large', 'x'),
      new FunctionError('a', { b: 1 }),
      new FunctionError('forbidden', null),
    ];
    for (const refusal of sent) {
      const received = refusalOf(structuredClone(refusalData(refusal)));
      assert.equal(statusOf(received), statusOf(refusal));
      assert.deepEqual(
        [received.name, received.error, received.message],
        [refusal.name, refusal.error, refusal.message],
      );
    }
  });
});
