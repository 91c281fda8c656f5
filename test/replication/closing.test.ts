import assert from 'node:assert/strict';
import net from 'node:net';
import { after, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { until } from './scene.js';

const options = (dataDir: string) => ({
  dataDir,
  admins: { admin: 'secret' },
  port: 0,
  logLevel: 'none' as const,
  config: { chttpd_auth: { iterations: '100' }, tuffet: { replication_backoff_ms: '100' } },
});

/** Takes connections and never says a word. */
async function startSilence(): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as net.AddressInfo).port;
}

test('a server closes while it replicates with itself, and with servers that say nothing', async () => {
  const silence = await startSilence();
  const server = await createServer(options(temporaryFolder()));
  const client = new HttpClient(server.url);
  const own = client.urlWithCredentials;
  for (const db of ['/a', '/b']) await client.put(db);
  await client.put('/_replicator/self', { source: `${own}/a`, target: `${own}/b`, continuous: true });
  await client.put('/_replicator/silent', { source: `http://127.0.0.1:${silence}/x`, target: `${own}/b` });
  await client.post('/_replicate', { source: 'a', target: 'b', continuous: true });
  const waiting = client.post('/_replicate', { source: `http://127.0.0.1:${silence}/x`, target: 'b' });
  await until(
    () => client.get('/_scheduler/jobs'),
    ({ body }) => body.jobs.length === 4,
  );
  const started = performance.now();
  await server.close();
  assert.ok(performance.now() - started < 8_000);
  const { status, body } = await waiting;
  assert.deepEqual([status, body.error], [503, 'service_unavailable']);
});

test('replications go on when the stores are closed and opened again', async () => {
  const server = await createServer(options(temporaryFolder()));
  after(() => server.close());
  const client = new HttpClient(server.url);
  const own = client.urlWithCredentials;
  for (const db of ['/a', '/b', '/c']) await client.put(db);
  await client.put('/_replicator/self', { source: `${own}/a`, target: `${own}/b`, continuous: true });
  await client.post('/_replicate', { source: 'a', target: 'c', continuous: true });
  await client.put('/a/before', {});
  await until(
    () => client.get('/b/before'),
    ({ status }) => status === 200,
  );
  assert.equal((await client.post('/_node/_local/_restart')).status, 202);
  await until(
    () => client.put('/a/behind', {}),
    ({ status }) => status === 201 || status === 409,
  );
  for (const db of ['b', 'c'])
    await until(
      () => client.get(`/${db}/behind`),
      ({ status }) => status === 200,
    );
});
