import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { requestHead } from '../support/raw-socket.js';

const options = { inMemory: true, admins: { admin: 'secret' }, port: 0, logLevel: 'none' } as const;

/** A connection that sends this and reads nothing yet. */
async function unread(port: number, text: string): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  socket.pause();
  socket.write(text);
  return socket;
}

/** Reads until the server ends the connection, or has sent so many answers; gives how many came whole. */
async function readAnswers(socket: net.Socket, answersMax = Infinity): Promise<number> {
  let answers = 0;
  let tail = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    const parts = (tail + piece).split(end);
    answers += parts.length - 1;
    tail = parts.at(-1)!.slice(-end.length);
    if (answers === answersMax) socket.end();
  });
  socket.resume();
  await once(socket, 'end');
  socket.destroy();
  return tail === '' ? answers : Number.NaN;
}

const requests = 200;
const large = { text: 'x'.repeat(200_000), end: true };
/** Of an answer. */
const end = '"end":true}\n';

/** A server with a large document, and a client that asks for it again and again without taking an answer. */
async function withUnread(
  work: (socket: net.Socket, client: HttpClient, close: () => Promise<void>) => Promise<void>,
) {
  const server = await createServer(options);
  try {
    const client = new HttpClient(server.url);
    await client.put('/db');
    await client.put('/db/large', large);
    const socket = await unread(client.port, requestHead('GET', '/db/large').repeat(requests));
    await sleep(500);
    await work(socket, client, () => server.close());
  } finally {
    await server.close();
  }
}

test('few answers are made ahead for a client that takes none, and all come in the end', () =>
  withUnread(async (socket, client) => {
    const stats = await client.get('/_node/_local/_stats/couchdb/database_reads');
    assert.ok(stats.body.value < requests / 3, `${stats.body.value} answers were made`);
    assert.equal(await readAnswers(socket, requests), requests);
  }));

test('a server that is closed still sends what a slow client has asked for', () =>
  withUnread(async (socket, _, close) => {
    const closed = close();
    await sleep(100);
    assert.equal(await readAnswers(socket), requests);
    await closed;
  }));
