import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { erasureKey, IndexKeys } from '../../src/indexes/index-keys.js';
import { isErasing } from '../../src/indexes/index-register.js';
import { ThreadBackend } from '../../src/indexes/thread-backend.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { temporaryFolder } from '../support/server.js';

const atOnce = 8;
const options = {
  threads: 1,
  memory_bytes: 64 * 1024 * 1024,
  timeout_ms: 60_000,
  reduce_limit: 'true' as const,
  log: () => {},
};

/** A store of indexes with 12 MB, all of which are free. */
async function freeStore(folder: string): Promise<void> {
  const store = new LmdbStore(path.join(folder, '1'));
  const keys = Array.from({ length: 120 }, (_, n) => `k${n}`);
  await store.write(keys.map((key) => ({ key: asBytes(key), value: asBytes('x'.repeat(100_000)) }))).flushed;
  await store.write(keys.map((key) => ({ key: asBytes(key), value: undefined }))).flushed;
  await store.close();
}

test('the file of indexes is replaced although there is always something asked of its thread', async () => {
  const folder = path.join(temporaryFolder(), 'indexes');
  await freeStore(folder);
  const backend = new ThreadBackend(folder, options);
  let stopped = false;
  let answers = 0;
  const askers = Array.from({ length: atOnce }, async (_, instance) => {
    for (; !stopped; answers++) await backend.discard(instance + 1, 0);
  });
  try {
    while (answers < 10 * atOnce) await wait(5);
    const reclaimed = backend.reclaim(false);
    for (const end = Date.now() + 60_000; !fs.existsSync(path.join(folder, '2')); await wait(20))
      assert.ok(Date.now() < end, 'the file was not replaced within a minute');
    await reclaimed;
    const before = answers;
    while (answers < before + atOnce) await wait(5);
    assert.deepEqual(fs.readdirSync(folder), ['2']);
  } finally {
    stopped = true;
    await Promise.all(askers);
    await backend.close();
  }
});

test('what is left to erase when the file is replaced is erased afterwards, without being asked', async () => {
  const folder = path.join(temporaryFolder(), 'indexes');
  await freeStore(folder);
  const backend = new ThreadBackend(folder, options);
  const keys = new IndexKeys(7);
  // A thread that starts by itself, because there are indexes, would erase too.
  await wait(1_500);
  await backend.store.write([
    { key: erasureKey(7), value: noBytes },
    { key: keys.state, value: asBytes('x') },
  ]).flushed;
  try {
    await backend.reclaim(false);
    for (const end = Date.now() + 30_000; isErasing(backend.store); backend.store.refresh(), await wait(20))
      assert.ok(Date.now() < end, 'it was not erased');
    assert.equal(backend.store.get(keys.state), undefined);
  } finally {
    await backend.close();
  }
});
