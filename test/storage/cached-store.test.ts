import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { CachedStore } from '../../src/storage/cached-store.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Bytes } from '../../src/storage/store.js';
import { put } from './entries.js';
import { SteeredStore } from './scene.js';
import { storeSuite } from './store-suite.js';

/** Small, so that it is full all the time. */
const cacheBytes = 4_000;

storeSuite('CachedStore of an LmdbStore', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-cached-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return new CachedStore(new LmdbStore(path.join(folder, 'store')), () => cacheBytes);
});

/** Counts the reads that reach the store. */
class CountingStore extends MemoryStore {
  reads = 0;

  override get(key: Bytes): Bytes | undefined {
    this.reads++;
    return super.get(key);
  }
}

describe('a cache', () => {
  test('spares the second look into the store', async () => {
    const store = new CountingStore();
    const cached = new CachedStore(store, () => cacheBytes);
    await put(cached, [{ key: asBytes('a'), value: asBytes('1') }]);
    for (let n = 0; n < 5; n++) assert.equal(cached.get(asBytes('a')), '1');
    assert.equal(store.reads, 1);
  });

  test('is not filled by those who read everything once, and serves them what it has', async () => {
    const store = new CountingStore();
    const cached = new CachedStore(store, () => cacheBytes);
    const entries = Array.from({ length: 200 }, (_, n) => ({
      key: asBytes(`key-${n}`),
      value: asBytes('x'.repeat(100)),
    }));
    await put(cached, entries);
    cached.get(asBytes('key-0'));
    for (const { key, value } of entries) assert.equal(cached.getUncached(key), value);
    assert.equal(store.reads, entries.length);
    cached.get(asBytes('key-0'));
    assert.equal(store.reads, entries.length);
    cached.getUncached(asBytes('key-1'));
    assert.equal(store.reads, entries.length + 1);
  });

  test('keeps what is asked for again and again, and forgets the rest', async () => {
    const store = new CountingStore();
    const cached = new CachedStore(store, () => cacheBytes);
    const entries = Array.from({ length: 200 }, (_, n) => ({
      key: asBytes(`key-${n}`),
      value: asBytes('x'.repeat(100)),
    }));
    await put(cached, entries);
    for (const { key } of entries) {
      cached.get(key);
      cached.get(asBytes('key-0'));
    }
    assert.equal(store.reads, entries.length);
    cached.get(asBytes('key-1'));
    assert.equal(store.reads, entries.length + 1);
  });

  test('gives the value from before a batch until the batch is committed, and the new one from then on', async () => {
    const store = new SteeredStore();
    const cached = new CachedStore(store, () => cacheBytes);
    const write = (value: Bytes | undefined): Promise<void> => {
      const { flushed } = cached.write([{ key: asBytes('a'), value }]);
      store.batches.at(-1)!.finish();
      return flushed;
    };
    await write(asBytes('1'));
    assert.equal(cached.get(asBytes('a')), '1');
    const { flushed } = cached.write([{ key: asBytes('a'), value: asBytes('2') }]);
    assert.equal(cached.get(asBytes('a')), '1');
    store.batches.at(-1)!.finish();
    await flushed;
    assert.equal(cached.get(asBytes('a')), '2');
    await write(asBytes('x'.repeat(100_000)));
    assert.equal(cached.get(asBytes('a'))!.length, 100_000);
    await write(undefined);
    assert.equal(cached.get(asBytes('a')), undefined);
    await write(noBytes);
    assert.equal(cached.get(asBytes('a')), '');
  });

  test('changes nothing when the store refuses a batch', async () => {
    const store = new SteeredStore();
    const cached = new CachedStore(store, () => cacheBytes);
    const before = cached.write([{ key: asBytes('a'), value: asBytes('1') }]).flushed;
    store.batches[0]!.finish();
    await before;
    assert.equal(cached.get(asBytes('a')), '1');
    const { committed, flushed } = cached.write([{ key: asBytes('a'), value: asBytes('2') }]);
    store.batches[1]!.fail();
    await assert.rejects(committed, /the disk is full/);
    await assert.rejects(flushed, /the disk is full/);
    assert.equal(cached.get(asBytes('a')), '1');
  });

  test('lets a refused batch be told to one who waits for the flush alone', async () => {
    const store = new SteeredStore();
    const cached = new CachedStore(store, () => cacheBytes);
    const { flushed } = cached.write([{ key: asBytes('a'), value: asBytes('1') }]);
    store.batches[0]!.fail();
    await assert.rejects(flushed, /the disk is full/);
    // A rejection that nobody sees makes this test fail.
    await nextTurn();
  });
});
