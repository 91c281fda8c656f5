import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { createServer } from '../../src/server/create-server.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { decodeState, encodeState } from '../../src/shard/shard-state.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { tuffet } from './cli.js';

/** A folder with something of everything, closed. */
const sound = path.join(temporaryFolder(), 'sound');
await serving(sound, fill);

async function serving(dataDir: string, use: (client: HttpClient) => Promise<void>): Promise<void> {
  const config = { chttpd_auth: { iterations: '100' } };
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config,
  });
  await use(new HttpClient(server.url)).finally(() => server.close());
}

async function fill(client: HttpClient): Promise<void> {
  await client.put('/notes?q=2');
  for (let n = 0; n < 30; n++) {
    const { body } = await client.put(`/notes/d${n}`, { n, text: 'x'.repeat(n * 100) });
    if (n % 3 === 0) await client.put(`/notes/d${n}`, { _rev: body.rev, changed: true });
    if (n % 5 === 1) await client.delete(`/notes/d${n}?rev=${body.rev}`);
  }
  const conflicts = ['a', 'b'].map((hash) => ({
    _id: 'twice',
    _rev: `2-${hash}`,
    _revisions: { start: 2, ids: [hash, 'r'] },
  }));
  await client.post('/notes/_bulk_docs', { docs: conflicts, new_edits: false });
  await client.put('/notes/_local/mark', { at: 1 });
  await client.put('/notes/_local/mark', { at: 2, _rev: '0-1' });
  for (const id of ['one', 'two'])
    await client.send('PUT', `/notes/${id}/large`, {
      raw: Buffer.alloc(50_000, 7),
      headers: { 'content-type': 'x/y' },
    });
  await client.send('PUT', '/notes/small/text', { raw: 'little', headers: { 'content-type': 'text/plain' } });
  const purged = await client.put('/notes/purged', { text: randomBytes(2_000).toString('hex') });
  await client.post('/notes/_purge', { purged: [purged.body.rev] });
  await client.post('/notes/_compact', {});
  await client.put('/parts?partitioned=true');
  for (const id of ['a:1', 'a:2', 'b:1']) await client.put(`/parts/${id}`, { id });
  await client.send('PUT', `/notes/${'long'.repeat(600)}`, { json: { long: true } });
  await client.put('/_users/org.couchdb.user:ann', { name: 'ann', password: 'pw', roles: [], type: 'user' });
}

function copyOf(folder: string): string {
  const copy = path.join(temporaryFolder(), 'copy');
  fs.cpSync(folder, copy, { recursive: true });
  return copy;
}

interface Result {
  ok: boolean;
  documents: number;
  findings: { about: string; message: string; repaired: boolean }[];
}

async function check(folder: string, ...options: string[]): Promise<Result> {
  const { code, stdout, stderr } = await tuffet('check', '--data', folder, '--json', ...options);
  assert.equal(stderr, '');
  const result = JSON.parse(stdout) as Result;
  assert.equal(code, result.ok ? 0 : 1);
  return result;
}

/** Changes what is stored of the database `notes` behind the server's back. */
async function tamper(
  folder: string,
  change: (store: LmdbStore, keys: DatabaseKeys) => Promise<void>,
): Promise<void> {
  const keys = await keysOfNotes(folder);
  const store = new LmdbStore(path.join(folder, 'documents/0.1'));
  await change(store, keys).finally(() => store.close());
}

async function keysOfNotes(folder: string): Promise<DatabaseKeys> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  const { instance } = catalogue.get('notes')!;
  await catalogue.close();
  return new DatabaseKeys(instance);
}

test('a folder that a server has left in order is sound', async () => {
  const result = await check(sound);
  assert.deepEqual(result.findings, []);
  assert.ok(result.documents > 35);
});

