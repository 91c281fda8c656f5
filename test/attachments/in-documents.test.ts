import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { boundaryOf, filenameOf } from '../../src/base/multipart/content-headers.js';
import { readMultipart } from '../../src/base/multipart/multipart-reader.js';
import {
  fileSize,
  getBytes,
  md5,
  noise,
  putBytes,
  sendBytes,
  type BinaryAnswer,
} from './attachment-client.js';

const client = await startServer();
const large = noise(fileSize, 1);
const text = Buffer.from('some text, and again some text. '.repeat(50));
const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');

/** Attachments of every kind, by name: what they hold and their type. */
const contents: Record<string, { bytes: Buffer; type: string }> = {
  empty: { bytes: Buffer.alloc(0), type: 'image/png' },
  emptyText: { bytes: Buffer.alloc(0), type: 'text/plain' },
  large: { bytes: large, type: 'image/png' },
  text: { bytes: text, type: 'text/plain' },
};

const inline = Object.fromEntries(
  Object.entries(contents).map(([name, { bytes, type }]) => [
    name,
    { data: base64(bytes), content_type: type },
  ]),
);

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed JSON, which a test is there to look at */
type Doc = any;

function assertHasAll(doc: Doc): void {
  assert.deepEqual(Object.keys(doc._attachments).sort(), Object.keys(contents));
  for (const [name, { bytes, type }] of Object.entries(contents)) {
    const entry = doc._attachments[name];
    assert.deepEqual(Buffer.from(entry.data as string, 'base64'), bytes, name);
    assert.equal(entry.content_type, type);
    assert.equal(entry.stub, undefined);
  }
}

function assertStubs(doc: Doc): void {
  for (const [name, { bytes }] of Object.entries(contents)) {
    const { stub, length, data } = doc._attachments[name];
    assert.deepEqual([stub, length, data], [true, bytes.length, undefined]);
  }
}

/** The parts of a multipart answer; a part that is multipart itself is a list. */
interface ReadPart {
  name: string | undefined;
  type: string;
  headers: ReadonlyMap<string, string>;
  bytes: Buffer;
}
type Parts = (ReadPart | Parts)[];

async function partsOf(source: AsyncIterable<Buffer>, contentType: string): Promise<Parts> {
  const parts: Parts = [];
  for await (const { headers, body } of readMultipart(source, boundaryOf(contentType))) {
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('multipart/')) {
      parts.push(await partsOf(body, type));
      continue;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(Buffer.from(chunk));
    parts.push({ name: filenameOf(headers), type, headers, bytes: Buffer.concat(chunks) });
  }
  return parts;
}

async function partsIn({ bytes, headers }: BinaryAnswer): Promise<Parts> {
  async function* whole(): AsyncGenerator<Buffer> {
    yield bytes;
  }
  return await partsOf(whole(), headers['content-type']!);
}

/** A document with its attachments behind it, each as it is stored: a replicator compares its bytes with the digest. */
function assertRelated(parts: Parts): void {
  const [document, ...rest] = parts as ReadPart[];
  const doc = JSON.parse(document!.bytes.toString()) as Doc;
  assert.ok(Object.values<Doc>(doc._attachments).every(({ follows }) => follows === true));
  assert.deepEqual(
    rest.map(({ name }) => name),
    Object.keys(doc._attachments),
  );
  for (const { name, type, bytes, headers } of rest) {
    const kept = contents[name!]!;
    const packed = kept.type === 'text/plain';
    const { digest, length, encoding, encoded_length } = doc._attachments[name!];
    assert.equal(type, kept.type);
    assert.equal(digest, `md5-${md5(bytes)}`);
    assert.equal(length, kept.bytes.length);
    assert.equal(headers.get('content-length'), String(bytes.length));
    assert.equal(headers.get('content-encoding'), packed ? 'gzip' : undefined);
    assert.deepEqual([encoding, encoded_length], packed ? ['gzip', bytes.length] : [undefined, undefined]);
    assert.deepEqual(packed ? gunzipSync(bytes) : bytes, kept.bytes);
  }
}

async function saved(): Promise<{ db: string; rev: string }> {
  const db = await newDb(client);
  const { body } = await client.post(`${db}/_bulk_docs`, {
    docs: [{ _id: 'd', n: 1, _attachments: inline }],
  });
  assert.equal(body[0].ok, true);
  return { db, rev: body[0].rev as string };
}

