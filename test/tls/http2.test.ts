import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { after, afterEach, describe, test } from 'node:test';
import { answerOf, adminLogin, H2Client } from '../support/h2-client.js';
import { HttpClient } from '../support/http-client.js';
import { pem, startTlsServer } from '../support/tls.js';

const server = await startTlsServer();
const client = new H2Client(server.tlsUrl);
after(() => client.close());
const plain = new HttpClient(server.url);
await client.send('PUT', '/db');
const json = { 'content-type': 'application/json' };
const docs = Array.from({ length: 10_000 }, (_, i) => ({ _id: `d${i}`, text: 'x'.repeat(1000) }));
const bulk = JSON.stringify({ docs });

afterEach(async () => assert.equal((await client.send('GET', '/_up')).status, 200));

describe('Over HTTP/2', () => {
  test('a bulk request of 10 MB is saved, and the listing of it comes whole', async () => {
    const saved = await client.send('POST', '/db/_bulk_docs', json, bulk);
    assert.equal(saved.status, 201);
    assert.equal(JSON.parse(saved.text).length, docs.length);
    const listed = await client.send('GET', '/db/_all_docs?include_docs=true');
    assert.equal(JSON.parse(listed.text).rows.length, docs.length);
  });

  test('a large answer is compressed for a client that takes gzip', async () => {
    await client.send('PUT', '/db/packed', json, JSON.stringify({ text: 'x'.repeat(100_000) }));
    const { status, headers, raw } = await client.send(
      'GET',
      '/db/_all_docs?include_docs=true&key=%22packed%22',
      {
        'accept-encoding': 'gzip',
      },
    );
    assert.deepEqual([status, headers['content-encoding']], [200, 'gzip']);
    assert.equal(JSON.parse(gunzipSync(raw).toString()).rows[0].doc.text.length, 100_000);
  });

  test('addresses in answers begin with https, and no header is about the connection', async () => {
    const { headers } = await client.send('PUT', '/db/located', {}, '{}');
    assert.equal(headers['location'], `${server.tlsUrl}/db/located`);
    const refused = await client.send('PUT', '/none/x', {}, 'x'.repeat(100_000));
    assert.equal(refused.status, 404);
    assert.equal(refused.headers['connection'], undefined);
  });

  test('methods that clients make up are counted under one name', async () => {
    const methodsOf = async (): Promise<Record<string, { value: number }>> => {
      const { text } = await client.send('GET', '/_node/_local/_stats/couchdb/httpd_request_methods');
      return JSON.parse(text) as Record<string, { value: number }>;
    };
    const before = await methodsOf();
    for (let n = 0; n < 20; n++) assert.equal((await client.send(`MADE${n}`, '/_up')).status, 405);
    const after = await methodsOf();
    assert.deepEqual(Object.keys(after), Object.keys(before));
    assert.equal(after['other']!.value, before['other']!.value + 20);
    const { text } = await client.send('GET', '/_node/_local/_prometheus');
    assert.ok(!text.includes('MADE'));
  });

  test('attachments go and come byte by byte, also in parts', async () => {
    const bytes = randomBytes(5_000_000);
    const put = await client.send('PUT', '/db/att/file', { 'content-type': 'image/png' }, bytes);
    assert.equal(put.status, 201, put.text);
    assert.ok((await client.send('GET', '/db/att/file')).raw.equals(bytes));
    const part = await client.send('GET', '/db/att/file', { range: 'bytes=4000000-4000009' });
    assert.equal(part.status, 206);
    assert.ok(part.raw.equals(bytes.subarray(4_000_000, 4_000_010)));
    const whole = await client.send('GET', '/db/att?attachments=true', { accept: 'multipart/related' });
    assert.ok(whole.raw.includes(bytes.subarray(2_000_000, 2_100_000)));
  });

  test('attachments asked for at the same time come each with its own bytes', async () => {
    const own = Array.from({ length: 4 }, () => randomBytes(3_000_000));
    for (const [i, bytes] of own.entries())
      await client.send('PUT', `/db/own${i}/file`, { 'content-type': 'image/png' }, bytes);
    const asked = Array.from({ length: 20 }, (_, n) => client.send('GET', `/db/own${n % 4}/file`));
    for (const [n, answer] of (await Promise.all(asked)).entries())
      assert.ok(answer.raw.equals(own[n % 4]!), `answer ${n}`);
  });

  test('HEAD has the headers of GET and no body', async () => {
    for (const path of [
      '/',
      '/db/d1',
      '/db/_all_docs?include_docs=true',
      '/db/att/file',
      '/db/none',
      '/_utils/',
    ]) {
      const got = await client.send('GET', path);
      const head = await client.send('HEAD', path);
      assert.equal(head.status, got.status, path);
      assert.equal(head.raw.length, 0, path);
      assert.equal(head.headers['content-length'], got.headers['content-length'], path);
      assert.equal(head.headers['etag'], got.headers['etag'], path);
    }
  });

  test('304 and 204 have no body', async () => {
    const { etag } = (await client.send('GET', '/db/d1')).headers;
    const fresh = await client.send('GET', '/db/d1', { 'if-none-match': etag });
    assert.deepEqual([fresh.status, fresh.raw.length], [304, 0]);
  });

  test('a hundred requests at once on one connection are answered each with its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.send('GET', `/db/d${i * 7}`)),
    );
    answers.forEach(({ text }, i) => assert.equal(JSON.parse(text)._id, `d${i * 7}`));
  });

  test('clients that read slowly hold little of the server’s memory, and nobody else up', async () => {
    const before = process.memoryUsage().rss;
    const slow = Array.from({ length: 8 }, () => new H2Client(server.tlsUrl));
    const streams = slow.map((each) => each.open('GET', '/db/_all_docs?include_docs=true').end());
    const started = performance.now();
    await sleep(300);
    assert.equal((await plain.get('/_up')).status, 200);
    assert.ok(performance.now() - started < 3000);
    assert.ok(process.memoryUsage().rss - before < 50_000_000, 'eight listings of 10 MB were held in memory');
    const [first] = streams;
    assert.ok(JSON.parse((await answerOf(first!)).text).rows.length >= docs.length);
    for (const each of slow) each.session.destroy();
  });

  test('an unread body does not keep the connection from being used', async () => {
    for (let i = 0; i < 20; i++) {
      const stream = client.open('PUT', '/none/x');
      stream.on('error', () => undefined);
      stream.write('x'.repeat(300_000));
      const [headers] = (await once(stream, 'response')) as [Record<string, number>];
      assert.equal(headers[':status'], 404);
      stream.close();
    }
  });

  test('an expectation is met or refused', async () => {
    const continued = client.open('PUT', '/db/expected', { expect: '100-continue' });
    await once(continued, 'continue');
    continued.end('{}');
    assert.equal((await answerOf(continued)).status, 201);
    const refused = await client.send('PUT', '/db/y', { expect: 'wonders' }, '{}');
    assert.equal(refused.status, 417);
  });
});

