import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { copyOf, documentCount, filledFolder, withServer } from '../faults/data-folder.js';
import { asFormatThree } from './old-folder.js';

const filled = await filledFolder();
const stores = ['catalogue', 'documents/0.1', 'indexes/1'];

async function oldFolder(): Promise<string> {
  const folder = copyOf(filled);
  await asFormatThree(folder);
  return folder;
}

const identityOf = (folder: string): Record<string, unknown> =>
  JSON.parse(fs.readFileSync(path.join(folder, 'tuffet.json'), 'utf8')) as Record<string, unknown>;

async function assertServed(folder: string): Promise<void> {
  await withServer(folder, async (client) => {
    const { rows } = (await client.get('/d/_all_docs?include_docs=true')).body;
    assert.equal(rows.length, documentCount + 2);
    assert.ok(
      rows.every(
        ({ id, doc }: { id: string; doc: { n: number } }) => !/^doc/.test(id) || id === `doc${doc.n}`,
      ),
    );
    assert.equal((await client.get('/d/_design/v/_view/v')).body.rows[0].value, documentCount);
    assert.equal((await client.put('/d/more', {})).status, 201);
  });
  const { format, adding_checksums } = identityOf(folder);
  assert.deepEqual([format, adding_checksums], [5, undefined]);
  for (const name of stores) {
    const store = new LmdbStore(path.join(folder, name));
    assert.ok(store.hasChecksums, name);
    await store.close();
  }
}

test('the records of a folder of format 3 get checksums when it is opened', async () => {
  const folder = await oldFolder();
  await assertServed(folder);
});

test('a folder of format 4 is marked as 5 when it is opened, and its stores are kept', async () => {
  const folder = copyOf(filled);
  fs.writeFileSync(path.join(folder, 'tuffet.json'), JSON.stringify({ ...identityOf(folder), format: 4 }));
  await assertServed(folder);
});

test('an upgrade that was cut short between two stores goes on', async () => {
  const folder = await oldFolder();
  const plain = copyOf(folder);
  await assertServed(folder);
  // One store is done, the others are as they were.
  fs.cpSync(path.join(folder, 'catalogue'), path.join(plain, 'catalogue'), { recursive: true });
  const identity = { ...identityOf(plain), format: 4, adding_checksums: true };
  fs.writeFileSync(path.join(plain, 'tuffet.json'), JSON.stringify(identity));
  await assertServed(plain);
});

test('a folder that says by mistake that it is of an earlier format keeps its checksums as they are', async () => {
  const folder = copyOf(filled);
  fs.writeFileSync(path.join(folder, 'tuffet.json'), JSON.stringify({ ...identityOf(folder), format: 2 }));
  await assertServed(folder);
});

test('a volume without checksums in a folder that has them is not served', async () => {
  const old = await oldFolder();
  const folder = copyOf(filled);
  fs.cpSync(path.join(old, 'documents'), path.join(folder, 'documents'), { recursive: true });
  await assert.rejects(assertServed(folder), /0\.1 does not say that its records have checksums/);
});

test('an index without checksums is built anew', async () => {
  const old = await oldFolder();
  const folder = copyOf(filled);
  fs.cpSync(path.join(old, 'indexes'), path.join(folder, 'indexes'), { recursive: true });
  await assertServed(folder);
});

test('an upgrade that lacks a volume goes on when the volume is there', async () => {
  const folder = await oldFolder();
  const away = path.join(folder, '..', `${path.basename(folder)}-away`);
  fs.renameSync(path.join(folder, 'documents/0.1'), away);
  await assert.rejects(assertServed(folder), /0\.1.* is missing/s);
  fs.renameSync(away, path.join(folder, 'documents/0.1'));
  await assertServed(folder);
});

test('a folder whose documents have damaged pages is not upgraded', async () => {
  const folder = await oldFolder();
  const file = path.join(folder, 'documents/0.1/data.mdb');
  const bytes = fs.readFileSync(file);
  bytes.fill(0xff, 4096 * 2);
  fs.writeFileSync(file, bytes);
  const before = fs.readFileSync(path.join(folder, 'catalogue/data.mdb'));
  await assert.rejects(assertServed(folder), /can't be upgraded: .*data\.mdb/s);
  assert.deepEqual(fs.readFileSync(path.join(folder, 'catalogue/data.mdb')), before);
  assert.equal(identityOf(folder).format, 3);
});
