/** What many requests hold in memory together is bounded, and small requests are served meanwhile. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import { afterEach, describe, test } from 'node:test';
import { keptBytes } from '../support/kept-bytes.js';
import { H2Client } from '../support/h2-client.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { requestHead } from '../support/raw-socket.js';
import { startTlsServer } from '../support/tls.js';

const megabyte = 1024 * 1024;
const bodyBytesMax = 2 * megabyte;
const answerBytesMax = 16 * megabyte;
const server = await startTlsServer(
  {},
  {
    request_memory_bytes: String(bodyBytesMax),
    answer_memory_bytes: String(answerBytesMax),
    batch_memory_bytes: String(megabyte),
    batch_save_interval_ms: '3600000',
  },
);
const client = new HttpClient(server.url);
await client.put('/db');
await client.put('/db/large', { text: 'x'.repeat(7_900_000) });

const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually(async () => (await held('bodies')) === 0 && (await held('answers')) === 0);
});

/** A client that sends this, and reads nothing. */
function silentClient(text: string): net.Socket {
  const socket = net.connect(client.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(text);
  sockets.push(socket);
  return socket;
}

async function held(budget: string): Promise<number> {
  const { text } = await client.get('/_node/_local/_prometheus');
  return Number(new RegExp(`^tuffet_memory_held_bytes\\{budget="${budget}"\\} (\\d+)`, 'm').exec(text)?.[1]);
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return;
    await sleep(20);
  }
  assert.fail('It did not come to that.');
}

const body = (bytes: number): string => `{"text":"${'x'.repeat(bytes - 11)}"}`;
const put = (path: string, bytes: number): string =>
  requestHead('PUT', path, `Content-Length: ${bytes}`) + body(bytes).slice(0, -1);

describe('Bodies that are held', () => {
  test('let small requests pass, and keep others waiting until there is room', async () => {
    const holders = [1, 2].map((n) => silentClient(put(`/db/held${n}`, 900_000)));
    await eventually(async () => (await held('bodies')) === 1_800_000);
    let isSaved = false;
    const third = client.put('/db/third', { text: 'x'.repeat(900_000) }).then((answer) => {
      isSaved = true;
      return answer;
    });
    assertOk(await client.put('/db/small', { text: 'x'.repeat(60_000) }), 201);
    await sleep(300);
    assert.ok(!isSaved);
    holders[0]!.write('}');
    assertOk(await third, 201);
    assertOk(await client.get('/db/held1'), 200);
  });

  test('are let go when their clients are', async () => {
    silentClient(put('/db/x', 1_900_000));
    await eventually(async () => (await held('bodies')) > 0);
    sockets[0]!.destroy();
    await eventually(async () => (await held('bodies')) === 0);
  });

  test('count as unpacked', async () => {
    silentClient(put('/db/x', 1_500_000));
    await eventually(async () => (await held('bodies')) === 1_500_000);
    const packed = zlib.gzipSync(body(1_000_000));
    // The length at the end is a lie.
    packed.writeUInt32LE(100, packed.length - 4);
    const headers = { 'content-encoding': 'gzip' };
    const answer = await client.send('PUT', '/db/packed', { raw: packed, headers });
    assertRefused(answer, 503, 'service_unavailable');
    assert.equal(answer.headers['retry-after'], '1');
  });

  test('count in bulk requests and multipart documents of unknown length', async () => {
    silentClient(put('/db/x', 1_900_000));
    await eventually(async () => (await held('bodies')) === 1_900_000);
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': null };
    const bulk = { raw: `{"docs":[${body(1_000_000)}]}`, headers: chunked };
    assertRefused(await client.send('POST', '/db/_bulk_docs', bulk), 503, 'service_unavailable');
    const related = {
      raw: `--x\r\n\r\n${body(1_000_000)}\r\n--x--`,
      headers: { ...chunked, 'content-type': 'multipart/related; boundary=x' },
    };
    assertRefused(await client.send('PUT', '/db/multi', related), 503, 'service_unavailable');
  });

  test('are not kept by the connections that they came over', async () => {
    const before = keptBytes();
    for (let n = 0; n < 20; n++) {
      const socket = silentClient(put(`/db/kept${n}`, 1_900_000));
      socket.write('}');
      socket.resume();
      await eventually(() => socket.bytesRead > 0);
    }
    await sleep(50);
    keptBytes();
    await sleep(50);
    const grown = keptBytes() - before;
    assert.ok(grown < 10 * megabyte, `${grown} bytes are kept`);
  });
});

