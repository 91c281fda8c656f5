import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/operations/backup.js';
import type { Manifest } from '../../src/operations/manifest.js';
import { restore } from '../../src/operations/restore.js';
import { createServer } from '../../src/server/create-server.js';
import { lastTransaction } from '../../src/storage/lmdb-file.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

const noProgress = { begin: () => {}, advance: () => {} };
const dataDir = path.join(temporaryFolder(), 'data');
await serving(dataDir, async (client) => {
  await client.put('/d');
  const docs = Array.from({ length: 500 }, (_, n) => ({ _id: `doc${n}`, text: 'x'.repeat(1_000) }));
  await client.post('/d/_bulk_docs', { docs });
});

async function serving(folder: string, use: (client: HttpClient) => Promise<void>): Promise<void> {
  const config = { chttpd_auth: { iterations: '10', min_iterations: '10' } };
  const server = await createServer({
    dataDir: folder,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config,
  });
  await use(new HttpClient(server.url)).finally(() => server.close());
}

/** Writes the manifest as earlier versions did. */
function toFormat1(folder: string): void {
  const file = path.join(folder, 'backup.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest;
  manifest.format = 1;
  for (const [name, entry] of Object.entries(manifest.files)) {
    delete entry.gmac;
    const bytes = fs.readFileSync(path.join(folder, name));
    entry.sha256 = createHash('sha256').update(bytes).digest('hex');
  }
  fs.writeFileSync(file, JSON.stringify(manifest));
}

test('backups of the first format are restored, verified and shared by later ones', async () => {
  const to = temporaryFolder();
  const first = await backUp({ dataDir, to, progress: noProgress });
  toFormat1(first.folder);
  const second = await backUp({ dataDir, to, progress: noProgress });
  const volume = second.manifest.files['documents/0.1/data.mdb']!;
  assert.equal(typeof volume.sha256, 'string');
  assert.equal(second.sharedBytes, volume.bytes);
  for (const { folder } of [first, second]) {
    const restored = path.join(temporaryFolder(), 'restored');
    await restore({ from: folder, dataDir: restored, progress: noProgress });
    await serving(restored, async (client) => {
      assert.equal((await client.get('/d')).body.doc_count, 500);
    });
  }
  const damaged = path.join(first.folder, 'documents/0.1/data.mdb');
  const bytes = fs.readFileSync(damaged);
  bytes[bytes.length - 100]! ^= 1;
  fs.writeFileSync(damaged, bytes);
  await assert.rejects(
    restore({ from: first.folder, progress: noProgress }),
    /has changed since it was made/,
  );
});

test('a backup of a restored folder takes nothing from backups of what was written before the restore', async () => {
  const to = temporaryFolder();
  const folder = path.join(temporaryFolder(), 'data');
  fs.cpSync(dataDir, folder, { recursive: true });
  const early = await backUp({ dataDir: folder, to, progress: noProgress });
  await serving(folder, async (client) => {
    await client.put('/d/abandoned', {});
  });
  const late = await backUp({ dataDir: folder, to, progress: noProgress });
  const restored = path.join(temporaryFolder(), 'restored');
  await restore({ from: early.folder, dataDir: restored, progress: noProgress });
  await serving(restored, async (client) => {
    await client.put('/d/written', {});
  });
  // As many transactions as in the abandoned folder: whether that happens by itself depends on work in the background.
  const volume = 'documents/0.1/data.mdb';
  late.manifest.files[volume]!.source!.transaction = lastTransaction(path.join(restored, volume))!;
  fs.writeFileSync(path.join(late.folder, 'backup.json'), JSON.stringify(late.manifest));
  const next = await backUp({ dataDir: restored, to, progress: noProgress });
  const again = path.join(temporaryFolder(), 'again');
  await restore({ from: next.folder, dataDir: again, progress: noProgress });
  await serving(again, async (client) => {
    assert.equal((await client.get('/d/written')).status, 200);
    assert.equal((await client.get('/d/abandoned')).status, 404);
  });
  const unchanged = await backUp({ dataDir: restored, to, progress: noProgress });
  assert.equal(unchanged.sharedBytes, unchanged.manifest.files[volume]!.bytes);
});

test('a volume that is mostly free is compacted by its backup', async () => {
  const folder = path.join(temporaryFolder(), 'data');
  fs.cpSync(dataDir, folder, { recursive: true });
  await serving(folder, async (client) => {
    await client.put('/_node/_local/_config/tuffet/auto_compaction', 'false');
    await client.put('/large');
    const docs = Array.from({ length: 300 }, (_, n) => ({ _id: `doc${n}`, text: 'y'.repeat(50_000) }));
    await client.post('/large/_bulk_docs', { docs });
    await client.delete('/large');
  });
  // The keys of a deleted database are removed in the background, at the latest after the next start.
  const file = path.join(folder, 'documents/0.1/data.mdb');
  const { manifest, folder: backup } = await backUp({
    dataDir: folder,
    to: temporaryFolder(),
    progress: noProgress,
  });
  const { bytes } = manifest.files['documents/0.1/data.mdb'] ?? { bytes: Infinity };
  assert.ok(bytes < fs.statSync(file).size, `${bytes} of ${fs.statSync(file).size}`);
  await restore({ from: backup, progress: noProgress });
});

test('a backup that overlaps an upgrade of the folder is refused', async () => {
  const folder = path.join(temporaryFolder(), 'data');
  fs.cpSync(dataDir, folder, { recursive: true });
  const file = path.join(folder, 'tuffet.json');
  const identity = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
  const to = temporaryFolder();
  const write = (changed: object): void =>
    fs.writeFileSync(file, JSON.stringify({ ...identity, ...changed }));
  const upgradeAt =
    (part: RegExp, changed: object): ((what: string) => void) =>
    (what) => {
      if (part.test(what)) write(changed);
    };
  write({ format: 3 });
  const raised = { begin: upgradeAt(/documents/, {}), advance: () => {} };
  await assert.rejects(backUp({ dataDir: folder, to, progress: raised }), /is being upgraded/);
  const adding = { begin: upgradeAt(/documents/, { adding_checksums: true }), advance: () => {} };
  await assert.rejects(backUp({ dataDir: folder, to, progress: adding }), /is being upgraded/);
  await assert.rejects(backUp({ dataDir: folder, to, progress: noProgress }), /is being upgraded/);
  assert.deepEqual(fs.readdirSync(to), []);
});