test('attachments come in with _bulk_docs and out of a GET', async () => {
  const { db } = await saved();
  for (const [name, { bytes }] of Object.entries(contents))
    assert.deepEqual((await getBytes(client, `${db}/d/${name}`)).bytes, bytes);
  assertStubs((await client.get(`${db}/d`)).body);
  assertHasAll((await client.get(`${db}/d?attachments=true`)).body);
  const related = await getBytes(client, `${db}/d?attachments=true`, { accept: 'multipart/related' });
  assert.match(related.headers['content-type']!, /^multipart\/related/);
  assert.equal(related.headers['content-length'], String(related.bytes.length));
  assertRelated(await partsIn(related));
});

test('what a document was read as can be written back', async () => {
  const { db, rev } = await saved();
  const { body: doc } = await client.get(`${db}/d?attachments=true`);
  assertOk(await client.put(`${db}/copy`, { ...doc, _id: undefined, _rev: undefined }), 201);
  assertHasAll((await client.get(`${db}/copy?attachments=true`)).body);
  const related = await getBytes(client, `${db}/d?attachments=true&revs=true`, { accept: '*/*' });
  const other = await newDb(client);
  const headers = { 'content-type': related.headers['content-type']! };
  const path = `${other}/d?new_edits=false`;
  const answer = await sendBytes(client, 'PUT', path, { headers, body: related.bytes });
  assert.equal(answer.status, 201, answer.bytes.toString());
  const { body: arrived } = await client.get(`${other}/d?attachments=true`);
  assertHasAll(arrived);
  assert.equal(arrived._rev, rev);
});

test('_bulk_get gives them as JSON and as parts', async () => {
  const { db, rev } = await saved();
  const docs = [{ id: 'd', rev }, { id: 'none' }];
  const stubs = await client.post(`${db}/_bulk_get`, { docs });
  assertStubs(stubs.body.results[0].docs[0].ok);
  const { body } = await client.post(`${db}/_bulk_get?attachments=true`, { docs });
  assertHasAll(body.results[0].docs[0].ok);
  assert.equal(body.results[1].docs[0].error.error, 'not_found');
  const answer = await sendBytes(client, 'POST', `${db}/_bulk_get?attachments=true`, {
    headers: { accept: 'multipart/mixed', 'content-type': 'application/json' },
    body: JSON.stringify({ docs }),
  });
  const [first, second] = await partsIn(answer);
  assertRelated(first as Parts);
  assert.match((second as { type: string }).type, /error="true"/);
});

test('open_revs gives them as JSON and as parts', async () => {
  const { db, rev } = await saved();
  const loser = { _id: 'd', _rev: '1-0', _attachments: { other: { data: base64('loser') } } };
  await client.post(`${db}/_bulk_docs`, { docs: [loser], new_edits: false });
  const { body } = await client.get(`${db}/d?open_revs=all&attachments=true`);
  assert.equal(body.length, 2);
  assertHasAll(body.find(({ ok }: Doc) => ok._rev === rev).ok);
  const path = `${db}/d?open_revs=${encodeURIComponent(JSON.stringify([rev, '7-abc']))}&attachments=true`;
  const [found, missing] = await partsIn(await getBytes(client, path, { accept: 'multipart/mixed' }));
  assertRelated(found as Parts);
  assert.match((missing as { type: string }).type, /error="true"/);
});

test('_all_docs gives them with the documents', async () => {
  const { db } = await saved();
  await client.put(`${db}/e`, { none: true });
  assertStubs((await client.get(`${db}/_all_docs?include_docs=true`)).body.rows[0].doc);
  const { body } = await client.get(`${db}/_all_docs?include_docs=true&attachments=true`);
  assertHasAll(body.rows[0].doc);
  assert.equal(body.rows[1].doc.none, true);
  const info = await client.get(`${db}/_all_docs?include_docs=true&att_encoding_info=true`);
  assert.equal(info.body.rows[0].doc._attachments.text.encoding, 'gzip');
});