/** A frame of HTTP/2, and a request as one. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const literal = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);

const endHeaders = 4;
const code = (number: number): Buffer => Buffer.from([0, 0, 0, number]);

function headersFrame(method: string, path: string, more: [string, string][] = []): Buffer {
  const pairs = [
    [':method', method],
    [':path', path],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    ['authorization', adminLogin],
    ...more,
  ] as [string, string][];
  return frame(1, endHeaders, 1, Buffer.concat(pairs.map((pair) => literal(...pair))));
}

const greeting = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]);

/** Sends frames over a connection of its own, waits a moment, and hangs up. */
async function sendFrames(...frames: Buffer[]): Promise<Buffer> {
  const socket = tls.connect({
    port: server.tlsPort,
    ca: pem('server-cert'),
    host: 'localhost',
    ALPNProtocols: ['h2'],
  });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(greeting);
  for (const each of frames) {
    if (!socket.destroyed) socket.write(each);
    await sleep(15);
  }
  await sleep(100);
  socket.destroy();
  return Buffer.concat(received);
}

describe('A body that is broken off over HTTP/2', () => {
  const data = (text: string): Buffer => frame(0, 0, 1, Buffer.from(text));
  const ways: [what: string, end: Buffer][] = [
    ['with no error', frame(3, 0, 1, code(0))],
    ['by cancelling', frame(3, 0, 1, code(8))],
    ['with an error', frame(3, 0, 1, code(2))],
    ['by hanging up', Buffer.alloc(0)],
  ];
  for (const [what, end] of ways) {
    test(`${what} stores nothing, though it is whole JSON so far`, async () => {
      await sendFrames(headersFrame('PUT', '/db/broken'), data('{"a":1}'), end);
      await sendFrames(
        headersFrame('PUT', '/db/broken/file', [['content-type', 'image/png']]),
        data('abc'),
        end,
      );
      const type: [string, string] = ['content-type', 'application/json'];
      await sendFrames(
        headersFrame('POST', '/db/_bulk_docs', [type]),
        data('{"docs":[{"_id":"broken"}]}'),
        end,
      );
      await sendFrames(headersFrame('PUT', '/db/broken?batch=ok'), data('{"a":1}'), end);
      await plain.post('/db/_ensure_full_commit');
      assert.equal((await plain.get('/db/broken')).status, 404);
    });
  }

  test('or is shorter or longer than it says stores nothing', async () => {
    const endStream = 1;
    for (const length of ['3', '9']) {
      const head = headersFrame('PUT', '/db/broken', [['content-length', length]]);
      await sendFrames(head, frame(0, endStream, 1, Buffer.from('{"a":1}')));
    }
    assert.equal((await plain.get('/db/broken')).status, 404);
  });

  test('as an answer does no harm', async () => {
    for (let i = 0; i < 20; i++) {
      const stream = client.open('GET', '/db/_all_docs?include_docs=true');
      stream.on('error', () => undefined);
      stream.end();
      await once(stream, 'response');
      stream.close(i % 9);
    }
    assert.equal(JSON.parse((await client.send('GET', '/db/d1')).text)._id, 'd1');
  });

  test('and noise in place of frames does no harm', async () => {
    await sendFrames(randomBytes(2000));
    await sendFrames(frame(0, 0, 1, Buffer.from('data of a stream that is not open')));
    await sendFrames(frame(1, endHeaders, 2, Buffer.from([0xff, 0xff, 0xff])));
    await sendFrames(headersFrame('GET', 'no-path'), headersFrame('CONNECT', '/'));
    await sendFrames(frame(4, 0, 0, randomBytes(5)));
  });
});

