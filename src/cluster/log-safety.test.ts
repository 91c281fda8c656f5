import assert from 'node:assert/strict';
import http from 'node:http';
import type net from 'node:net';
import { after, describe, test } from 'node:test';
import { createLogger } from '../base/logger.js';
import { whyUnsafe } from './log-safety.js';

const logger = createLogger({ level: 'none' });

describe('whether NATS servers lose what they have confirmed', () => {
  const servers: http.Server[] = [];
  after(() => servers.forEach((server) => server.close()));

  /** What a monitoring port answers. */
  const monitoring = (body: unknown, status = 200): Promise<string> =>
    new Promise((resolve) => {
      const server = http.createServer((request, response) => {
        response.statusCode = request.url === '/varz' ? status : 404;
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
      servers.push(server);
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as net.AddressInfo).port}`),
      );
    });
  const varz = (version: string, config?: object): object => ({ version, jetstream: { config } });
  const why = (urls: string[], version = '2.10.0'): Promise<string | undefined> =>
    whyUnsafe({ servers: 'nats://127.0.0.1:1', monitoring: urls.join(', '), version }, logger);

  test('servers that flush each message are safe', async () => {
    const safe = await monitoring(varz('2.11.3', { sync_always: true, sync_interval: 120e9 }));
    assert.equal(await why([safe, safe]), undefined);
    assert.equal(await why([safe], '3.0.0'), undefined);
  });

  test('one that flushes every two minutes is named, beside safe ones', async () => {
    const safe = await monitoring(varz('2.10.1', { sync_always: true }));
    const unsafe = await monitoring(varz('2.10.1', { sync_interval: 120e9 }));
    assert.equal(
      await why([safe, unsafe]),
      `The NATS server at ${unsafe} runs without "sync_interval: always".`,
    );
    const withoutJetStream = await monitoring({ version: '2.10.1' });
    assert.match((await why([withoutJetStream]))!, /runs without/);
  });

  test('versions before 2.10 are not safe, whichever server has one', async () => {
    assert.equal(await why([], '2.9.10'), 'The NATS server has version 2.9.10.');
    const old = await monitoring(varz('2.9.25', { sync_always: true }));
    assert.match((await why([old]))!, /has version 2\.9\.25/);
  });

  test('a server that is down is passed over, and without any answer nothing is taken for safe', async () => {
    const safe = await monitoring(varz('2.10.1', { sync_always: true }));
    assert.equal(await why([safe, 'http://127.0.0.1:1']), undefined);
    assert.match((await why(['http://127.0.0.1:1']))!, /No monitoring port .*127\.0\.0\.1:1/);
    for (const other of [await monitoring('no JSON'), await monitoring({}), await monitoring({}, 500)])
      assert.match((await why([other]))!, /No monitoring port/);
    assert.match((await why(['not an address']))!, /No monitoring port/);
  });
});
