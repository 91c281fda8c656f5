import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertOk, assertRefused } from '../support/expect.js';
import { requestHead, sendRaw, statusesIn } from '../support/raw-socket.js';
import { newDb, startServer } from '../support/server.js';

const requestBytesMax = 100_000;
const documentBytesMax = 10_000;
const client = await startServer({
  config: {
    chttpd: { max_http_request_size: String(requestBytesMax) },
    couchdb: { max_document_size: String(documentBytesMax), max_document_id_length: '50' },
    tuffet: { bulk_docs_max: '10' },
  },
});
const db = await newDb(client);

afterEach(async () => assertOk(await client.get('/_up'), 200));

/** A document whose body has this many bytes. */
const docOf = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

describe('Documents', () => {
  test('of max_document_size are stored, larger ones are 413', async () => {
    assertOk(await client.send('PUT', `${db}/fits`, { raw: docOf(documentBytesMax) }), 201);
    const answer = await client.send('PUT', `${db}/large`, { raw: docOf(documentBytesMax + 1) });
    assertRefused(answer, 413, 'document_too_large');
    assertRefused(await client.send('POST', db, { raw: docOf(documentBytesMax + 1) }), 413);
    assertRefused(await client.get(`${db}/large`), 404);
  });

  test('too large in a bulk: 413, and none of them is stored', async () => {
    const raw = `{"docs":[{"_id":"small"},${docOf(documentBytesMax + 1)}]}`;
    assertRefused(await client.send('POST', `${db}/_bulk_docs`, { raw }), 413, 'document_too_large');
    assertRefused(await client.get(`${db}/small`), 404);
  });

  test('too many in a bulk: 413, and none of them is stored', async () => {
    const home = await newDb(client);
    const docs = (count: number): object => ({ docs: Array.from({ length: count }, () => ({})) });
    assertRefused(await client.post(`${home}/_bulk_docs`, docs(11)), 413, 'too_large');
    assert.equal((await client.get(home)).body.doc_count, 0);
    assertOk(await client.post(`${home}/_bulk_docs`, docs(10)), 201);
    assert.equal((await client.get(home)).body.doc_count, 10);
  });

  test('an id longer than max_document_id_length is refused', async () => {
    assertOk(await client.put(`${db}/${'i'.repeat(50)}`, {}), 201);
    assertRefused(await client.put(`${db}/${'i'.repeat(51)}`, {}), 400, 'illegal_docid');
    assertRefused(await client.post(db, { _id: 'i'.repeat(51) }), 400, 'illegal_docid');
  });
});

describe('Requests', () => {
  const large = docOf(requestBytesMax + 1);

  test('larger than max_http_request_size are 413 by their length, before they are sent', async () => {
    const head = requestHead('PUT', `${db}/x`, `Content-Length: ${large.length}`);
    const received = await sendRaw(client.port, head, { until: (text) => text.includes('\r\n\r\n') });
    assert.deepEqual(statusesIn(received), [413]);
  });

  test('are 413 wherever they are sent', async () => {
    const requests = [
      ['PUT', `${db}/x`],
      ['POST', db],
      ['POST', `${db}/_bulk_docs`],
      ['POST', `${db}/_bulk_get`],
      ['POST', `${db}/_all_docs`],
      ['POST', `${db}/_revs_diff`],
      ['POST', `${db}/_purge`],
      ['PUT', `${db}/_security`],
      ['POST', '/_dbs_info'],
    ] as const;
    for (const [method, path] of requests) {
      assertRefused(await client.send(method, path, { raw: large }), 413, 'too_large');
    }
  });

  test('are 413 when they come in chunks without a length', async () => {
    const chunk = 'x'.repeat(10_000);
    const pieces = Array.from({ length: 12 }, () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    const head = requestHead('PUT', `${db}/x`, 'Transfer-Encoding: chunked');
    const received = await sendRaw(client.port, [head, ...pieces, '0\r\n\r\n'], {
      until: (text) => text.includes('\r\n\r\n'),
    });
    assert.deepEqual(statusesIn(received), [413]);
  });

  test('of exactly that size are read', async () => {
    const raw = docOf(requestBytesMax);
    assertRefused(await client.send('PUT', `${db}/x`, { raw }), 413, 'document_too_large');
  });
});

describe('Packed bodies', () => {
  const gzip = { 'content-encoding': 'gzip' };

  test('are unpacked', async () => {
    const raw = gzipSync('{"packed":true}');
    assertOk(await client.send('PUT', `${db}/packed`, { raw, headers: gzip }), 201);
    assert.equal((await client.get(`${db}/packed`)).body.packed, true);
  });

  test('that are bombs are 413, at once', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    assert.ok(bomb.length < requestBytesMax);
    const started = performance.now();
    for (let i = 0; i < 5; i++) {
      assertRefused(await client.send('PUT', `${db}/bomb`, { raw: bomb, headers: gzip }), 413);
    }
    assert.ok(performance.now() - started < 2000);
  });

  test('that are broken or packed otherwise are refused', async () => {
    const whole = gzipSync('{"packed":true}');
    for (const raw of ['{}', '', whole.subarray(0, 12), Buffer.concat([whole, Buffer.from('junk')])]) {
      const answer = await client.send('PUT', `${db}/broken`, { raw, headers: gzip });
      assert.ok([201, 400].includes(answer.status), answer.text);
    }
    for (const encoding of ['br', 'deflate', 'x']) {
      const headers = { 'content-encoding': encoding };
      assertRefused(await client.send('PUT', `${db}/broken`, { raw: '{}', headers }), 415);
    }
  });
});
