import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SystemRuntime } from '../../base/runtime.js';
import type { Exchange } from '../exchange.js';
import { forward } from './forward.js';

test('where a host cannot be reached, and this node has become one meanwhile, the answer is 503', async () => {
  let looks = 0;
  const hosting = {
    placements: new Map([[1, {}]]),
    isHosted: () => looks++ > 0,
    // No server listens there.
    hostUrl: () => 'http://127.0.0.1:1',
    headers: () => ({}),
    reached: { noteUnreachable() {}, isThere: () => false },
  };
  const services = {
    cluster: { hosting, nodeName: 'a', secret: 'x', currency: { mayLag: false } },
    registry: { record: () => ({ stream: 1 }) },
    config: { number: () => 5_000, choice: () => 'local' },
  };
  const server = http.createServer((request, response) => {
    const text = (status: number, body: string): void => void response.writeHead(status).end(body);
    const exchange = { services, request, response, text, parts: ['db'], rawPath: '/db', sender: '' };
    const query = { first: () => undefined };
    const more = { header: () => undefined, query, runtime: new SystemRuntime() };
    assert.ok(forward({ ...exchange, ...more } as unknown as Exchange));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/db`);
  assert.equal(answer.status, 503);
  await answer.text();
  await new Promise((resolve) => server.close(resolve));
});
