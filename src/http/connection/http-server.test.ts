import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { asBytes } from '../../base/bytes.js';
import { SystemRuntime } from '../../base/runtime.js';
import { WholeAnswers } from '../answer/whole-answers.js';
import type { Services } from '../services.js';
import { HttpServer, type RequestTaker } from './http-server.js';

/** Turns that end when what was sent together has come. */
class LongTurns extends SystemRuntime {
  override defer(work: () => void): void {
    setTimeout(work, 50);
  }
}

/** A server that answers at once, by one write each. */
function answeringServer(): HttpServer {
  const numbers: Record<string, number> = { 'chttpd/port': 0, 'tuffet/connections_max': Infinity };
  const config = {
    number: (name: string) => numbers[name] ?? 10_000,
    boolean: () => false,
    text: () => '127.0.0.1',
  } as unknown as Services['config'];
  const runtime = new LongTurns();
  const wholeAnswers = new WholeAnswers(config, runtime);
  const services = { config, runtime, wholeAnswers, metrics: { connections: 0 } } as unknown as Services;
  const body = asBytes('{}\n');
  const taker = {
    arrive: () => ({ id: '1', started: 0 }),
    handle: (_: IncomingMessage, response: ServerResponse) => {
      const list = ['Content-Length', body.length];
      if (!wholeAnswers.send(response, 200, list, body)) response.writeHead(200, list).end(body, 'latin1');
    },
  } as unknown as RequestTaker;
  return new HttpServer(services, () => taker);
}

/** How many answers come where the last byte is sent with the requests. */
async function answersTo(port: number, text: string): Promise<number> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1');
  let received = '';
  socket.on('data', (piece: string) => (received += piece));
  socket.end(text);
  await once(socket, 'end');
  return received.split('HTTP/1.1 200 OK\r\n').length - 1;
}

for (const count of [1, 3])
  test(`who sends ${count} requests and nothing more is answered, also with many others`, async () => {
    const server = answeringServer();
    const port = Number(new URL((await server.listen()).url).port);
    try {
      const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count);
      const answers = await Promise.all(Array.from({ length: 8 }, () => answersTo(port, text)));
      assert.deepEqual(answers, Array(8).fill(count));
    } finally {
      await server.close();
    }
  });
