import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { keptBlobs, unfinished } from '../attachments/kept-files.js';
import { noise } from '../attachments/attachment-client.js';
import { rawRequest } from './raw-client.js';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

const growthMax_mb = 200;
const hugeBytes = 2 * 1024 ** 3;
const pieceBytes = 1024 * 1024;
const type = { 'Content-Type': 'application/octet-stream' };

/** Every piece is another one, and none can be made smaller. */
function* pieces(bytes: number): Generator<Buffer> {
  const piece = noise(pieceBytes);
  for (let at = 0; at < bytes; at += pieceBytes) {
    piece.writeUInt32BE(at / pieceBytes, 0);
    // A copy: the socket may still be holding on to the one before.
    yield Buffer.from(piece);
  }
}

/** A server with a database, that has seen a few requests of each kind before. */
async function serverWith(t: Parameters<typeof ServerProcess.start>[0]): Promise<ServerProcess> {
  const server = await ServerProcess.start(t);
  await server.createDatabase('files');
  const setting = `${server.url}/_node/_local/_config/couchdb/max_attachment_size`;
  const body = JSON.stringify(String(4 * hugeBytes));
  assert.equal((await fetch(setting, { method: 'PUT', headers: { authorization }, body })).status, 200);
  for (let i = 0; i < 10; i++) assert.equal(await upload(server.url, `warm${i}`, noise(pieceBytes, i)), 201);
  await (await fetch(`${server.url}/files/warm0/f`)).arrayBuffer();
  return server;
}

function upload(url: string, id: string, body: Buffer, agent?: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...type, 'Content-Length': body.length };
    const options = { method: 'PUT', headers, ...(agent === undefined ? {} : { agent }) };
    const request = http.request(`${url}/files/${id}/f`, options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode!));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const dataOf = (server: ServerProcess): string => path.join(server.folder, 'data');

test('2 GB go up and down without being kept in memory', { skip: withoutProc }, async (t) => {
  const server = await serverWith(t);
  const url = server.url;
  let up!: Awaited<ReturnType<typeof rawRequest>>;
  const headers = { ...type, 'Content-Length': String(hugeBytes) };
  const growthUp = await server.growth_mb(async () => {
    up = await rawRequest({ url, method: 'PUT', path: '/files/huge/f', headers, body: pieces(hugeBytes) });
  });
  console.log(`2 GB up: RssAnon +${mb(growthUp)}, ${rate(hugeBytes, up.seconds)}`);
  assert.equal(up.status, 201, up.end);

  let down!: Awaited<ReturnType<typeof rawRequest>>;
  const growthDown = await server.growth_mb(async () => {
    down = await rawRequest({ url, method: 'GET', path: '/files/huge/f' });
  });
  console.log(`2 GB down: RssAnon +${mb(growthDown)}, ${rate(down.bytes, down.seconds)}`);
  assert.ok(down.bytes > hugeBytes && down.bytes < hugeBytes + 2_000, 'all of it, and a head');
  const last = Buffer.from(down.end, 'latin1');
  const [sample] = pieces(pieceBytes);
  assert.deepEqual(last, sample!.subarray(-last.length), 'the last bytes are the last bytes');
  await checkBeginnings(url);
  assert.ok(growthUp < growthMax_mb, `grew by ${mb(growthUp)} on the way up`);
  assert.ok(growthDown < growthMax_mb, `grew by ${mb(growthDown)} on the way down`);
  const sizes = keptBlobs(dataOf(server)).map(
    (blob) => fs.statSync(path.join(dataOf(server), 'attachments', blob.slice(0, 2), blob.slice(2))).size,
  );
  assert.ok(sizes.includes(hugeBytes));
});

/** Each piece begins with its number: here and there it is looked at. */
async function checkBeginnings(url: string): Promise<void> {
  for (const number of [0, 1, 777, 2_047]) {
    const range = `bytes=${number * pieceBytes}-${number * pieceBytes + 3}`;
    const answer = await fetch(`${url}/files/huge/f`, { headers: { range } });
    assert.equal(answer.status, 206);
    assert.equal(Buffer.from(await answer.arrayBuffer()).readUInt32BE(0), number);
  }
}

const uploads = 200;

test('200 uploads at once are not kept in memory', { skip: withoutProc }, async (t) => {
  const server = await serverWith(t);
  const before = keptBlobs(dataOf(server)).length;
  const bodies = Array.from({ length: uploads }, (_, i) => {
    const body = Buffer.alloc(pieceBytes, noise(4_096, i));
    body.writeUInt32BE(i, 0);
    return body;
  });
  const agent = new http.Agent({ maxSockets: uploads });
  let statuses: number[] = [];
  const started = performance.now();
  let openFilesMost = 0;
  const watch = setInterval(() => (openFilesMost = Math.max(openFilesMost, server.openFiles())), 20);
  const growth = await server.growth_mb(async () => {
    statuses = await Promise.all(bodies.map((body, i) => upload(server.url, `many${i}`, body, agent)));
  });
  clearInterval(watch);
  agent.destroy();
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `200 uploads of 1 MB at once: RssAnon +${mb(growth)}, ${rate(uploads * pieceBytes, seconds)}, ${openFilesMost} open files`,
  );
  assert.ok(statuses.every((status) => status === 201));
  assert.equal(keptBlobs(dataOf(server)).length, before + uploads);
  assert.deepEqual(unfinished(dataOf(server)), []);
  assert.ok(growth < growthMax_mb, `grew by ${mb(growth)}`);
});

const mb = (value: number): string => `${Math.round(value)} MB`;
const rate = (bytes: number, seconds: number): string =>
  `${seconds.toFixed(1)} s, ${mb(bytes / seconds / 1e6)}/s`;
