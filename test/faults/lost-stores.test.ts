import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk } from '../support/expect.js';
import { temporaryFolder } from '../support/server.js';
import { blobFile, copyOf, documentCount, filledFolder, listing, withServer } from './data-folder.js';

const filled = await filledFolder();
const other = await filledFolder();
const catalogueFile = 'catalogue/data.mdb';
const volumeFile = 'documents/0.1/data.mdb';

/** A copy of the folder as the first versions left it: nothing says which stores belong together. */
async function unmarked(): Promise<string> {
  const folder = copyOf(filled);
  const file = path.join(folder, 'tuffet.json');
  const { format, uuid } = JSON.parse(fs.readFileSync(file, 'utf8')) as { format: number; uuid: string };
  fs.writeFileSync(file, JSON.stringify({ format, uuid }));
  for (const [name, key] of [['catalogue', 'i'] as const, ['documents/0.1', '\0\0\0\0\0i'] as const]) {
    const store = new LmdbStore(path.join(folder, name));
    await store.write([{ key: asBytes(key), value: undefined }]).flushed;
    await store.close();
  }
  return folder;
}

const start = (folder: string): Promise<void> => withServer(folder, () => Promise.resolve());

/** No server starts on the folder, the message says why, and everything is still there. */
async function assertRefusesToStart(folder: string, ...messages: RegExp[]): Promise<void> {
  const before = listing(folder);
  await assert.rejects(start(folder), (error: Error) => {
    assert.equal(error.name, 'StartupError', String(error.stack));
    for (const message of [...messages, /Nothing was changed/, /backup/])
      assert.match(error.message, message);
    return true;
  });
  assert.deepEqual(listing(folder), before);
}

async function assertComplete(folder: string): Promise<void> {
  await withServer(folder, async (client) => {
    const info = await client.get('/d');
    assertOk(info, 200);
    assert.equal(info.body.doc_count, documentCount + 2);
    assertOk(await client.get('/d/att/large'), 200);
  });
}

const losses: Record<string, (file: string) => void> = {
  missing: (file) => fs.rmSync(file),
  empty: (file) => fs.truncateSync(file, 0),
  'missing with its folder': (file) => fs.rmSync(path.dirname(file), { recursive: true }),
};

for (const [loss, lose] of Object.entries(losses)) {
  test(`a catalogue that is ${loss} stops the start, and nothing is erased`, async () => {
    for (const folder of [copyOf(filled), await unmarked()]) {
      lose(path.join(folder, catalogueFile));
      await assertRefusesToStart(folder, /catalogue/, /is (missing|empty)/);
    }
  });

  test(`a volume that is ${loss} stops the start, and nothing is erased`, async () => {
    for (const folder of [copyOf(filled), await unmarked()]) {
      lose(path.join(folder, volumeFile));
      await assertRefusesToStart(folder, /documents.0\.1/, /is (missing|empty)/, /\bd\b/);
    }
  });
}

test('a catalogue that was lost and put back is as good as before', async () => {
  const folder = copyOf(filled);
  fs.rmSync(path.join(folder, catalogueFile));
  await assertRefusesToStart(folder);
  fs.copyFileSync(path.join(filled, catalogueFile), path.join(folder, catalogueFile));
  await assertComplete(folder);
});

test('a folder that nothing marks as belonging together is opened, and marked', async () => {
  const folder = await unmarked();
  await assertComplete(folder);
  const marked = JSON.parse(fs.readFileSync(path.join(folder, 'tuffet.json'), 'utf8')) as object;
  assert.match((marked as { catalogue: string }).catalogue, /^[0-9a-f]{32}$/);
  await assertComplete(folder);
});

describe('stores that do not belong together stop the start', () => {
  test('an empty catalogue, made anew', async () => {
    for (const folder of [copyOf(filled), await unmarked()]) {
      fs.rmSync(path.join(folder, 'catalogue'), { recursive: true });
      const store = new LmdbStore(path.join(folder, 'catalogue'));
      await store.write([{ key: asBytes('q'), value: noBytes }]).flushed;
      await store.close();
      await assertRefusesToStart(folder, /catalogue/);
    }
  });

  test('the catalogue of another server', async () => {
    const folder = copyOf(filled);
    fs.copyFileSync(path.join(other, catalogueFile), path.join(folder, catalogueFile));
    await assertRefusesToStart(folder, /another server/);
  });

  test('the volume of another server', async () => {
    const folder = copyOf(filled);
    fs.copyFileSync(path.join(other, volumeFile), path.join(folder, volumeFile));
    await assertRefusesToStart(folder, /another server/);
  });

  test('a catalogue older than a database', async () => {
    const folder = copyOf(filled);
    await withServer(folder, async (client) => {
      assertOk(await client.put('/later'), 201);
      assertOk(await client.put('/later/x', {}), 201);
    });
    fs.copyFileSync(path.join(filled, catalogueFile), path.join(folder, catalogueFile));
    await assertRefusesToStart(folder, /never known/);
  });

  test('a catalogue older than a volume', async () => {
    const folder = copyOf(filled);
    fs.cpSync(path.join(folder, 'documents/0.1'), path.join(folder, 'documents/1.1'), { recursive: true });
    await assertRefusesToStart(folder, /documents.1\.1/);
  });

  test('a lost tuffet.json, or folder of attachments', async () => {
    const folder = copyOf(filled);
    fs.rmSync(path.join(folder, 'tuffet.json'));
    await assertRefusesToStart(folder, /tuffet\.json is missing/, /uuid/);
    fs.copyFileSync(path.join(filled, 'tuffet.json'), path.join(folder, 'tuffet.json'));
    fs.rmSync(path.join(folder, 'attachments'), { recursive: true });
    await assertRefusesToStart(folder, /attachments is missing/);
  });
});

test('what a replacement of a volume left behind is removed, and nothing that is not known', async () => {
  const folder = copyOf(filled);
  const documents = path.join(folder, 'documents');
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  await catalogue.journal.record({ type: 'set_generation', slot: 0, generation: 2 });
  await catalogue.close();
  for (const name of ['0.2', '0.3', '0.4.copy', 'mine'])
    fs.cpSync(path.join(documents, '0.1'), path.join(documents, name), { recursive: true });
  fs.mkdirSync(path.join(documents, '1.1'));
  await assertComplete(folder);
  assert.deepEqual(fs.readdirSync(documents).sort(), ['0.2', 'mine']);
  assert.ok(fs.existsSync(blobFile(folder)));
});

test('a first start that was cut short is taken up', async () => {
  const folder = temporaryFolder();
  fs.writeFileSync(
    path.join(folder, 'tuffet.json'),
    '{"format":1,"uuid":"0123456789abcdef0123456789abcdef"}',
  );
  fs.mkdirSync(path.join(folder, 'catalogue'));
  fs.writeFileSync(path.join(folder, catalogueFile), '');
  await start(folder);
  await start(folder);
});
