import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { startServer, temporaryFolder } from '../support/server.js';
import { tuffet } from './cli.js';
import { putConflict } from './conflict.js';

const dataDir = path.join(temporaryFolder(), 'data');
const backups = path.join(temporaryFolder(), 'backups');
const large = randomBytes(100_000);

const client = await startServer({ dataDir });
await fill();

async function fill(): Promise<void> {
  await client.put('/notes');
  await client.put('/notes/first', { n: 1 });
  await putConflict(client, '/notes');
  const { body } = await client.put('/notes/gone', {});
  await client.delete(`/notes/gone?rev=${body.rev}`);
  await client.put('/notes/_local/mark', { at: 7 });
  await client.put('/notes/_security', { members: { names: ['ann'], roles: [] } });
  await client.send('PUT', '/notes/with/large.bin', { raw: large, headers: { 'content-type': 'x/y' } });
  await client.send('PUT', '/notes/small/small.txt', { raw: 'little', headers: { 'content-type': 'x/y' } });
  await client.put('/_node/_local/_config/uuids/max_count', '7');
  await client.put('/_users/org.couchdb.user:ann', { name: 'ann', password: 'pw', roles: [], type: 'user' });
}

/** Writes until it is stopped; gives the ids that were answered before and after the work. */
async function whileWriting(work: () => Promise<void>): Promise<{ early: string[]; all: string[] }> {
  await client.put('/busy');
  const all: string[] = [];
  let stopped = false;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const id = `w${writer}-${n}`;
      const { status } = await client.put(`/busy/${id}`, { n, text: 'x'.repeat(2_000) });
      assert.equal(status, 201);
      all.push(id);
    }
  };
  const writers = [0, 1, 2, 3].map(write);
  while (all.length < 50) await new Promise((resolve) => setTimeout(resolve, 5));
  const early = [...all];
  await work();
  stopped = true;
  await Promise.all(writers);
  return { early, all };
}

const { early } = await whileWriting(async () => {
  const { code, stderr } = await tuffet('backup', '--data', dataDir, '--to', backups);
  assert.equal(code, 0, stderr);
});
const folder = path.join(temporaryFolder(), 'restored');
const outcome = await tuffet('restore', '--from', backups, '--data', folder);
assert.equal(outcome.code, 0, outcome.stderr);
const checked = await tuffet('check', '--data', folder);
assert.equal(checked.code, 0, checked.stdout);
const restored = await startServer({ dataDir: folder });

describe('a backup taken while others write', () => {
  test('holds every document that was answered before it began', async () => {
    const { body } = await restored.get('/busy/_all_docs');
    const ids = new Set((body.rows as { id: string }[]).map(({ id }) => id));
    assert.deepEqual(
      early.filter((id) => !ids.has(id)),
      [],
    );
    assert.equal((await restored.get('/busy')).body.doc_count, ids.size);
    const changes = await restored.get('/busy/_changes');
    assert.equal(changes.body.results.length, ids.size);
  });

  test('holds revisions, conflicts, deletions, local documents and the security object', async () => {
    for (const path of [
      '/notes/first?revs=true',
      '/notes/twice?conflicts=true&revs=true',
      '/notes/_local/mark',
      '/notes/_security',
      '/notes/_all_docs?include_docs=true',
      '/notes/_changes?style=all_docs',
      '/_users/org.couchdb.user:ann',
    ])
      assert.equal((await restored.get(path)).text, (await client.get(path)).text, path);
  });

  test('holds attachments, large and small', async () => {
    const answer = await fetch(`${restored.url}/notes/with/large.bin`, {
      headers: { authorization: `Basic ${btoa('admin:secret')}` },
    });
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(large));
    assert.equal((await restored.get('/notes/small/small.txt')).text, 'little');
  });

  test('holds the configuration that the API has set, and the id of the server', async () => {
    assert.equal((await restored.get('/_node/_local/_config/uuids/max_count')).body, '7');
    assert.equal((await restored.get('/')).body.uuid, (await client.get('/')).body.uuid);
  });
});

test('a second backup shares what has not changed, and --keep removes older ones', async () => {
  const to = path.join(temporaryFolder(), 'kept');
  const first = await tuffet('backup', '--data', dataDir, '--to', to, '--json');
  const second = await tuffet('backup', '--data', dataDir, '--to', to, '--json', '--keep', '1');
  const [made, again] = [first, second].map(
    ({ stdout }) => JSON.parse(stdout) as Record<string, number & string>,
  );
  assert.equal(made!['shared_bytes'], 0);
  assert.ok(again!['shared_bytes']! > 0.9 * (again!['bytes']! - 70_000), second.stdout);
  assert.deepEqual(fs.readdirSync(to), [path.basename(again!['folder']!)]);
  assert.equal((await tuffet('restore', '--from', to, '--verify')).code, 0);
});

test('a changed byte in a backup is found before anything is restored', async () => {
  const to = path.join(temporaryFolder(), 'damaged');
  const { stdout } = await tuffet('backup', '--data', dataDir, '--to', to, '--json');
  const { folder } = JSON.parse(stdout) as { folder: string };
  for (const file of ['documents/0.1/data.mdb', 'config-api.ini', blobIn(folder)]) {
    const full = path.join(folder, file);
    const bytes = fs.readFileSync(full);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 20]! ^= 1;
    fs.writeFileSync(full, flipped);
    const target = path.join(temporaryFolder(), 'target');
    const { code, stderr } = await tuffet('restore', '--from', to, '--data', target);
    assert.equal(code, 1);
    assert.match(stderr, /^The backup is damaged: \S+ has changed since it was made\.\n$/);
    assert.equal(fs.existsSync(target), false);
    fs.writeFileSync(full, bytes);
  }
});

function blobIn(folder: string): string {
  const names = fs.readdirSync(path.join(folder, 'attachments'), { recursive: true }) as string[];
  return path.join(
    'attachments',
    names.find((name) => name.length > 60)!,
  );
}

test('wrong uses are pointed out and change nothing', async () => {
  const empty = temporaryFolder();
  const wrong: [string[], RegExp][] = [
    [['backup'], /--to is missing/],
    [['backup', '--to', empty, '--keep', '0'], /--keep can't be "0"/],
    [['backup', '--to', empty, '--data', empty], /no data folder/],
    [['restore', '--from', empty, '--data', path.join(empty, 'x')], /There is no backup of all databases in/],
    [['restore', '--from', backups, '--data', dataDir], /is not empty/],
    [['restore', '--form', 'x'], /'--form'/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await tuffet(...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, message);
  }
  assert.deepEqual(fs.readdirSync(empty), []);
  const [backup] = fs.readdirSync(backups);
  const { code, stderr } = await tuffet(
    '--data',
    path.join(backups, backup!),
    '--admin',
    'a:b',
    '--port',
    '0',
  );
  assert.equal(code, 1);
  assert.match(stderr, /is a backup.*tuffet restore/);
});