test('wrong counters, lost changes and left-over bodies are found and repaired', async () => {
  const folder = copyOf(sound);
  await tamper(folder, async (store, keys) => {
    const state = decodeState(store.get(keys.state(0)));
    const [change] = store.keys({ ...keys.changesRange, limit: 1 });
    await store.write([
      { key: keys.state(0), value: encodeState({ ...state, doc_count: 5, external_bytes: 1 }) },
      { key: change!, value: undefined },
      { key: keys.change(1, 9_999), value: store.get(change!) },
      { key: keys.body(1, 8_888), value: asBytes('{}') },
    ]).flushed;
  });
  const found = await check(folder);
  assert.equal(found.ok, false);
  const messages = found.findings.map(({ message }) => message).join('\n');
  assert.match(messages, /doc_count is 5 and should be \d+, external_bytes is 1/);
  assert.match(messages, /changes feed is missing/);
  assert.match(messages, /belongs to no document/);
  assert.match(messages, /body belongs to no revision/);
  const repaired = await check(folder, '--repair');
  assert.equal(repaired.ok, true);
  assert.deepEqual((await check(folder)).findings, []);
  await serving(folder, async (client) => {
    const { body } = await client.get('/notes/_changes');
    const { doc_count, doc_del_count } = (await client.get('/notes')).body as Record<string, number>;
    assert.equal(body.results.length, doc_count! + doc_del_count!);
  });
});

test('damaged documents and attachments are named, and nothing is made up for them', async () => {
  const folder = copyOf(sound);
  await tamper(folder, async (store, keys) => {
    const record = store.get(keys.live(asBytes('d2')))!;
    await store.write([{ key: keys.live(asBytes('d2')), value: record.slice(0, 30) }]).flushed;
  });
  const blobs = fs.readdirSync(path.join(folder, 'attachments'), { recursive: true }) as string[];
  const blob = path.join(
    folder,
    'attachments',
    blobs.find((name) => name.length > 60)!,
  );
  const bytes = fs.readFileSync(blob);
  bytes[100]! ^= 1;
  fs.writeFileSync(blob, bytes);
  const result = await check(folder, '--repair');
  assert.equal(result.ok, false);
  const left = result.findings.filter(({ repaired }) => !repaired);
  assert.deepEqual(left.map(({ about }) => about).sort(), [blob, 'notes/d2'].sort());
});

test('of records with wrong checksums, those that follow from documents are repaired and others are kept', async () => {
  const folder = copyOf(sound);
  const keys = await keysOfNotes(folder);
  const open = (): LmdbStore =>
    new LmdbStore(path.join(folder, 'documents/0.1'), undefined, undefined, { asStored: true });
  const store = open();
  const [change] = [...store.entries({ ...keys.changesRange, limit: 1 })];
  // Of a large one there is a number and a checksum.
  const blob = [...store.entries(keys.blobsRange)].find(({ value }) => value.length > 8);
  const damaged = [change!, blob!].map(({ key, value }) => ({
    key,
    value: asBytes(`${value.slice(0, -1)}?`),
  }));
  await store.write(damaged).flushed;
  await store.close();
  const { ok, findings } = await check(folder, '--repair');
  assert.equal(ok, false);
  const left = findings.filter(({ repaired }) => !repaired).map(({ message }) => message);
  assert.match(left.join(), /The record of an attachment is damaged: its checksum is wrong/);
  assert.ok(findings.some(({ repaired }) => repaired));
  const after = open();
  assert.equal(after.get(change!.key), change!.value);
  assert.equal(after.get(blob!.key), damaged[1]!.value);
  await after.close();
});

test('a store that LMDB could not survive is reported', async () => {
  const folder = copyOf(sound);
  const file = path.join(folder, 'documents/0.1/data.mdb');
  const bytes = fs.readFileSync(file);
  bytes.fill(0xff, 4096 * 2, bytes.length);
  fs.writeFileSync(file, bytes);
  const result = await check(folder);
  assert.equal(result.ok, false);
  assert.ok(result.findings.some(({ about }) => about === file));
});

test('a folder in use is left alone', async () => {
  const folder = copyOf(sound);
  // Other processes know this one by its lock.
  await serving(folder, async () => {
    const { code, stderr } = await tuffet('check', '--data', folder);
    assert.equal(code, 1);
    assert.match(stderr, /in use by process \d+/);
  });
});
