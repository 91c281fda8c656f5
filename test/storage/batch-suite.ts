import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Entry } from '../../src/storage/store.js';
import { entriesOf, everything, keyOf, numbered, plain, put, type Holds } from './entries.js';

export function holdsForBatches(holds: Holds): void {
  holds('the last write to a key counts', async (store) => {
    await put(store, [
      { key: asBytes('a'), value: asBytes('1') },
      { key: asBytes('a'), value: asBytes('2') },
      { key: asBytes('b'), value: asBytes('1') },
      { key: asBytes('b'), value: undefined },
      { key: asBytes('c'), value: undefined },
      { key: asBytes('c'), value: asBytes('3') },
    ]);
    assert.deepEqual(entriesOf(store), [
      { key: 'a', value: '2' },
      { key: 'c', value: '3' },
    ]);
  });

  holds('an empty batch is done', async (store) => {
    await put(store, []);
    assert.deepEqual(entriesOf(store), []);
  });

  holds('batches are committed in the order of the calls, and never seen in part', async (store) => {
    const keys = numbered(100).map(keyOf);
    const done: number[] = [];
    let running = true;
    const writing = Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        // Each batch also takes away what the one before it has added.
        const added = { key: asBytes(`l${n}`), value: asBytes(String(n)) };
        const { committed, flushed } = store.write([
          ...keys.map((key) => ({ key, value: asBytes(String(n)) })),
          { key: asBytes(`l${n - 1}`), value: undefined },
          added,
        ]);
        await committed;
        assert.ok(Number(store.get(asBytes('k000'))) >= n, 'what is committed can be read');
        await flushed;
        done.push(n);
      }),
    ).finally(() => (running = false));
    let newest = -1;
    while (running) {
      const found = entriesOf(store);
      const values = [...new Set(found.map(({ value }) => value))];
      assert.ok(values.length <= 1, `parts of several batches: ${values.join()}`);
      assert.ok(found.length === 0 || found.length === 101, `${found.length} entries`);
      assert.ok(Number(values[0] ?? -1) >= newest, 'an earlier batch came back');
      newest = Number(values[0] ?? -1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    // Those who wait may be told in another order: by then all of it is on disk.
    assert.equal(new Set(done).size, 40);
    for (const key of ['k000', 'k099']) assert.equal(store.get(asBytes(key)), '39');
  });

  for (const reverse of [false, true]) {
    const direction = reverse ? 'backward' : 'forward';
    holds(`a ${direction} iteration sees one moment, whatever is written meanwhile`, async (store) => {
      const entries = numbered(1_000);
      await put(store, entries);
      const found: Entry[] = [];
      const commits: Promise<void>[] = [];
      for (const entry of store.entries({ ...everything, reverse })) {
        found.push(plain(entry));
        if (found.length % 10 > 0) continue;
        const [before, after] = [entries[(found.length * 7) % 1_000]!, entries[(found.length * 3) % 1_000]!];
        const added = Array.from({ length: 10 }, (_, n) => ({
          key: asBytes(`${entry.key}+${n}`),
          value: asBytes('new'),
        }));
        const writes = [{ ...before, value: undefined }, { ...after, value: asBytes('changed') }, ...added];
        commits.push(store.write(writes).committed);
      }
      await Promise.all(commits);
      assert.deepEqual(found, reverse ? entries.toReversed() : entries);
      assert.ok(store.count(everything) > 1_500);
    });
  }
}
