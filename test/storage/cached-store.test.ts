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
import type { Bytes, Entry, Range, Write } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
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
  lists = 0;
  counts = 0;

  override list(range: Range, bytesMax: number): Entry[] {
    this.lists++;
    return super.list(range, bytesMax);
  }

  override count(range: { start: Bytes; end: Bytes }): number {
    this.counts++;
    return super.count(range);
  }

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

const prefixes = ['p', 'q', 'qq'];

function randomKey(random: Random): Bytes {
  return asBytes(
    random.pick(prefixes) + String(random.below(200)).padStart(3, '0') + random.pick(['', '\0', 'x']),
  );
}

function randomList(random: Random): Range {
  const prefix = random.pick(prefixes);
  const ends = [random.below(200), random.below(250)].map((n) => prefix + String(n).padStart(3, '0'));
  const end = random.oneIn(2) ? `${prefix}\xff` : ends[1]!;
  const start = random.oneIn(5) ? prefix : ends[0]!;
  const keyFrom = random.oneIn(10) ? 1 : prefix.length;
  return { start: asBytes(start), end: asBytes(end), keyFrom, headBytes: 10, limit: 1 + random.below(40) };
}

describe('short lists', () => {
  const page = (from: string, limit: number): Range => ({
    start: asBytes(`p${from}`),
    end: asBytes('p\xff'),
    keyFrom: 1,
    headBytes: 10,
    limit,
  });
  const numbered = (count: number): Write[] =>
    Array.from({ length: count }, (_, n) => ({
      key: asBytes(`p${String(n).padStart(3, '0')}`),
      value: asBytes('v'),
    }));

  test('are put together from what was listed before, and so are counts', async () => {
    const store = new CountingStore();
    const cached = new CachedStore(store, () => 1_000_000);
    await put(cached, numbered(100));
    cached.list(page('000', 40), Infinity);
    cached.list(page('020', 40), Infinity);
    cached.list(page('059', 41), Infinity);
    assert.equal(store.lists, 3);
    const found = cached.list(page('010', 80), Infinity);
    assert.deepEqual(
      found.map(({ key }) => key),
      Array.from({ length: 80 }, (_, n) => String(n + 10).padStart(3, '0')),
    );
    assert.equal(store.lists, 3);
    assert.equal(cached.count({ start: asBytes('p005'), end: asBytes('p095x') }), 91);
    assert.equal(store.counts, 0);
    await put(cached, [{ key: asBytes('p050x'), value: asBytes('v') }]);
    assert.equal(cached.count({ start: asBytes('p005'), end: asBytes('p095x') }), 92);
    assert.equal(cached.list(page('050', 2), Infinity)[1]!.key, '050x');
  });

  test('are as the store has them, whatever is written, listed and counted', async () => {
    const random = new Random(seed);
    for (const bytesMax of [2_000, 20_000, 1_000_000]) {
      const store = new CountingStore();
      const cached = new CachedStore(store, () => bytesMax);
      const bare = new MemoryStore();
      for (let step = 0; step < 4_000; step++) {
        if (random.oneIn(8)) {
          const writes = Array.from({ length: random.below(4) }, () => ({
            key: randomKey(random),
            value: random.oneIn(3) ? undefined : asBytes(`v${step}`),
          }));
          await Promise.all([put(cached, writes), put(bare, writes)]);
        }
        const range = randomList(random);
        const pieceBytes = random.oneIn(4) ? random.below(100) : Infinity;
        const what = `seed ${seed}, step ${step}: ${JSON.stringify({ ...range, pieceBytes })}`;
        assert.deepEqual(cached.list(range, pieceBytes), bare.list(range, pieceBytes), what);
        const [start, end] = [randomKey(random), randomKey(random)];
        assert.equal(cached.count({ start, end }), bare.count({ start, end }), `${what}; ${start} to ${end}`);
      }
      if (bytesMax === 1_000_000)
        assert.ok(store.lists < 3_600, `${store.lists} lists have reached the store`);
    }
  });

  test('are forgotten when a batch may have been written or not', async () => {
    const store = new SteeredStore();
    const cached = new CachedStore(store, () => 1_000_000);
    const first = cached.write([{ key: asBytes('p1'), value: asBytes('v') }]).flushed;
    store.batches[0]!.finish();
    await first;
    assert.equal(cached.list(page('', 10), Infinity).length, 1);
    const { flushed } = cached.write([{ key: asBytes('p2'), value: asBytes('v') }]);
    const { finish, fail } = store.batches[1]!;
    fail();
    finish();
    await assert.rejects(flushed, /the disk is full/);
    assert.equal(cached.list(page('', 10), Infinity).length, 2);
  });
});
