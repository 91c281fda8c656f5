import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { DataFolder } from '../../src/node/data-folder.js';
import type { Database } from '../../src/node/database.js';
import { Config } from '../../src/config/config.js';
import { allIds } from '../../src/shard/group-reader.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import type { Volume } from '../../src/shard/volume.js';
import { temporaryFolder } from '../support/server.js';
import { checkDatabase } from './check-database.js';
import { Random, seed } from './random.js';
import { memoryViews } from '../support/views.js';

/** A registry on disk, where a commit takes its time. */
function openRegistry(t: TestContext): DatabaseRegistry {
  const folder = DataFolder.open(temporaryFolder());
  const logger = createLogger({ level: 'none', format: 'text' });
  const registry = new DatabaseRegistry(
    new Config(),
    logger,
    folder,
    new MemoryBlobStore(),
    memoryViews(logger),
  );
  t.after(async () => {
    await registry.close();
    folder.release();
  });
  return registry;
}

function save(database: Database, ids: readonly string[]): Promise<unknown> {
  const { instance } = database.record;
  const edits = ids.map((id) => ({
    id: asBytes(id),
    parent: undefined,
    path: undefined,
    deleted: false,
    body: asBytes('{}'),
  }));
  return database.submit({ type: 'edit', instance, shard: 0, revs_limit: 10, edits });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a database deleted under load leaves no key behind', async (t) => {
  const registry = openRegistry(t);
  for (let round = 0; round < 15; round++) {
    await registry.createDatabase('db', { q: 1 });
    const database = registry.database('db');
    const [volume] = registry.volumes() as [Volume];
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      // The writes go on until the database refuses them.
      for (let i = 0; ; i++) await save(database, [`${writer}-${i}`]);
    });
    await sleep(3 + Math.random() * 5);
    await registry.deleteDatabase('db');
    await Promise.allSettled(writing);
    const { range } = new DatabaseKeys(database.record.instance);
    for (let wait = 0; wait < 200 && volume.store.count(range) > 0; wait++) await sleep(10);
    await sleep(5);
    assert.equal(volume.store.count(range), 0, `round ${round}`);
  }
});

for (const size of [0, 3_000, 20_000]) {
  test(`ranks made under load over ${size} documents are right afterwards (seed ${seed})`, async (t) => {
    const random = new Random(seed + size);
    const registry = openRegistry(t);
    await registry.createDatabase('db', { q: 1 });
    const database = registry.database('db');
    const { collection, record } = database;
    const keys = new DatabaseKeys(record.instance);
    const [volume] = registry.volumes() as [Volume];
    const newIds = (count: number): string[] => Array.from({ length: count }, () => `k${random.hex(12)}`);
    await save(database, newIds(size));
    let stopped = false;
    const writing = Array.from({ length: 8 }, async () => {
      while (!stopped) await save(database, newIds(20));
    });
    await sleep(5);
    await collection.ranked();
    collection.docsBefore(asBytes('k8'));
    await sleep(60);
    stopped = true;
    await Promise.all(writing);
    for (const end of ['k0', 'k4', 'k8', 'kc', 'kf', allIds.end]) {
      const counted = volume.store.count({ start: keys.livePrefix, end: asBytes(keys.livePrefix + end) });
      assert.equal(collection.docsBefore(asBytes(end)), counted, end);
    }
    assert.equal(collection.docsBefore(allIds.end), database.total('doc_count'));
    checkDatabase(() => volume.store, database.record);
  });
}
