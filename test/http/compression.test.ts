import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { describe, test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const docs = Array.from({ length: 4_000 }, (_, i) => ({ _id: `d${i}`, i, text: `Grüße ${i} `.repeat(8) }));
await client.post(`${db}/_bulk_docs`, { docs });
await client.put(`${db}/large`, { text: 'ü'.repeat(40_000) });
await client.put(`${db}/small`, { text: 'ü' });
await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(doc.i, doc.text) }' } } });

interface Raw {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** The bytes as they come. */
async function raw(
  method: string,
  path: string,
  encoding: string,
  more: { headers?: Record<string, string>; json?: unknown; at?: typeof client } = {},
): Promise<Raw> {
  const at = more.at ?? client;
  const authorization = `Basic ${btoa('admin:secret')}`;
  const request = http.request(at.url + path, {
    method,
    headers: {
      authorization,
      'accept-encoding': encoding,
      'content-type': 'application/json',
      ...more.headers,
    },
  });
  request.end(more.json === undefined ? undefined : JSON.stringify(more.json));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) };
}

const rowsOf = (body: Buffer): string[] =>
  body
    .toString()
    .replaceAll(/"seq":"[^"]*"/g, '')
    .split('\n')
    .sort();

const view = `${db}/_design/d/_view/v`;
const find = { method: 'POST', path: `${db}/_find`, json: { selector: { i: { $gte: 0 } }, limit: 4000 } };
const large: { method: string; path: string; json?: unknown }[] = [
  { method: 'GET', path: `${db}/_all_docs` },
  { method: 'GET', path: `${db}/_all_docs?include_docs=true` },
  { method: 'GET', path: `${db}/_all_docs?include_docs=true&limit=300` },
  { method: 'GET', path: view },
  { method: 'GET', path: `${view}?include_docs=true` },
  { method: 'POST', path: `${view}/queries`, json: { queries: [{}, { limit: 2 }] } },
  { method: 'GET', path: `${db}/_changes?include_docs=true` },
  find,
];

describe('A large answer', () => {
  test('is compressed for a client that takes gzip, and says the same', async () => {
    for (const { method, path, json } of large) {
      const plain = await raw(method, path, 'identity', { json });
      const packed = await raw(method, path, 'deflate, gzip;q=0.8', { json });
      assert.equal(packed.headers['content-encoding'], 'gzip', path);
      assert.equal(packed.headers['content-length'], undefined, path);
      assert.equal(plain.headers['content-encoding'], undefined, path);
      for (const { headers } of [plain, packed]) assert.equal(headers.vary, 'Accept-Encoding', path);
      assert.ok(packed.body.length < plain.body.length * 0.8, path);
      // Rows of a feed may come in another order.
      assert.deepEqual(rowsOf(gunzipSync(packed.body)), rowsOf(plain.body), path);
    }
  });

  test('has a weak tag, which is known when it comes back', async () => {
    const { headers } = await raw('GET', view, 'gzip');
    const plain = (await raw('GET', view, 'identity')).headers.etag!;
    assert.equal(headers.etag, `W/${plain}`);
    for (const encoding of ['gzip', 'identity']) {
      const again = await raw('GET', view, encoding, { headers: { 'if-none-match': headers.etag } });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
    }
  });

  test('is not compressed for others, nor for HEAD', async () => {
    for (const encoding of ['identity', 'gzip;q=0', 'br', '', 'gzipped'])
      assert.equal((await raw('GET', view, encoding)).headers['content-encoding'], undefined, encoding);
    const { headers } = await raw('HEAD', view, 'gzip');
    assert.equal(headers['content-encoding'], undefined);
    assert.match(headers.etag!, /^"/);
  });

  test('goes to a page of another origin with both reasons to vary', async () => {
    const at = await startServer({ cors: ['https://a.example'] });
    await at.put('/x');
    await at.put('/x/large', { text: 'x'.repeat(100_000) });
    const answer = await raw('GET', '/x/_all_docs?include_docs=true', 'gzip', {
      at,
      headers: { origin: 'https://a.example' },
    });
    assert.equal(answer.headers.vary, 'Accept-Encoding, Origin');
    assert.equal(answer.headers['content-encoding'], 'gzip');
  });

  test('ends early without harm when its client goes', async () => {
    for (let i = 0; i < 20; i++) {
      const request = http.get(`${client.url}${db}/_all_docs?include_docs=true`, {
        headers: { authorization: `Basic ${btoa('admin:secret')}`, 'accept-encoding': 'gzip' },
      });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      await once(response, 'data');
      request.destroy();
    }
    assert.equal((await raw('GET', `${db}/_all_docs`, 'gzip')).headers['content-encoding'], 'gzip');
  });
});

describe('What is not compressed', () => {
  test('small answers, with no more headers than before', async () => {
    for (const path of [`${db}/small`, db, `${db}/_all_docs?limit=3`, `${db}/_changes?limit=3`, '/']) {
      const { headers } = await raw('GET', path, 'gzip');
      assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined], path);
    }
  });

  test('documents: their tag is their revision, for every client', async () => {
    const { headers, body } = await raw('GET', `${db}/large`, 'gzip');
    assert.equal(headers['content-encoding'], undefined);
    assert.equal(headers.etag, JSON.stringify(JSON.parse(body.toString())._rev));
  });

  test('feeds that go on: rows come at once', async () => {
    const request = http.get(
      `${client.url}${db}/_changes?feed=continuous&include_docs=true&heartbeat=60000`,
      {
        headers: { authorization: `Basic ${btoa('admin:secret')}`, 'accept-encoding': 'gzip' },
      },
    );
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    assert.equal(response.headers['content-encoding'], undefined);
    const [chunk] = (await once(response, 'data')) as [Buffer];
    assert.equal(chunk.subarray(0, 7).toString(), '{"seq":');
    request.destroy();
  });

  test('anything, where the option says so', async () => {
    const option = '/_node/_local/_config/tuffet/compress_bytes_min';
    await client.put(option, 'infinity');
    const { headers } = await raw('GET', `${db}/_all_docs`, 'gzip');
    assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined]);
    await client.delete(option);
  });
});
