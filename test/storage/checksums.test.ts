import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { asBytes, u48, type Bytes } from '../../src/base/bytes.js';
import { CorruptRecord } from '../../src/base/corrupt-record.js';
import { addChecksums } from '../../src/storage/add-checksums.js';
import { knownSums, type Sums } from '../../src/storage/checksum.js';
import { formatKey, formatRecord } from '../../src/storage/lmdb-format.js';
import { withChecksum } from '../../src/storage/lmdb-records.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import type { Entry, Store } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import { temporaryFolder } from '../support/server.js';
import { allBytes, entriesOf, everything, put } from './entries.js';

const isDamageOf = (key: string) => (error: unknown) => error instanceof CorruptRecord && error.key === key;

/** Changes one byte of a store's file, where `text` stands, in every place where it does. */
function flip(folder: string, text: string, at: number): void {
  const file = path.join(folder, 'data.mdb');
  const bytes = fs.readFileSync(file);
  const needle = Buffer.from(text, 'latin1');
  let found = bytes.indexOf(needle);
  assert.ok(found >= 0, 'it is not in the file');
  for (; found >= 0; found = bytes.indexOf(needle, found + needle.length)) bytes[found + at]! ^= 0x10;
  fs.writeFileSync(file, bytes);
}

async function stored(entries: readonly Entry[]): Promise<string> {
  const folder = path.join(temporaryFolder(), 'store');
  const store = new LmdbStore(folder);
  await put(store, entries);
  await store.close();
  return folder;
}

async function reading(folder: string, read: (store: Store) => void): Promise<void> {
  const store = new LmdbStore(folder);
  try {
    read(store);
  } finally {
    await store.close();
  }
}

/** Of all lengths modulo four, in a page with others and on pages of their own. */
const lengths = [9, 10, 11, 12, 300, 5_000, 70_001];

test('a byte of a value that has changed is an error that has the key, however it is read', async () => {
  for (const length of lengths) {
    const value = asBytes(`begin${'v'.repeat(length - 8)}end`);
    const key = asBytes(`k${u48(2)}`);
    const others = [1, 3].map((n) => ({ key: asBytes(`k${u48(n)}`), value: asBytes('sound') }));
    for (const at of [0, 5, length - 1]) {
      const folder = await stored([...others, { key, value }]);
      flip(folder, value, at);
      await reading(folder, (store) => {
        assert.throws(() => store.get(key), isDamageOf(key));
        assert.throws(() => store.getUncached(key), isDamageOf(key));
        assert.throws(() => [...store.entries(everything)], isDamageOf(key));
        assert.throws(() => [...store.entries({ ...everything, headBytes: 2 })], isDamageOf(key));
        assert.throws(() => [...store.listNumbered({ ...everything, reverse: true })], isDamageOf(key));
        assert.throws(() => store.list(everything, Infinity), isDamageOf(key));
        assert.throws(() => store.list({ ...everything, headBytes: 2 }, Infinity), isDamageOf(key));
        assert.equal([...store.keys(everything)].length, 3);
        for (const other of others) assert.equal(store.get(other.key), other.value);
        assert.deepEqual(
          [...store.listNumbered({ start: others[1]!.key, end: asBytes('l') })].map(({ key: n }) => n),
          [3],
        );
      });
    }
  }
});

test('a value under another key, or cut to less than a checksum, is damaged', async () => {
  const folder = await stored([{ key: asBytes('a record'), value: asBytes('text') }]);
  flip(folder, 'a record', 0);
  await reading(folder, (store) => {
    assert.equal(store.get(asBytes('a record')), undefined);
    assert.throws(() => [...store.entries(everything)], isDamageOf('q record'));
  });
  const cut = await stored([{ key: asBytes('b'), value: asBytes('text') }]);
  const plain = new LmdbStore(cut, undefined, undefined, { asStored: true });
  await put(plain, [{ key: asBytes('b'), value: asBytes('abc') }]);
  await plain.close();
  await reading(cut, (store) => assert.throws(() => store.get(asBytes('b')), isDamageOf('b')));
});