test('atts_since leaves out what the client has', async () => {
  const db = await newDb(client);
  const first = await putBytes(client, `${db}/d/old`, 'old');
  const second = await putBytes(client, `${db}/d/new?rev=${first}`, 'new');
  const read = async (since: string[], accept = 'application/json'): Promise<BinaryAnswer> =>
    await getBytes(client, `${db}/d?atts_since=${encodeURIComponent(JSON.stringify(since))}`, { accept });
  const entries = async (since: string[]): Promise<Doc> =>
    (JSON.parse((await read(since)).bytes.toString()) as Doc)._attachments;
  const some = await entries([first]);
  assert.deepEqual([some.old.stub, some.new.data], [true, base64('new')]);
  const none = await entries([second, first]);
  assert.deepEqual([none.old.stub, none.new.stub], [true, true]);
  const all = await entries(['1-0123456789abcdef0123456789abcdef']);
  assert.deepEqual([all.old.data, all.new.data], [base64('old'), base64('new')]);
  const [document, ...rest] = await partsIn(await read([first], 'multipart/related'));
  assert.match((document as { bytes: Buffer }).bytes.toString(), /"follows":true/);
  assert.equal(rest.length, 1);
  const bulk = { docs: [{ id: 'd', rev: second, atts_since: [first] }] };
  const { body } = await client.post(`${db}/_bulk_get?attachments=true`, bulk);
  const { ok } = body.results[0].docs[0];
  assert.deepEqual([ok._attachments.old.stub, ok._attachments.new.data], [true, base64('new')]);
  assert.equal((await client.get(`${db}/d?atts_since=rubbish`)).status, 400);
});

test('att_encoding_info tells what is kept compressed', async () => {
  const { db } = await saved();
  const { body } = await client.get(`${db}/d?att_encoding_info=true`);
  const { encoding, encoded_length } = body._attachments.text;
  assert.equal(encoding, 'gzip');
  assert.ok(encoded_length > 0 && encoded_length < text.length);
  assert.equal(body._attachments.large.encoding, undefined);
});

test('stubs in parts tell their encoding, with and without att_encoding_info', async () => {
  const { db, rev } = await saved();
  const since = `atts_since=${encodeURIComponent(JSON.stringify([rev]))}`;
  const whole = await getBytes(client, `${db}/d?${since}`, { accept: 'multipart/related' });
  const one = JSON.parse(whole.bytes.toString()) as Doc;
  assert.deepEqual([one._attachments.text.stub, one._attachments.text.encoding], [true, 'gzip']);
  const [part] = await partsIn(
    await getBytes(client, `${db}/d?open_revs=all&${since}`, { accept: 'multipart/mixed' }),
  );
  const other = JSON.parse((part as ReadPart).bytes.toString()) as Doc;
  assert.deepEqual([other._attachments.text.stub, other._attachments.text.encoding], [true, 'gzip']);
  const plain = await getBytes(client, `${db}/d?rev=${rev}`);
  assert.equal((JSON.parse(plain.bytes.toString()) as Doc)._attachments.text.encoding, undefined);
});

test('open_revs has empty attachments in the document where no part would have any bytes', async () => {
  const db = await newDb(client);
  const empty = { data: '', content_type: 'image/png' };
  const mixed = { kind: 'mixed', _attachments: { e: empty, f: { ...empty, data: 'aaaa' } } };
  await client.put(`${db}/alone`, { _attachments: { e: empty } });
  await client.put(`${db}/mixed`, mixed);
  const read = async (id: string): Promise<Parts> =>
    await partsIn(await getBytes(client, `${db}/${id}?open_revs=all`, { accept: 'multipart/mixed' }));
  const [alone] = await read('alone');
  const doc = JSON.parse((alone as ReadPart).bytes.toString()) as Doc;
  assert.deepEqual(doc._attachments.e, {
    content_type: 'image/png',
    revpos: 1,
    digest: `md5-${md5('')}`,
    data: '',
  });
  const [parts] = await read('mixed');
  assert.deepEqual(
    (parts as ReadPart[]).slice(1).map(({ bytes }) => bytes.length),
    [0, 3],
  );
});

test('a batched document brings its attachments', async () => {
  const db = await newDb(client);
  assertOk(await client.put(`${db}/d?batch=ok`, { _attachments: inline }), 202);
  await client.post(`${db}/_ensure_full_commit`);
  assertHasAll((await client.get(`${db}/d?attachments=true`)).body);
});
