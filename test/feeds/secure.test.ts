/** Feeds over TLS: by HTTP/2, where many share a connection, and over WebSockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { adminLogin, H2Client } from '../support/h2-client.js';
import { pem, startTlsServer } from '../support/tls.js';

const server = await startTlsServer();

test('many feeds over one HTTP/2 connection hear of a write, and end with their database', async () => {
  const client = new H2Client(server.tlsUrl);
  await client.send('PUT', '/db');
  const feeds = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const kind = n % 2 === 0 ? 'continuous' : 'eventsource';
      const stream = client.open('GET', `/db/_changes?feed=${kind}&heartbeat=10000`);
      stream.end();
      const feed = { text: '', ended: once(stream, 'close') };
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => (feed.text += text));
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
      assert.equal(headers[':status'], 200);
      return feed;
    }),
  );
  assert.equal((await client.send('PUT', '/db/told', {}, '{}')).status, 201);
  const deadline = Date.now() + 10_000;
  while (!feeds.every(({ text }) => text.includes('"id":"told"'))) {
    assert.ok(Date.now() < deadline, 'a feed did not hear of the write');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await client.send('DELETE', '/db');
  await Promise.all(feeds.map(({ ended }) => ended));
  assert.match(feeds[0]!.text, /\{"last_seq":"[^"]+","pending":0\}\n$/);
  await client.close();
});

test('a WebSocket works over TLS', async () => {
  const client = new H2Client(server.tlsUrl);
  await client.send('PUT', '/ws');
  await client.send('PUT', '/ws/doc', {}, '{}');
  const socket = new WebSocket(
    `${server.tlsUrl.replace('https', 'wss')}/ws/_changes?credit=5&feed=normal`,
    'tuffet.changes.v1',
    {
      ca: pem('server-cert'),
      headers: { authorization: adminLogin },
    },
  );
  const messages: string[] = [];
  socket.on('message', (data: Buffer) => messages.push(data.toString()));
  await once(socket, 'close');
  assert.match(messages[0]!, /^\{"type":"changes","rows":\[\n\{"seq":"[^"]+","id":"doc"/);
  assert.match(messages[1]!, /^\{"type":"end","reason":"caught_up"/);
  await client.close();
});

test('the number of open feeds is counted', async () => {
  const client = new H2Client(server.tlsUrl);
  await client.send('PUT', '/counted');
  const open = async (): Promise<number> => {
    const { text } = await client.send(
      'GET',
      '/_node/_local/_stats/couchdb/httpd/clients_requesting_changes',
    );
    return (JSON.parse(text) as { value: number }).value;
  };
  assert.equal(await open(), 0);
  const stream = client.open('GET', '/counted/_changes?feed=continuous');
  stream.end();
  await once(stream, 'response');
  assert.equal(await open(), 1);
  stream.close();
  for (let tries = 0; (await open()) !== 0; tries++)
    assert.ok(tries < 100, 'a feed that is gone still counts');
  await client.close();
});
