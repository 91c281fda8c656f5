import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SystemRuntime } from '../../base/runtime.js';
import { asBytes, type Bytes } from '../../base/bytes.js';
import type { Config } from '../../config/config.js';
import { isSentWhole, WholeAnswers } from './whole-answers.js';

const idleMs = 7_000;
const config = { number: () => idleMs } as unknown as Config;
const whole = new WholeAnswers(config, new SystemRuntime());

let handle: (request: IncomingMessage, response: ServerResponse) => void;
const server = http.createServer({ keepAliveTimeout: idleMs }, (request, response) =>
  handle(request, response),
);
server.listen(0);
await once(server, 'listening');
after(() => server.close());

const body = asBytes('{"a":1}\n');
const list = ['Content-Type', 'application/json', 'Content-Length', body.length, 'ETag', '"1-ä"'];

/** All that a client is sent that says this; it says nothing more. */
async function answerTo(text: string): Promise<string> {
  const socket = net.connect((server.address() as AddressInfo).port).setEncoding('latin1');
  let received = '';
  socket.on('data', (piece: string) => (received += piece));
  socket.end(text);
  await once(socket, 'close');
  return received.replace(/^Date: .*$/gm, (date) => `Date: ${Number.isNaN(Date.parse(date.slice(6)))}`);
}

function sendByNode(response: ServerResponse, status: number, text: Bytes): void {
  response.writeHead(status, list).end(text, 'latin1');
}

for (const [name, { status = 200, text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' }] of Object.entries<{
  status?: number;
  text?: string;
}>({
  'a document': {},
  'an error': { status: 409 },
  'a status that has no name': { status: 599 },
  'to a HEAD': { text: 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n' },
  'two in a row': { text: 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n' },
  'before the body was read': { text: 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}' },
})) {
  test(`a whole answer is what Node would send: ${name}`, async () => {
    handle = (_, response) => sendByNode(response, status, body);
    const byNode = await answerTo(text);
    let direct = 0;
    handle = (request, response) => {
      const sent = request.method === 'HEAD' ? asBytes('') : body;
      if (whole.send(response, status, list, sent)) direct++;
      else sendByNode(response, status, body);
    };
    assert.equal(await answerTo(text), byNode);
    assert.ok(direct > 0, 'none was sent with one write');
    assert.match(byNode, /Keep-Alive: timeout=7\r\n/);
  });
}

const leftToNode: Record<string, { text?: string; list?: (string | number | string[])[]; status?: number }> =
  {
    'a body where there is none': { status: 204 },
    'a body beside a tag that fits': { status: 304 },
    'what is not the last answer': { status: 103 },
    'a connection that ends': { text: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' },
    'HTTP/1.0': { text: 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n' },
    'a header of the connection': { list: ['Connection', 'close'] },
    'a header in another spelling': { list: ['date', 'today'] },
    'a value with the end of a line': { list: ['ETag', 'a\r\nSet-Cookie: b'] },
    'a value beyond a byte': { list: ['ETag', '€'] },
    'several values': { list: ['Set-Cookie', ['a', 'b']] },
  };

for (const [name, of] of Object.entries(leftToNode)) {
  const { text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', list: head = list, status = 200 } = of;
  test(`nothing is sent, and all is left to Node, for ${name}`, async () => {
    handle = (_, response) => {
      assert.equal(whole.send(response, status, head as (string | number)[], body), false);
      assert.equal(response.headersSent, false);
      response.writeHead(204).end();
    };
    assert.match(await answerTo(text), /^HTTP\/1\.1 204 /);
  });
}

test('its end is told as Node tells it', async () => {
  const events: string[] = [];
  const ended = new Promise<ServerResponse>((resolve) => {
    handle = (_, response) => {
      for (const event of ['finish', 'close', 'error']) response.on(event, () => events.push(event));
      assert.equal(isSentWhole(response), false);
      assert.ok(whole.send(response, 200, list, body));
      assert.deepEqual(
        [response.headersSent, response.writableEnded, response.statusCode],
        [true, true, 200],
      );
      response.on('close', () => resolve(response));
    };
  });
  await answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const response = await ended;
  assert.deepEqual(events, ['finish', 'close']);
  assert.equal(isSentWhole(response), true);
});

test('an answer to a client that has gone is closed, not finished', async () => {
  const events: string[] = [];
  await new Promise<void>((resolve) => {
    handle = (_, response) => {
      for (const event of ['finish', 'close']) response.on(event, () => events.push(event));
      response.on('close', resolve);
      response.socket!.destroy();
      assert.equal(whole.send(response, 200, list, body), false);
    };
    void answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  });
  assert.deepEqual(events, ['close']);
});

/** Gives the answers to so many requests, each on its own connection, by a sender of their own. */
async function answerTogether(count: number, answerAll: (turn: Turn) => Promise<void>): Promise<void> {
  const time = new StillTime();
  const own = new WholeAnswers(config, time);
  const agent = new http.Agent({ keepAlive: true });
  const given: ServerResponse[] = [];
  const all = new Promise<void>((resolve) => {
    handle = (_, response) => void (given.push(response) === count && resolve());
  });
  const { port } = server.address() as AddressInfo;
  const answers = Array.from({ length: count }, () => once(http.get({ port, agent }), 'response'));
  try {
    await all;
    const sockets = given.map(({ socket }) => socket!);
    await answerAll({
      own,
      time,
      send(number) {
        for (let i = 0; i < number; i++) assert.ok(own.send(given.shift()!, 200, list, body));
        return sockets.filter(({ bytesWritten }) => bytesWritten > 0).length;
      },
    });
    for (const [answer] of (await Promise.all(answers)) as [IncomingMessage][]) answer.resume();
  } finally {
    agent.destroy();
    await Promise.allSettled(answers);
  }
}

/** However busy the machine is, no time passes by itself. */
class StillTime extends SystemRuntime {
  ms = 0;

  override monotonicMs(): number {
    return this.ms;
  }
}

interface Turn {
  own: WholeAnswers;
  time: StillTime;
  /** Gives some more answers, and tells how many are written by then. */
  send(count: number): number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('answers are written at the end of the turn in which they are given', () =>
  answerTogether(6, async ({ send }) => {
    // One that came alone after one that came alone is not kept waiting.
    assert.equal(send(1), 1);
    await nextTurn();
    assert.equal(send(2), 2);
    await nextTurn();
    assert.equal(send(0), 3);
    assert.equal(send(1), 3);
    await nextTurn();
    assert.equal(send(0), 4);
    assert.equal(send(2), 5);
    await nextTurn();
    assert.equal(send(0), 6);
  }));

test('answers are written at once where they are many, where one has waited, and where it is asked for', () =>
  answerTogether(73, async ({ own, time, send }) => {
    send(3);
    await nextTurn();
    assert.equal(send(0), 3);
    assert.equal(send(63), 3);
    assert.equal(send(1), 67);
    assert.equal(send(1), 67);
    time.ms += 5;
    assert.equal(send(1), 69);
    assert.equal(send(4), 69);
    own.flush();
    assert.equal(send(0), 73);
  }));
