import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { tables } from '../../src/shard/keys.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { withServer } from './data-folder.js';

const folder = temporaryFolder();
const client = await startServer({ dataDir: folder, config: { replicator: { retries_per_request: '1' } } });
assertOk(await client.put('/d'), 201);
let documents = 0;

const fileOf = (bytes: Buffer): string => {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return path.join(folder, 'attachments', digest.slice(0, 2), digest.slice(2));
};

/** A document with an attachment `a` that is kept as a file, to which `harm` is done. */
async function harmed(length: number, harm: (file: string) => void): Promise<{ doc: string; bytes: Buffer }> {
  const doc = `doc${++documents}`;
  const bytes = randomBytes(length);
  await upload(client, doc, bytes);
  harm(fileOf(bytes));
  return { doc, bytes };
}

async function upload(to: HttpClient, doc: string, raw: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' };
  assertOk(await to.send('PUT', `/d/${doc}/a`, { raw, headers }), 201);
}

/** The error says which attachment of which document in which database is concerned. */
function assertNamesDamage(answer: Answer, doc: string): void {
  assertRefused(answer, 500, 'damaged_attachment');
  assert.match(answer.body.reason as string, new RegExp(`attachment a .*document ${doc} .*database d `));
}

const harms: Record<string, (file: string) => void> = {
  'too short': (file) => fs.truncateSync(file, 10),
  empty: (file) => fs.truncateSync(file, 0),
  'too long': (file) => fs.appendFileSync(file, 'x'),
  gone: (file) => fs.rmSync(file),
  changed: (file) => flip(file, 1_000),
};

function flip(file: string, at: number): void {
  const bytes = fs.readFileSync(file);
  bytes[at]! ^= 1;
  fs.writeFileSync(file, bytes);
}

for (const [what, harm] of Object.entries(harms)) {
  describe(`an attachment whose file is ${what}`, async () => {
    const { doc, bytes } = await harmed(100_000, harm);

    test('is answered by an error that names it', async () => {
      assertNamesDamage(await client.get(`/d/${doc}/a`), doc);
      assertNamesDamage(await client.get(`/d/${doc}/a`, { range: 'bytes=1-5' }), doc);
      assertNamesDamage(await client.get(`/d/${doc}/a`, { range: 'bytes=1-5,7-9' }), doc);
    });

    test('with its document too, inline and as multipart', async () => {
      assertNamesDamage(await client.get(`/d/${doc}?attachments=true`, { accept: 'application/json' }), doc);
      assertNamesDamage(await client.get(`/d/${doc}?attachments=true`, { accept: 'multipart/related' }), doc);
      assertOk(await client.get(`/d/${doc}`), 200);
    });

    test('costs _bulk_get one entry', async () => {
      const answer = await client.post('/d/_bulk_get?attachments=true', {
        docs: [{ id: doc }, { id: 'none' }],
      });
      assertOk(answer, 200);
      const { error } = answer.body.results[0].docs[0] as { error: { error: string; id: string } };
      assert.deepEqual([error.error, error.id], ['damaged_attachment', doc]);
      assert.equal(answer.body.results.length, 2);
    });

    test('is not replicated, and the replication says so', async () => {
      const target = `target-${doc}`;
      const answer = await client.post('/_replicate', {
        source: 'd',
        target,
        create_target: true,
        doc_ids: [doc],
      });
      assert.equal(answer.status, 500, answer.text);
      assert.match(answer.text, new RegExp(`attachment a .*document ${doc} .*database d .*damaged`));
      assertRefused(await client.get(`/${target}/${doc}`), 404);
    });

    test('is sound again when the same bytes are uploaded', async () => {
      await upload(client, `${doc}-again`, bytes);
      assertOk(await client.get(`/d/${doc}/a`), 200);
    });
  });
}

test('a change that comes after a file was read and found sound is seen', async () => {
  const { doc, bytes } = await harmed(100_000, () => {});
  assertOk(await client.get(`/d/${doc}/a`), 200);
  assertOk(await client.get(`/d/${doc}/a`), 200);
  flip(fileOf(bytes), 99_999);
  assertNamesDamage(await client.get(`/d/${doc}/a`), doc);
});

