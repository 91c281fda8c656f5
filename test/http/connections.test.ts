import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { requestHead, sendAndHangUp, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
const { port } = client;

afterEach(async () => assertOk(await client.get('/_up'), 200));

describe('A client that hangs up in the middle of a body', () => {
  const json = 'Content-Type: application/json';
  const uploads: [what: string, request: (db: string) => string][] = [
    [
      'of a document',
      (db) => `${requestHead('PUT', `${db}/a`, 'Content-Length: 1000000')}{"a":"${'x'.repeat(5000)}`,
    ],
    ['that is whole so far', (db) => `${requestHead('PUT', `${db}/a`, 'Content-Length: 1000')}{"a":1}`],
    ['in chunks', (db) => `${requestHead('PUT', `${db}/a`, 'Transfer-Encoding: chunked')}7\r\n{"a":1}\r\n`],
    [
      'of many documents',
      (db) =>
        `${requestHead('POST', `${db}/_bulk_docs`, json, 'Content-Length: 99999')}{"docs":[{"_id":"a"},{"_id":"b"},`,
    ],
    ['in batch mode', (db) => `${requestHead('PUT', `${db}/a?batch=ok`, 'Content-Length: 1000')}{"a":1}`],
  ];
  for (const [what, request] of uploads) {
    test(`${what} stores nothing`, async () => {
      const db = await newDb(client);
      await Promise.all(Array.from({ length: 20 }, () => sendAndHangUp(port, request(db))));
      await client.post(`${db}/_ensure_full_commit`);
      assert.equal((await client.get(db)).body.doc_count, 0);
      assertOk(await client.put(`${db}/a`, {}), 201);
    });
  }

  test('or of an answer does no harm', async () => {
    const db = await newDb(client);
    const docs = Array.from({ length: 5000 }, (_, i) => ({ _id: `d${i}`, text: 'x'.repeat(1000) }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const request = requestHead('GET', `${db}/_all_docs?include_docs=true`);
    await Promise.all(Array.from({ length: 20 }, () => sendAndHangUp(port, request)));
    assert.equal((await client.get(`${db}/_all_docs`)).body.rows.length, 5000);
  });
});

describe('Connections', () => {
  test('a slow client is waited for', async () => {
    const db = await newDb(client);
    const body = '{"slow":true}';
    const request = requestHead('PUT', `${db}/slow`, `Content-Length: ${body.length}`) + body;
    const pieces = request.match(/[^]{1,20}/g)!;
    const received = await sendRaw(port, pieces, {
      pauseMs: 25,
      until: (text) => text.includes('"ok":true'),
    });
    assert.deepEqual(statusesIn(received), [201]);
    assert.equal((await client.get(`${db}/slow`)).body.slow, true);
  });

  test('a client that reads slowly gets everything, while others are served', async () => {
    const db = await newDb(client);
    const docs = Array.from({ length: 2000 }, (_, i) => ({ _id: `d${i}`, text: 'x'.repeat(1000) }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const response = await fetch(`${client.url}${db}/_all_docs?include_docs=true`);
    const reader = response.body!.getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
      assertOk(await client.get('/_up'), 200);
    }
    assert.equal(JSON.parse(text).rows.length, 2000);
  });

  test('reads sent at once over one connection are answered in their order, refused ones too', async () => {
    const paths = ['/', '/nowhere', '/_up', '/nowhere/a', '/_nothing', '/_uuids'];
    const request = paths.map((path) => requestHead('GET', path)).join('');
    const received = await sendRaw(port, request, { until: (text) => statusesIn(text).length === 6 });
    assert.deepEqual(statusesIn(received), [200, 404, 200, 404, 404, 200]);
  });

  test('writes sent at once over one connection are done in their order', async () => {
    const db = await newDb(client);
    const put = (id: string): string => `${requestHead('PUT', `${db}/${id}`, 'Content-Length: 2')}{}`;
    const pieces = [
      put('a'),
      put('b'),
      requestHead('GET', `${db}/a`),
      put('a'),
      requestHead('HEAD', `${db}/b`),
    ];
    const received = await sendRaw(port, pieces.join(''), { until: (text) => statusesIn(text).length === 5 });
    assert.deepEqual(statusesIn(received), [201, 201, 200, 409, 200]);
  });

  test('a refused request without a body leaves the connection open', async () => {
    for (const path of ['/nowhere', '/_nothing', '/nowhere/a']) {
      const answer = await client.get(path);
      assertRefused(answer, 404);
      assert.notEqual(answer.headers.connection, 'close', path);
    }
  });

  test('a refused request with a body leaves the next one on its connection whole', async () => {
    const db = await newDb(client);
    const body = '{"a":1}';
    const refused = `${requestHead('PUT', `/nowhere/a`, `Content-Length: ${body.length}`)}${body}`;
    const received = await sendRaw(port, refused + requestHead('GET', db), {
      until: (text) => statusesIn(text).length === 2,
    });
    assert.equal(statusesIn(received)[0], 404);
    assert.ok([200, undefined].includes(statusesIn(received)[1]), received);
  });

  test('a client that waits for "100 Continue" is told to go on', async () => {
    const db = await newDb(client);
    const head = requestHead('PUT', `${db}/a`, 'Content-Length: 2', 'Expect: 100-continue');
    const received = await sendRaw(port, [head, '{}'], {
      pauseMs: 50,
      until: (text) => text.includes(' 201 '),
    });
    assert.deepEqual(statusesIn(received), [100, 201]);
  });

  test('HEAD never has a body, whatever is asked for', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    const paths = [
      '/',
      '/_up',
      '/_all_dbs',
      '/_uuids',
      db,
      `${db}/a`,
      `${db}/_all_docs`,
      `${db}/none`,
      '/nowhere',
    ];
    for (const path of paths) {
      const received = await sendRaw(port, requestHead('HEAD', path, 'Connection: close'));
      assert.ok(received.endsWith('\r\n\r\n'), `${path}: ${received}`);
      const got = await client.get(path);
      assert.equal(statusesIn(received)[0], got.status);
    }
  });

  test('each answer has an X-Request-ID of its own, errors too', async () => {
    const db = await newDb(client);
    const answers = [
      await client.get('/'),
      await client.get(db),
      await client.get(`${db}/none`),
      await client.put(db),
      await client.put(`${db}/a`, {}),
      await client.send('PUT', `${db}/a`, { raw: '{' }),
      await client.as('admin:wrong').get('/'),
      await client.send('PATCH', '/'),
      await client.get('/%zz'),
      await client.get(`${db}/_all_docs`),
      await client.head(`${db}/a`),
      await client.get('/_utils'),
      await client.get('/favicon.ico'),
    ];
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    assert.ok(
      ids.every((id) => typeof id === 'string' && id !== ''),
      JSON.stringify(ids),
    );
    assert.equal(new Set(ids).size, ids.length);
  });

  test('a request keeps the id that its client names, unless that is unfit for a log', async () => {
    for (const header of ['x-request-id', 'x-couch-request-id']) {
      const { headers } = await client.get('/', { [header]: 'trace-1:a.B_c' });
      assert.equal(headers['x-request-id'], 'trace-1:a.B_c');
      assert.equal(headers['x-couch-request-id'], 'trace-1:a.B_c');
    }
    for (const unfit of ['', 'a b', 'a"b', 'x'.repeat(65), 'ä']) {
      const { headers } = await client.get('/', { 'x-request-id': unfit });
      assert.match(String(headers['x-request-id']), /^[0-9a-z]+$/);
      assert.notEqual(headers['x-request-id'], unfit);
    }
  });

  test('two writers of one document: one wins, the other is told of the conflict', async () => {
    const db = await newDb(client);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => client.put(`${db}/a`, { n })));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 409, 'conflict');
  });
});
