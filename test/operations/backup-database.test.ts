import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { CheckFinding } from '../../src/operations/check/finding.js';
import { checkFolder } from '../../src/operations/check/folder-check.js';
import { restoreDatabase } from '../../src/operations/restore-database.js';
import { restore } from '../../src/operations/restore.js';
import { startServer, temporaryFolder } from '../support/server.js';
import type { HttpClient } from '../support/http-client.js';
import { tuffet } from './cli.js';
import { putConflict } from './conflict.js';

const dataDir = path.join(temporaryFolder(), 'data');
const backups = path.join(temporaryFolder(), 'backups');
const noProgress = { begin: () => {}, advance: () => {} };
const large = randomBytes(100_000);
const client = await startServer({ dataDir });
await fill();

async function fill(): Promise<void> {
  await client.put('/other');
  await client.put('/other/doc', { other: true });
  await client.put('/notes?q=4');
  const docs = Array.from({ length: 200 }, (_, n) => ({ _id: `d${n}`, text: 'x'.repeat(n * 20) }));
  await client.post('/notes/_bulk_docs', { docs });
  await putConflict(client, '/notes');
  const { body } = await client.put('/notes/gone', {});
  await client.delete(`/notes/gone?rev=${body.rev}`);
  const purged = await client.put('/notes/purged', {});
  await client.post('/notes/_purge', { purged: [purged.body.rev] });
  await client.put('/notes/_local/mark', { at: 7 });
  await client.put('/notes/_security', { members: { names: ['ann'], roles: [] } });
  await client.put('/notes/_revs_limit', 77);
  await client.put('/notes/_expiry', { field: 'until' });
  const headers = { 'content-type': 'x/y' };
  for (const db of ['notes', 'other'])
    await client.send('PUT', `/${db}/with/large.bin`, { raw: large, headers });
  await client.send('PUT', '/notes/small/small.txt', { raw: 'little', headers });
  await client.send('PUT', '/notes/empty/empty.txt', { raw: '', headers });
  await client.put('/parts?partitioned=true&q=3');
  for (const id of ['a:1', 'a:2', 'b:1']) await client.put(`/parts/${id}`, { id });
}

/** What both must answer alike. */
const compared = [
  '/twice?conflicts=true&revs=true',
  '/gone?revs=true&rev=all',
  '/_local/mark',
  '/_security',
  '/_revs_limit',
  '/_expiry',
  '/_all_docs?include_docs=true&conflicts=true',
  '/_purged_infos',
  '/small/small.txt',
  '/with/large.bin',
  '/empty/empty.txt',
];