describe('Limits of HTTP/2', () => {
  test('too many or too long headers are refused', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`x-${i}`, 'y']));
    await assert.rejects(client.send('GET', '/', many));
    const other = new H2Client(server.tlsUrl);
    const long = { 'x-a': 'a'.repeat(100_000) };
    const answer = await other.send('GET', '/', long).catch(() => undefined);
    assert.ok(answer === undefined || answer.status === 431);
    await other.close();
  });

  test('an address that is too long: 414', async () => {
    await plain.put('/_node/_local/_config/chttpd/max_uri_length', '100');
    const { status } = await client.send('GET', `/${'a'.repeat(200)}`);
    await plain.delete('/_node/_local/_config/chttpd/max_uri_length');
    assert.equal(status, 414);
  });

  test('a connection without requests is closed, one with a silent request is not', async () => {
    const hasty = await startTlsServer({}, { idle_timeout_ms: '300' });
    const idle = new H2Client(hasty.tlsUrl);
    assert.equal((await idle.send('GET', '/')).status, 200);
    const busy = new H2Client(hasty.tlsUrl);
    assert.equal((await busy.send('PUT', '/db')).status, 201);
    const upload = busy.open('PUT', '/db/slow');
    upload.write('{"a"');
    await Promise.race([once(idle.session, 'close'), sleep(5000).then(() => assert.fail('still open'))]);
    await sleep(500);
    upload.end(':1}');
    assert.equal((await answerOf(upload)).status, 201);
    await busy.close();
  });

  test('no more requests at once than allowed', async () => {
    const strict = await startTlsServer({}, { streams_max: '3' });
    const limited = new H2Client(strict.tlsUrl);
    await once(limited.session, 'remoteSettings');
    assert.equal(limited.session.remoteSettings.maxConcurrentStreams, 3);
    await limited.close();
  });
});

test('closing lets requests under way finish and waits for no idle connection', async () => {
  const short = await startTlsServer();
  const idle = new H2Client(short.tlsUrl);
  const busy = new H2Client(short.tlsUrl);
  await idle.send('GET', '/');
  await busy.send('PUT', '/db');
  const upload = busy.open('PUT', '/db/late');
  upload.write('{"a"');
  await sleep(50);
  const closing = short.close();
  await sleep(50);
  upload.end(':1}');
  assert.equal((await answerOf(upload)).status, 201);
  await closing;
});