describe('Answers that are not read', () => {
  test('let small requests pass, and keep others waiting until there is room', async () => {
    // The system takes a part of what comes first over a connection.
    silentClient(requestHead('GET', '/db/large').repeat(4));
    await eventually(async () => (await held('answers')) > 15_000_000);
    let isAnswered = false;
    const third = client.get('/db/large').then((answer) => {
      isAnswered = true;
      return answer;
    });
    assertOk(await client.get('/db'), 200);
    await sleep(300);
    assert.ok(!isAnswered);
    assert.ok((await held('answers')) <= answerBytesMax);
    sockets[0]!.destroy();
    assert.equal((await third).body.text.length, 7_900_000);
  });

  test('count in listings too, where what does not fit is broken off', async () => {
    for (const id of ['large2', 'large3']) await client.put(`/db/${id}`, { text: 'x'.repeat(7_900_000) });
    const path = '/db/_all_docs?include_docs=true&startkey="large"&endkey="large3"';
    const listing = requestHead('GET', path, 'Connection: close');
    for (let n = 0; n < 3; n++) silentClient(listing);
    await eventually(async () => (await held('answers')) > 15_000_000);
    await sleep(200);
    assert.ok((await held('answers')) <= answerBytesMax);
    const received = sockets.map(
      (socket) =>
        new Promise<number>((resolve) => socket.resume().on('close', () => resolve(socket.bytesRead))),
    );
    const whole = (await Promise.all(received)).filter((bytes) => bytes > 3 * 7_900_000);
    assert.equal(whole.length, 1);
  });

  test('arrive whole where they are read, over HTTP/2 too', async () => {
    const h2 = new H2Client(server.tlsUrl);
    const answers = await Promise.all([1, 2, 3, 4].map(() => h2.send('GET', '/db/large')));
    for (const { text } of answers) assert.equal(JSON.parse(text).text.length, 7_900_000);
    await h2.close();
  });
});

test('documents of batch=ok are refused where too many wait, and taken again when those are saved', async () => {
  const doc = { text: 'x'.repeat(300_000) };
  for (let n = 0; n < 3; n++) assertOk(await client.put(`/db/batch${n}?batch=ok`, doc), 202);
  const refused = await client.put('/db/batch3?batch=ok', doc);
  assertRefused(refused, 503, 'service_unavailable');
  assert.equal(refused.headers['retry-after'], '1');
  assertOk(await client.post('/db/_ensure_full_commit'), 201);
  assertOk(await client.get('/db/batch2'), 200);
  assertRefused(await client.get('/db/batch3'), 404);
  assertOk(await client.put('/db/batch3?batch=ok', doc), 202);
});

describe('A client that takes nothing of its answer', () => {
  test('is cut off after a while, and one that reads slowly is not', async () => {
    const impatient = await startTlsServer({}, { answer_idle_timeout_ms: '500' });
    const admin = new HttpClient(impatient.url);
    await admin.put('/db');
    await admin.put('/db/large', { text: 'x'.repeat(7_900_000) });
    const h2 = new H2Client(impatient.tlsUrl);
    const stream = h2.open('GET', '/db/large').end();
    stream.on('error', () => undefined);
    const cut = new Promise((resolve) => stream.on('close', resolve));
    const socket = net.connect(admin.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    // As much as the system takes without a reader must not be all of it.
    socket.write(requestHead('GET', '/db/large').repeat(4));
    const slow = slowRead(admin.port, requestHead('GET', '/db/large', 'Connection: close'));
    await cut;
    await sleep(1_500);
    const left = await new Promise<number>((resolve) => {
      socket.on('data', () => undefined);
      socket.on('close', () => resolve(socket.bytesRead));
      socket.resume();
    });
    assert.ok(left < 4 * 7_900_000, `${left} bytes came`);
    assert.ok((await slow) > 7_900_000);
    await h2.close();
  });
});

/** Reads with pauses that are shorter than the server's patience, and gives how many bytes came. */
async function slowRead(port: number, request: string): Promise<number> {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(request);
  let bytes = 0;
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length;
    if (bytes % 13 === 0) await sleep(20);
  }
  return bytes;
}
