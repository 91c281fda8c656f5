import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import type { Store } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import { holdsForBatches } from './batch-suite.js';
import { allBytes, entriesOf, everything, keyBytesMax, put, type Holds } from './entries.js';
import { holdsForRanges } from './range-suite.js';
import { checkAgainstModel } from './store-model.js';

/** What `src/storage/store.ts` promises: every implementation must pass. `open` gives a new and empty store. */
export function storeSuite(name: string, open: (t: TestContext) => Store): void {
  const holds: Holds = (what, run) => {
    test(what, async (t) => {
      const store = open(t);
      await run(store);
      await store.close();
    });
  };

  describe(name, () => {
    describe('one entry', () => holdsForEntries(holds));
    describe('ranges', () => holdsForRanges(holds));
    describe('batches', () => holdsForBatches(holds));
    for (const round of [0, 1]) {
      holds(`random operations agree with a sorted list (seed ${seed}, round ${round})`, (store) =>
        checkAgainstModel(store, new Random(seed + round)),
      );
    }
  });
}

function holdsForEntries(holds: Holds): void {
  holds('an empty store has nothing', (store) => {
    assert.equal(store.get(asBytes('a')), undefined);
    assert.deepEqual(entriesOf(store), []);
    assert.equal(store.count(everything), 0);
    return Promise.resolve();
  });

  holds('a value is read back, replaced and removed', async (store) => {
    await put(store, [{ key: asBytes('a'), value: asBytes('1') }]);
    assert.equal(store.get(asBytes('a')), '1');
    await put(store, [{ key: asBytes('a'), value: asBytes('two') }]);
    assert.equal(store.get(asBytes('a')), 'two');
    assert.equal(store.get(asBytes('b')), undefined);
    await put(store, [{ key: asBytes('a'), value: undefined }]);
    assert.equal(store.get(asBytes('a')), undefined);
    assert.deepEqual(entriesOf(store), []);
    assert.equal(store.count(everything), 0);
  });

  holds('removing what is not there changes nothing', async (store) => {
    await put(store, [{ key: asBytes('b'), value: asBytes('1') }]);
    await put(store, [
      { key: asBytes('a'), value: undefined },
      { key: asBytes('c'), value: undefined },
    ]);
    assert.deepEqual(entriesOf(store), [{ key: 'b', value: '1' }]);
  });

  holds('an empty value is a value', async (store) => {
    await put(store, [{ key: asBytes('a'), value: noBytes }]);
    assert.equal(store.get(asBytes('a')), '');
    assert.deepEqual(entriesOf(store), [{ key: 'a', value: '' }]);
  });

  holds('all bytes are allowed, in keys and in values', async (store) => {
    const entries = [...allBytes].map((byte) => ({
      key: asBytes(`x${byte}`),
      value: asBytes(byte + allBytes),
    }));
    await put(store, [...entries, { key: allBytes, value: allBytes }]);
    assert.equal(store.get(allBytes), allBytes);
    assert.deepEqual(entriesOf(store), [{ key: allBytes, value: allBytes }, ...entries]);
    for (const { key, value } of entries) assert.equal(store.get(key), value);
  });

  holds(`keys may have ${keyBytesMax} bytes, and differ in the last`, async (store) => {
    const start = 'k'.repeat(keyBytesMax - 1);
    const entries = ['\0', 'a', '\xff'].map((last) => ({ key: asBytes(start + last), value: asBytes(last) }));
    await put(store, entries.toReversed());
    assert.deepEqual(entriesOf(store), entries);
    for (const { key, value } of entries) assert.equal(store.get(key), value);
    assert.deepEqual(
      [...store.keys({ start: asBytes(`${start}a`), end: asBytes(`${start}\xff`) })],
      [`${start}a`],
    );
  });

  holds('values may be large', async (store) => {
    const sizes = [1, 4_000, 4_096, 70_000, 10_000_000];
    const entries = sizes.map((bytes, n) => ({
      key: asBytes(`k${n}`),
      value: allBytes.repeat(bytes / 256 + 1).slice(0, bytes),
    }));
    await put(store, entries);
    for (const { key, value } of entries) assert.ok(store.get(key) === value, `${value.length} bytes`);
    const found = [...store.entries(everything)];
    for (const [n, { value }] of entries.entries())
      assert.ok(found[n]!.value === value, `${value.length} bytes`);
  });

  holds('the store grows with what it holds', async (store) => {
    const before = store.size();
    await put(store, [{ key: asBytes('a'), value: asBytes('x'.repeat(1_000_000)) }]);
    const after = store.size();
    assert.ok(after.used_bytes >= before.used_bytes + 1_000_000);
    assert.ok(after.file_bytes >= after.used_bytes);
  });
}
