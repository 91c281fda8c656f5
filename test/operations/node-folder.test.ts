import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { firstHead } from '../../src/log/stream-place.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { checkFolder } from '../../src/operations/check/folder-check.js';
import { OfflineFolder } from '../../src/operations/offline-folder.js';
import { createServer } from '../../src/server/create-server.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { temporaryFolder } from '../support/server.js';

test('the folder of a node of a cluster is checked, and neither repaired nor restored to', async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' });
  await server.close();
  const events = { at: () => {}, found: () => {} };
  await checkFolder(dataDir, true, events);
  await (await OfflineFolder.open(dataDir)).close();
  const catalogue = new Catalogue(new LmdbStore(path.join(dataDir, 'catalogue')), () => {});
  await catalogue.steps.begin(firstHead('epoch'));
  await catalogue.close();
  await checkFolder(dataDir, false, events);
  // The second time shows that the first has let go of the folder.
  for (let times = 0; times < 2; times++) {
    await assert.rejects(checkFolder(dataDir, true, events), /belongs to a node of a cluster.*Empty it/);
    await assert.rejects(OfflineFolder.open(dataDir), /belongs to a node of a cluster.*--to URL/);
  }
});

test('copies of stores that a killed server has left are removed when it starts again', async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const options = { dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' } as const;
  await (await createServer(options)).close();
  const before = fs.readdirSync(dataDir).sort();
  for (const name of ['incoming', 'incoming.second', 'spool-copy-Ab3xYz']) {
    fs.mkdirSync(path.join(dataDir, name, 'documents', '0'), { recursive: true });
    fs.writeFileSync(path.join(dataDir, name, 'documents', '0', 'data.mdb'), 'half');
  }
  await (await createServer(options)).close();
  assert.deepEqual(fs.readdirSync(dataDir).sort(), before);
});
