import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startServer, temporaryFolder } from '../support/server.js';
import { tuffet } from './cli.js';
import { putConflict } from './conflict.js';

const dataDir = path.join(temporaryFolder(), 'data');
const backups = path.join(temporaryFolder(), 'backups');
const client = await startServer({ dataDir, config: { tuffet: { expiry_interval_seconds: '86400' } } });
const to = client.urlWithCredentials;
const large = randomBytes(200_000);
/** Where the command keeps its files. */
const temporary = temporaryFolder();
process.env['TMPDIR'] = temporary;

await client.put('/notes?q=3');
await client.post('/notes/_bulk_docs', {
  docs: Array.from({ length: 50 }, (_, n) => ({ _id: `d${n}`, n })),
});
await putConflict(client, '/notes');
await client.send('PUT', '/notes/with/large.bin', { raw: large, headers: { 'content-type': 'x/y' } });
await client.put('/notes/_local/mark', { at: 7 });
await client.put('/notes/_security', { members: { names: ['ann'], roles: [] } });
await client.put('/notes/past', { until: '2001-01-01' });
await client.put('/notes/_expiry', { field: 'until' });
await client.put('/jobs%2F_replicator');
const made = await tuffet('backup', '--data', dataDir, '--to', backups);
assert.equal(made.code, 0, made.stderr);

const restoreTo = (...args: string[]): ReturnType<typeof tuffet> =>
  tuffet('restore', '--from', backups, '--to', to, ...args);

test('a database of a backup is restored to a running server, under another name', async () => {
  await client.delete('/notes/d1?rev=' + (await client.get('/notes/d1')).body._rev);
  const { code, stdout, stderr } = await restoreTo('--db', 'notes', '--as', 'notes-restored');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /is restored to \S+ as notes-restored: 54 documents, 0 deleted, verified\.\n$/);
  assert.equal((await client.get('/notes/d1')).status, 404);
  assert.equal((await client.get('/notes-restored/d1')).body.n, 1);
  for (const at of ['/twice?conflicts=true&revs=true', '/_security', '/_expiry', '/with?attachments=true'])
    assert.equal((await client.get(`/notes-restored${at}`)).text, (await client.get(`/notes${at}`)).text, at);
  assert.equal((await client.get('/notes-restored/_local/mark')).body.at, 7);
  assert.equal((await client.get('/notes-restored')).body.cluster.q, 3);
  assert.deepEqual(fs.readdirSync(temporary), []);
});

test('a name that is taken, a wrong password and an unknown database change nothing', async () => {
  const before = (await client.get('/_all_dbs')).text;
  const wrong = to.replace(':secret@', ':wrong@');
  const cases: [string[], RegExp][] = [
    [['--to', to, '--db', 'notes'], /has a database notes already\. Choose another name with --as/],
    [['--to', to, '--db', 'none'], /has no database none/],
    [['--to', to, '--db', 'notes', '--as', 'Notes'], /"Notes" can't be the name of a database/],
    [['--to', to, '--db', 'jobs/_replicator', '--as', 'j/_replicator'], /would start at once/],
    [['--to', wrong, '--db', 'notes', '--as', 'x'], /was answered 401/],
    [['--to', 'http://127.0.0.1:1', '--db', 'notes', '--as', 'x'], /can't be reached/],
    [['--to', to], /--to needs --db/],
    [['--to', to, '--db', 'notes', '--data', dataDir], /--to needs --db, and neither --data/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await tuffet('restore', '--from', backups, ...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, message);
  }
  assert.equal((await client.get('/_all_dbs')).text, before);
});

test('restoring to the folder of a running server is refused with what to do instead', async () => {
  const { code, stderr } = await tuffet('restore', '--from', backups, '--data', dataDir, '--db', 'notes');
  assert.equal(code, 1);
  assert.match(stderr, /is in use by another server.*--to URL/s);
});

test('a backup that is not whole is not sent, and the reason is told', async () => {
  const [name] = fs.readdirSync(backups);
  const attachments = path.join(backups, name!, 'attachments');
  for (const file of fs.readdirSync(attachments, { recursive: true, encoding: 'utf8' })) {
    const whole = path.join(attachments, file);
    if (fs.statSync(whole).isFile()) fs.writeFileSync(whole, Buffer.alloc(large.length));
  }
  const { code, stderr } = await restoreTo('--db', 'notes', '--as', 'broken');
  assert.equal(code, 1);
  assert.match(stderr, /The backup is not whole, so nothing was sent.*attachment/s);
  assert.equal((await client.get('/broken')).status, 404);
});