async function assertSame(restored: HttpClient, name: string): Promise<void> {
  for (const at of compared)
    assert.equal((await restored.get(`/${name}${at}`)).text, (await client.get(`/notes${at}`)).text, at);
  const [now, then] = [(await restored.get(`/${name}`)).body, (await client.get('/notes')).body];
  for (const member of ['doc_count', 'doc_del_count', 'cluster', 'props', 'sizes.external'])
    assert.deepEqual(now[member], then[member], member);
  const ids = async (from: HttpClient, db: string): Promise<string[]> =>
    ((await from.get(`/${db}/_changes?style=all_docs`)).body.results as { id: string }[])
      .map((row) => JSON.stringify({ ...row, seq: undefined }))
      .sort();
  assert.deepEqual(await ids(restored, name), await ids(client, 'notes'));
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tuffet(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

interface Made {
  folder: string;
  shared_bytes: number;
  removed: string[];
}

const backUp = async (...options: string[]): Promise<Made> =>
  JSON.parse(await run('backup', '--data', dataDir, '--to', backups, '--json', ...options)) as Made;

async function restoreOne(from: string, folder: string, database: string, as = database): Promise<void> {
  const { problems } = await restoreDatabase({ from, dataDir: folder, database, as, progress: noProgress });
  assert.deepEqual(problems, []);
}

async function assertSound(folder: string): Promise<void> {
  const found: CheckFinding[] = [];
  await checkFolder(folder, false, { at: () => {}, found: (finding) => found.push(finding) });
  assert.deepEqual(found, []);
}

test('a backup of one database, taken while it is written to, has all that was answered before', async () => {
  let stopped = false;
  let written = 0;
  const writer = (async () => {
    for (; !stopped; written++) await client.put(`/parts/w:${written}`, { text: 'y'.repeat(3_000) });
  })();
  while (written < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  const early = written;
  await backUp('--db', 'parts');
  stopped = true;
  await writer;
  const folder = path.join(temporaryFolder(), 'restored');
  await run('restore', '--from', backups, '--data', folder, '--db', 'parts', '--as', 'again');
  await assertSound(folder);
  const restored = await startServer({ dataDir: folder });
  const { body } = await restored.get('/again/_partition/w/_all_docs');
  assert.ok(body.rows.length >= early, `${body.rows.length} of ${early}`);
  assert.equal((await restored.get('/again')).body.props.partitioned, true);
  assert.equal((await restored.get('/again/_partition/a')).body.doc_count, 2);
  assert.equal((await restored.get('/again')).body.cluster.q, 3);
});

test('a database is restored beside others, under another name, and then written to', async () => {
  const whole = await backUp();
  const { folder } = await backUp('--db', 'notes');
  const all = path.join(temporaryFolder(), 'all');
  // The newest of all databases, not of one.
  const { backup } = await restore({ from: backups, dataDir: all, progress: noProgress });
  assert.equal(backup, whole.folder);
  await restoreOne(folder, all, 'notes', 'copy');
  await restoreOne(whole.folder, all, 'other', 'other-copy');
  await assertSound(all);
  await assert.rejects(restoreOne(folder, all, 'notes'), /has a database notes already/);
  const restored = await startServer({ dataDir: all });
  await assertSame(restored, 'notes');
  await assertSame(restored, 'copy');
  assert.equal((await restored.get('/other-copy/doc')).body.other, true);
  assert.equal((await restored.put('/copy/more', {})).status, 201);
  // The same attachment belongs to several databases; it stays for the others.
  for (const name of ['notes', 'other']) assert.equal((await restored.delete(`/${name}`)).status, 200);
  assert.equal((await restored.get('/copy/with/large.bin')).status, 200);
  assert.equal((await restored.get('/other-copy/with/large.bin')).status, 200);
});

test('a backup of one database is a data folder of its own, --keep counts those, and they share attachments', async () => {
  const before = fs.readdirSync(backups).length;
  const { folder, removed, shared_bytes } = await backUp('--db', 'notes', '--keep', '1');
  assert.equal(removed.length, 1);
  assert.equal(shared_bytes, large.length);
  assert.equal(fs.readdirSync(backups).length, before);
  const alone = path.join(temporaryFolder(), 'alone');
  await restore({ from: folder, dataDir: alone, progress: noProgress });
  await assertSound(alone);
  const restored = await startServer({ dataDir: alone });
  await assertSame(restored, 'notes');
  assert.equal((await restored.get('/other')).status, 404);
});

test('a damaged attachment that is there already is replaced by that of the backup', async () => {
  const { folder } = await backUp('--db', 'notes');
  const target = path.join(temporaryFolder(), 'damaged');
  await restoreOne(folder, target, 'notes');
  const digest = createHash('sha256').update(large).digest('hex');
  const file = path.join(target, 'attachments', digest.slice(0, 2), digest.slice(2));
  const damaged = Buffer.from(large);
  damaged[7]! ^= 1;
  fs.writeFileSync(file, damaged);
  await restoreOne(folder, target, 'notes', 'again');
  assert.ok(fs.readFileSync(file).equals(large));
  await assertSound(target);
});

test('a damaged backup and wrong names change nothing', async () => {
  const { folder } = await backUp('--db', 'notes');
  const target = path.join(temporaryFolder(), 'target');
  await assert.rejects(restoreOne(folder, target, 'other'), /has no database other/);
  await assert.rejects(restoreOne(folder, target, 'notes', 'Notes'), /"Notes" can't be the name/);
  await assert.rejects(restoreOne(temporaryFolder(), target, 'notes'), /There is no backup of notes/);
  const wrong: [string[], RegExp][] = [
    [['backup', '--data', dataDir, '--to', backups, '--db', 'nothing'], /has no database nothing/],
    [['restore', '--from', folder, '--data', target, '--as', 'notes'], /--as needs --db/],
    [['restore', '--from', folder, '--data', dataDir, '--db', 'notes'], /is in use by another server/],
  ];
  const before = fs.readdirSync(backups);
  for (const [args, message] of wrong) {
    const { code, stderr } = await tuffet(...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, message);
  }
  assert.deepEqual(fs.readdirSync(backups), before);
  const file = path.join(folder, 'documents/0.1/data.mdb');
  const bytes = fs.readFileSync(file);
  bytes[bytes.length - 20]! ^= 1;
  fs.writeFileSync(file, bytes);
  await assert.rejects(restoreOne(folder, target, 'notes'), /The backup is damaged: \S+ has changed since/);
  assert.equal(fs.existsSync(`${target}.restoring`), false);
});
