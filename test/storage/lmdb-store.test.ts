import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import type { Entry } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import { openLmdb } from '../../src/storage/lmdb-environment.js';
import { formatKey } from '../../src/storage/lmdb-format.js';
import { entriesOf, everything, plain } from './entries.js';
import { storeSuite } from './store-suite.js';

function temporaryFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-lmdb-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

storeSuite('LmdbStore', (t) => new LmdbStore(path.join(temporaryFolder(t), 'store')));

function randomEntries(count: number): Entry[] {
  const random = new Random(seed);
  const entries = new Map<string, string>();
  while (entries.size < count) {
    const key = random.bytes(1 + random.below(100));
    const value = random.bytes(random.oneIn(20) ? 9_000 : random.below(300));
    // What is before the record of the format belongs to the store itself.
    if (key > formatKey) entries.set(key, value);
  }
  return [...entries]
    .map(([key, value]) => ({ key: asBytes(key), value: asBytes(value) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

describe(`the files of an LmdbStore (seed ${seed})`, () => {
  test('what was flushed is there when the store is opened again', async (t) => {
    const folder = path.join(temporaryFolder(t), 'store');
    const entries = randomEntries(300);
    for (const part of [entries.slice(0, 150), entries.slice(150)]) {
      const store = new LmdbStore(folder);
      await store.write(part).flushed;
      await store.close();
    }
    const store = new LmdbStore(folder);
    assert.deepEqual(entriesOf(store), entries);
    await store.write(entries.map(({ key }) => ({ key, value: undefined }))).flushed;
    await store.close();
    const emptied = new LmdbStore(folder);
    assert.deepEqual(entriesOf(emptied), []);
    await emptied.close();
  });

  test('values of more than 16 MB are read back, one by one and in ranges, also when the map has grown', async (t) => {
    const folder = path.join(temporaryFolder(t), 'store');
    const entries = [17e6, 70e6].map((bytes, i) => ({
      key: asBytes(`${i}`),
      value: asBytes(`${i}`.repeat(bytes)),
    }));
    const store = new LmdbStore(folder);
    for (const entry of entries) {
      await store.write([entry]).flushed;
      assert.ok(store.get(entry.key) === entry.value);
    }
    await store.close();
    const again = new LmdbStore(folder);
    assert.deepEqual(
      entriesOf(again).map(({ value }, i) => value === entries[i]!.value),
      [true, true],
    );
    for (const { key, value } of entries) assert.ok(again.get(key) === value);
    assert.deepEqual(
      again.list(everything, Infinity).map(({ value }, i) => value === entries[i]!.value),
      [true, true],
    );
    await again.close();
  });

  test('a list is right when the program reads other stores with the same library', async (t) => {
    const folder = temporaryFolder(t);
    const store = new LmdbStore(path.join(folder, 'store'));
    const entries = randomEntries(50);
    await store.write(entries).flushed;
    const others = openLmdb(path.join(folder, 'others'), {});
    await others.put(asBytes('large'), asBytes('x'));
    // The library copies values to another buffer from now on.
    (others as unknown as { _allocateGetBuffer(bytes: number): void })._allocateGetBuffer(100_000_000);
    assert.equal(others.get(asBytes('large')), 'x');
    assert.deepEqual(store.list(everything, Infinity).map(plain), entries);
    await others.close();
    await store.close();
  });

  test('a list is refused once the store is closed, and works after it was opened again', async (t) => {
    const store = new LmdbStore(path.join(temporaryFolder(t), 'store'));
    const entries = randomEntries(50);
    await store.write(entries).flushed;
    for (let times = 0; times < 3; times++) {
      assert.deepEqual(store.list(everything, Infinity).map(plain), entries);
      const suspending = store.suspend();
      assert.throws(() => store.list(everything, Infinity), { name: 'StorageError' });
      await suspending;
      store.resume();
    }
    assert.deepEqual(store.list(everything, Infinity).map(plain), entries);
    await store.close();
    assert.throws(() => store.list(everything, Infinity), /closed/);
    assert.throws(() => store.listNumbered(everything), /closed/);
  });

  test('closing waits for what is on its way', async (t) => {
    const folder = path.join(temporaryFolder(t), 'store');
    const store = new LmdbStore(folder);
    const { flushed } = store.write([{ key: asBytes('a'), value: asBytes('x'.repeat(100_000)) }]);
    await store.close();
    await flushed;
    const again = new LmdbStore(folder);
    assert.equal(again.get(asBytes('a'))?.length, 100_000);
    await again.close();
  });

  test('a copy holds the same, and no more room than it needs', async (t) => {
    const folder = temporaryFolder(t);
    const store = new LmdbStore(path.join(folder, 'store'));
    const entries = randomEntries(300);
    await store.write([...entries, { key: asBytes('\xfflarge'), value: asBytes('x'.repeat(3_000_000)) }])
      .flushed;
    await store.write([{ key: asBytes('\xfflarge'), value: undefined }]).flushed;
    const target = path.join(folder, 'copy');
    fs.mkdirSync(target);
    await store.copyTo(target);
    const copy = new LmdbStore(target);
    assert.deepEqual(entriesOf(copy), entries);
    assert.ok(store.size().file_bytes > 3_000_000);
    assert.ok(copy.size().file_bytes < 1_500_000, `${copy.size().file_bytes} bytes`);
    await copy.write([{ key: asBytes('only-here'), value: asBytes('1') }]).flushed;
    assert.equal(store.get(asBytes('only-here')), undefined);
    await copy.close();
    await store.close();
  });

  test('is closed when its copies are complete', async (t) => {
    const folder = temporaryFolder(t);
    const store = new LmdbStore(path.join(folder, 'store'));
    const value = asBytes('x'.repeat(100_000));
    for (let part = 0; part < 6; part++) {
      const writes = Array.from({ length: 100 }, (_, at) => ({ key: asBytes(`${part}-${at}`), value }));
      await store.write(writes).flushed;
    }
    // Where memory is given back under it, the process ends.
    const copies = ['one', 'other'].map((name) => {
      const target = path.join(folder, name);
      fs.mkdirSync(target);
      return store.copyTo(target).then(() => new LmdbStore(target));
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.close();
    for (const copy of await Promise.all(copies)) {
      assert.equal([...copy.keys(everything)].length, 600);
      await copy.close();
    }
  });

  test('a copy taken while others write is of one moment', async (t) => {
    const folder = temporaryFolder(t);
    const store = new LmdbStore(path.join(folder, 'store'));
    const batch = (n: number): Entry[] =>
      randomEntries(200).map(({ key }) => ({ key, value: asBytes(String(n)) }));
    await store.write(batch(0)).flushed;
    const target = path.join(folder, 'copy');
    fs.mkdirSync(target);
    const copying = store.copyTo(target);
    for (let n = 1; n <= 20; n++) await store.write(batch(n)).flushed;
    await copying;
    const copy = new LmdbStore(target);
    const found = entriesOf(copy);
    assert.equal(found.length, 200);
    assert.equal(new Set(found.map(({ value }) => value)).size, 1);
    await copy.close();
    await store.close();
  });
});