test('a large attachment that is damaged is never sent to its end', async () => {
  const { doc } = await harmed(1_500_000, (file) => flip(file, 1_000_000));
  await assert.rejects(client.get(`/d/${doc}/a`), /aborted|socket hang up|ECONNRESET/);
  await assert.rejects(client.get(`/d/${doc}?attachments=true`), /aborted|socket hang up|ECONNRESET/);
  const short = await harmed(1_500_000, (file) => fs.truncateSync(file, 1_000_000));
  assertNamesDamage(await client.get(`/d/${short.doc}/a`), short.doc);
});

test('a compressed attachment that is damaged is answered by an error, however it is asked for', async () => {
  const doc = 'text';
  const raw = randomBytes(100_000).toString('hex');
  assertOk(await client.send('PUT', `/d/${doc}/a`, { raw, headers: { 'content-type': 'text/plain' } }), 201);
  const files = fs.readdirSync(path.join(folder, 'attachments'), { recursive: true }) as string[];
  const sizes = files.map((name) => path.join(folder, 'attachments', name));
  const newest = sizes
    .filter((file) => fs.statSync(file).isFile())
    .sort((a, b) => fs.statSync(a).ctimeMs - fs.statSync(b).ctimeMs)
    .at(-1)!;
  flip(newest, 20_000);
  for (const encoding of ['gzip', 'identity'])
    assertNamesDamage(await client.get(`/d/${doc}/a`, { 'accept-encoding': encoding }), doc);
  assertNamesDamage(await client.get(`/d/${doc}/a`, { range: 'bytes=0-9' }), doc);
});

describe('an attachment that is kept among the documents', () => {
  const bytes = randomBytes(1_000);
  const digest = createHash('sha256').update(bytes).digest('latin1');
  const keyIn = (store: LmdbStore): string =>
    [...store.keys({ start: asBytes('\0\0\0\0\x01'), end: asBytes('\xff') })].find(
      (key) => key.charCodeAt(5) === tables.blobs && key.endsWith(digest),
    )!;

  /** A folder with a document `x` that has it, and the store of the documents changed by `harm`. */
  async function stored(harm: (store: LmdbStore) => Promise<void>): Promise<string> {
    const dataDir = temporaryFolder();
    await withServer(dataDir, async (to) => {
      assertOk(await to.put('/d'), 201);
      await upload(to, 'x', bytes);
      assertOk(await to.get('/d/x/a'), 200);
    });
    const store = new LmdbStore(path.join(dataDir, 'documents/0.1'));
    await harm(store);
    await store.close();
    return dataDir;
  }

  test('and was changed there is answered by an error that names it', async () => {
    const dataDir = await stored(async (store) => {
      const key = asBytes(keyIn(store));
      const value = store.get(key)!;
      await store.write([{ key, value: asBytes(value.slice(0, -1) + (value.endsWith('x') ? 'y' : 'x')) }])
        .flushed;
    });
    await withServer(dataDir, async (to) => {
      assertNamesDamage(await to.get('/d/x/a'), 'x');
      assertNamesDamage(await to.get('/d/x?attachments=true', { accept: 'application/json' }), 'x');
    });
  });

  test('and was lost there is answered by an error that names it, and a write that keeps it by 412', async () => {
    const dataDir = await stored(
      (store) => store.write([{ key: asBytes(keyIn(store)), value: undefined }]).flushed,
    );
    await withServer(dataDir, async (to) => {
      assertNamesDamage(await to.get('/d/x/a'), 'x');
      const { body } = await to.get('/d/x');
      const refused = await to.put('/d/x', body);
      assertRefused(refused, 412, 'missing_stub');
      assert.match(refused.body.reason as string, /\bx\b.*\ba$/);
      assertOk(await to.put('/d/x', { _rev: body._rev as string }), 201);
    });
  });
});
