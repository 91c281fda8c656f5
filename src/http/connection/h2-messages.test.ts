import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SystemRuntime } from '../../base/runtime.js';
import { H2Request, H2Response } from './h2-messages.js';

const runtime = new SystemRuntime();
type Handler = (request: H2Request, response: H2Response) => void;
let handle: Handler = (_, response) => void response.writeHead(200, []).end();

const server = http2.createServer();
server.on('stream', (opened, headers, _, rawHeaders: string[]) => {
  const stream = opened as ServerHttp2Stream;
  stream.on('error', () => undefined);
  const request = new H2Request(stream, headers, rawHeaders);
  handle(request, new H2Response(stream, request, runtime));
});
server.listen(0);
await once(server, 'listening');
const session = http2.connect(`http://localhost:${(server.address() as AddressInfo).port}`);
after(() => {
  session.close();
  server.close();
});

function ask(method = 'GET'): Promise<{ body: string; headers: Record<string, unknown>; broken: boolean }> {
  const stream = session.request({ ':method': method });
  return new Promise((resolve) => {
    let body = '';
    let headers = {};
    stream.on('response', (found) => (headers = found));
    stream.on('data', (chunk) => (body += String(chunk)));
    stream.on('error', () => undefined);
    stream.on('close', () => resolve({ body, headers, broken: stream.rstCode !== 0 }));
    stream.end();
  });
}

test('a head is sent with its lists, and without what concerns a connection', async () => {
  handle = (_, response) => {
    response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'close', 'X-N', 1]);
    response.end('text');
  };
  const { headers, body, broken } = await ask();
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(headers['connection'], undefined);
  assert.equal(headers['x-n'], '1');
  assert.deepEqual([body, broken], ['text', false]);
});

test('an answer that is given up after its head is shown to be broken', async () => {
  for (const pieces of [0, 1, 100]) {
    handle = (_, response) => {
      response.writeHead(200, ['Content-Type', 'text/plain']);
      for (let i = 0; i < pieces; i++) response.write('x'.repeat(1000));
      setTimeout(() => response.destroy(), 20);
    };
    assert.equal((await ask()).broken, true);
  }
});

test('what is written to HEAD, 204 and 304 goes nowhere', async () => {
  const bodyless: [method: string, status: number][] = [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ];
  for (const [method, status] of bodyless) {
    handle = (_, response) => {
      response.writeHead(status, []);
      response.write('text');
      response.end('more');
    };
    const { headers, body, broken } = await ask(method);
    assert.deepEqual([headers[':status'], body, broken], [status, '', false]);
  }
});

test('an answer without a body arrives before the client is told to stop sending', async () => {
  handle = (_, response) => void response.writeHead(204, []).end();
  const stream = session.request({ ':method': 'PUT' }, { endStream: false });
  stream.write('the beginning of a body');
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  assert.equal(headers[':status'], 204);
  stream.close();
});

test('a client that has left is noticed, and writing to it comes to nothing', async () => {
  const gone = new Promise<H2Response>((resolve) => {
    handle = (_, response) => {
      response.writeHead(200, []);
      response.write('x');
      response.on('close', () => resolve(response));
    };
  });
  const stream = session.request({});
  stream.on('error', () => undefined);
  await once(stream, 'response');
  stream.close(http2.constants.NGHTTP2_CANCEL);
  const response = await gone;
  assert.equal(response.destroyed, true);
  assert.equal(response.writableFinished, false);
  response.on('error', () => undefined);
  response.writeHead(200, []);
  response.end('more');
});

test('a request has method, path, headers and body, and says when the body has come whole', async () => {
  const seen = new Promise<unknown[]>((resolve) => {
    handle = (request, response) => {
      let body = '';
      const before = request.complete;
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        resolve([request.method, request.url, request.headers['x-a'], body, before, request.complete]);
        response.writeHead(200, []).end();
      });
    };
  });
  const stream = session.request({ ':method': 'PUT', ':path': '/a?b=c', 'x-a': 'y' });
  stream.resume();
  stream.end('body');
  assert.deepEqual(await seen, ['PUT', '/a?b=c', 'y', 'body', false, true]);
});

test('cookies that came apart are one header', async () => {
  const seen = new Promise<readonly string[]>((resolve) => {
    handle = (request, response) => {
      resolve(request.rawHeaders.filter((name) => !name.startsWith(':')));
      response.writeHead(200, []).end();
    };
  });
  session.request({ 'x-a': 'b', cookie: ['a=1', 'AuthSession=x', 'c=3'], 'x-d': 'e' }).resume();
  const raw = await seen;
  assert.equal(raw[raw.indexOf('cookie') + 1], 'a=1; AuthSession=x; c=3');
  assert.equal(raw.filter((name) => name === 'cookie').length, 1);
  assert.deepEqual([raw[raw.indexOf('x-a') + 1], raw[raw.indexOf('x-d') + 1]], ['b', 'e']);
});