test('a store whose record of its own format is damaged is not opened', async () => {
  const folder = await stored([{ key: asBytes('a'), value: asBytes('b') }]);
  const plain = new LmdbStore(folder, undefined, undefined, { asStored: true });
  const format = plain.get(asBytes('\0\0'))!;
  for (const other of [`w1${format.slice(2)}`, format.slice(0, -1), '']) {
    await put(plain, [{ key: asBytes('\0\0'), value: asBytes(other) }]);
    assert.throws(() => new LmdbStore(folder), CorruptRecord);
  }
  await plain.close();
});

/** Records of every kind, more than go into one commit. */
function manyEntries(): Entry[] {
  const random = new Random(seed);
  const few = ['', '\0', 'x', allBytes, allBytes.repeat(40_000)].map((value, n) => ({
    key: asBytes(`a${n}`),
    value: asBytes(value),
  }));
  const own = { key: asBytes('\0\0\0\0\0v'), value: asBytes('\x02') };
  const many = Array.from({ length: 22_000 }, (_, n) => ({
    key: asBytes(`b${u48(n)}`),
    value: asBytes(random.bytes(random.below(300))),
  }));
  return [own, ...few, ...many];
}

test(`a store of an earlier version gets checksums, however often that is cut short (seed ${seed})`, async () => {
  const folder = path.join(temporaryFolder(), 'store');
  const entries = manyEntries();
  const old = new LmdbStore(folder, undefined, undefined, { asStored: true });
  // A version before this one has left the mark of a check of its own.
  await put(old, [...entries, { key: asBytes('\0'), value: asBytes('1') }]);
  await old.close();
  await reading(folder, (store) => {
    assert.equal((store as LmdbStore).hasChecksums, false);
    assert.deepEqual(entriesOf(store), entries);
  });
  const random = new Random(seed);
  const killsMax = 5;
  for (let kills = 0; ; kills++) {
    const child = fork(fileURLToPath(new URL('checksum-adder.js', import.meta.url)), [folder]);
    const exited = once(child, 'exit') as Promise<[number | null]>;
    await once(child, 'message');
    if (kills < killsMax) {
      await delay(random.below(80));
      child.kill('SIGKILL');
    }
    const [code] = await exited;
    if (code === 0) break;
    assert.ok(kills < killsMax, 'it fails');
  }
  await reading(folder, (store) => {
    assert.equal((store as LmdbStore).hasChecksums, true);
    assert.deepEqual(entriesOf(store), entries);
    assert.equal(store.get(asBytes('\0')), undefined);
  });
});

/** A store as the version of these checksums leaves it; where its upgrade was cut short, records from `next` on have none. */
async function storedWith(sums: Sums, entries: readonly Entry[], next?: Bytes): Promise<string> {
  const folder = path.join(temporaryFolder(), 'store');
  const store = new LmdbStore(folder, undefined, undefined, { asStored: true });
  const records = entries.map(({ key, value }) => ({
    key,
    value: next !== undefined && key >= next ? value : withChecksum(key, value, sums),
  }));
  await put(store, [...records, { key: formatKey, value: formatRecord({ sums, next }) }]);
  await store.close();
  return folder;
}

for (const [age, sums] of knownSums.entries()) {
  const entries = ['a', 'b', 'c'].map((key) => ({ key: asBytes(key), value: asBytes(`value of ${key}`) }));

  test(`a store keeps the checksums that it began with (${age})`, async () => {
    const folder = await storedWith(sums, entries);
    for (const [key, value] of [
      ['b', 'another'],
      ['d', 'new'],
    ] as const) {
      const store = new LmdbStore(folder);
      await put(store, [{ key: asBytes(key), value: asBytes(value) }]);
      await store.close();
    }
    await addChecksums(folder);
    const expected = [entries[0], { key: 'b', value: 'another' }, entries[2], { key: 'd', value: 'new' }];
    await reading(folder, (store) => assert.deepEqual(entriesOf(store), expected));
    flip(folder, 'another', 2);
    await reading(folder, (store) => assert.throws(() => store.get(asBytes('b')), isDamageOf('b')));
  });

  test(`an upgrade to these checksums that was cut short goes on with them (${age})`, async () => {
    const folder = await storedWith(sums, entries, asBytes('b'));
    assert.throws(() => new LmdbStore(folder), /not complete/);
    await addChecksums(folder);
    await reading(folder, (store) => assert.deepEqual(entriesOf(store), entries));
  });
}
