import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { encodeKey } from '../../src/json/order-key.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Inner } from '../../src/indexes/tree/inner.js';
import { Leaf } from '../../src/indexes/tree/leaf.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { recordKey } from '../../src/indexes/tree/node-source.js';
import type { Row } from '../../src/indexes/tree/row.js';
import { SearchReader } from '../../src/fulltext/search-reader.js';
import type { RowsOptions, ViewRange, ViewReader } from '../../src/indexes/view-reader.js';
import { docKey, docNumber, encodeDoc } from '../../src/search/postings.js';
import { groupEnd, lengths, TreeScene } from './tree-scene.js';

/** Ten groups of a thousand rows. */
const grouped = Array.from({ length: 10_000 }, (_, i): Row => {
  const key = [`group ${Math.floor(i / 1_000)}`, i];
  return {
    key: encodeKey(key),
    id: asBytes(`doc-${i}`),
    n: 0,
    keyText: asBytes(JSON.stringify(key)),
    value: asBytes(String(i)),
  };
});

async function groupedScene(cache?: NodeCache): Promise<TreeScene> {
  const scene = new TreeScene(new CountingStore(), [lengths], cache);
  await scene.update([], grouped);
  return scene;
}

class CountingStore extends MemoryStore {
  reads = 0;

  override get(key: Bytes): Bytes | undefined {
    this.reads++;
    return super.get(key);
  }
}

describe('reads of a tree', () => {
  test('an empty tree has nothing', () => {
    const { reader } = new TreeScene(new MemoryStore());
    const bound = { key: encodeKey(1), after: true };
    assert.equal(reader.rank(bound), 0);
    assert.equal(reader.count(undefined, bound), 0);
    assert.deepEqual([...reader.rows(bound, undefined)], []);
    assert.deepEqual([...reader.pieces(undefined, undefined)], []);
    assert.deepEqual([...reader.groups(undefined, undefined, groupEnd(1, false))], []);
  });

  test('ranges that end before they begin are empty', async () => {
    const { reader } = await groupedScene();
    const high = { key: grouped[9_000]!.key, after: false };
    const low = { key: grouped[10]!.key, after: true };
    assert.equal(reader.count(high, low), 0);
    assert.deepEqual([...reader.rows(high, low, { skip: 3 })], []);
    assert.deepEqual([...reader.rows(high, low, { descending: true })], []);
    assert.deepEqual([...reader.pieces(high, low)], []);
    for (const descending of [false, true])
      assert.deepEqual([...reader.groups(high, low, groupEnd(1, descending), { descending })], []);
  });

  test('skipping and counting read a few nodes only, whatever is skipped', async () => {
    const scene = await groupedScene();
    const store = scene.store as CountingStore;
    store.reads = 0;
    assert.equal([...scene.reader.rows(undefined, undefined, { skip: 9_990 })].length, 10);
    const reads = store.reads;
    assert.ok(reads <= scene.state.height, `${reads}`);
    assert.equal(scene.reader.rank({ key: grouped[7_777]!.key, after: false }), 7_777);
    assert.ok(store.reads - reads <= scene.state.height);
  });

  test('a reduction over most of the tree reads only what lies at its ends', async () => {
    const scene = await groupedScene();
    const store = scene.store as CountingStore;
    store.reads = 0;
    const start = { key: grouped[17]!.key, after: false };
    const end = { key: grouped[9_876]!.key, after: true };
    const pieces = scene.reader.pieces(start, end);
    assert.ok(store.reads <= 4 * scene.state.height, `${store.reads}`);
    let sum = 0;
    for (const { reductions, rows } of pieces)
      for (const value of reductions ?? rows!.map((row) => row.value.length)) sum += Number(value);
    const expected = grouped.slice(17, 9_877).reduce((all, { value }) => all + value.length, 0);
    assert.equal(sum, expected);
  });

  test('what is remembered with a piece is there for the next reader, as long as its node lives', async () => {
    const cache = new NodeCache(10_000_000);
    const scene = await groupedScene(cache);
    const count = (): number => {
      let made = 0;
      for (const { pieces } of scene.reader.groups(undefined, undefined, groupEnd(1, false))) {
        for (const piece of pieces) {
          made += piece.parsed === undefined && piece.count > 3 ? 1 : 0;
          piece.parsed ??= piece.count;
          if (piece.count > 3) assert.equal(piece.parsed, piece.count);
        }
      }
      return made;
    };
    const all = count();
    assert.ok(all > 10);
    assert.equal(count(), 0);
    await scene.update([scene.rows[4_500]!], []);
    const again = count();
    assert.ok(again > 0 && again < all, `${again} of ${all}`);
  });

  test('many things remembered with one node push each other out', async () => {
    const scene = await groupedScene(new NodeCache(10_000_000));
    for (let i = 0; i < 500; i++) {
      const start = { key: grouped[i % 40]!.key, after: false };
      const end = { key: grouped[50 + (i % 17)]!.key, after: true };
      for (const piece of scene.reader.pieces(start, end)) {
        const known = piece.parsed;
        if (known !== undefined) assert.equal(known, piece.count);
        piece.parsed = piece.count;
      }
    }
  });

  test('a cache too small for a node still serves', async () => {
    const scene = await groupedScene(new NodeCache(1));
    assert.equal([...scene.reader.rows(undefined, undefined)].length, 10_000);
  });

  test('a cache spares reads', async () => {
    const scene = await groupedScene(new NodeCache(10_000_000));
    const store = scene.store as CountingStore;
    for (const row of scene.reader.rows(undefined, undefined)) assert.ok(row.value);
    store.reads = 0;
    for (const row of scene.reader.rows(undefined, undefined)) assert.ok(row.value);
    assert.equal(store.reads, 0);
  });

  test('a reader that needs a replaced node says that a record is missing', async () => {
    const scene = await groupedScene();
    const { reader } = scene;
    const rows = reader.rows(undefined, undefined);
    rows.next();
    await scene.update([], [{ ...grouped[5_000]!, value: asBytes('"new"') }]);
    assert.throws(() => [...rows], /record \d+ is missing/);
    assert.throws(() => reader.rank({ key: grouped[5_000]!.key, after: false }), /record \d+ is missing/);
  });

  test('rows that were read stay as they were, large values too', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    const large = grouped
      .slice(0, 100)
      .map((row, i) => ({ ...row, value: asBytes(`"${'v'.repeat(i * 40)}"`) }));
    await scene.update([], large);
    const rows = [...scene.reader.rows(undefined, undefined)];
    await scene.update(large, []);
    assert.deepEqual(
      rows.map(({ id, value }) => ({ id, value })),
      large.map(({ id, value }) => ({ id, value })),
    );
  });

  test('what nodes remember counts among the bytes of the cache', async () => {
    const scene = await groupedScene(new NodeCache(4_000_000));
    const store = scene.store as CountingStore;
    const readAll = (): number => {
      store.reads = 0;
      for (const row of scene.reader.rows(undefined, undefined)) assert.ok(row.value);
      return store.reads;
    };
    readAll();
    assert.equal(readAll(), 0);
    for (let i = 0; i < 100; i++) {
      const start = { key: grouped[i * 90]!.key, after: false };
      for (const piece of scene.reader.pieces(start, undefined)) piece.parsed = new Uint8Array(20_000);
    }
    assert.ok(readAll() > 50);
  });

  test('a group that does not hold its first row is refused', async () => {
    const { reader } = await groupedScene();
    const groups = reader.groups(undefined, undefined, ({ key }) => ({ key, after: false }));
    assert.throws(() => [...groups], /has to hold its first row/);
  });

  test('groups are made one by one', async () => {
    const scene = await groupedScene();
    const store = scene.store as CountingStore;
    store.reads = 0;
    for (const { first, count } of scene.reader.groups(undefined, undefined, groupEnd(1, true), {
      descending: true,
    })) {
      assert.equal(first.id, 'doc-9999');
      assert.equal(count, 1_000);
      break;
    }
    assert.ok(store.reads <= 4 * scene.state.height, `${store.reads}`);
  });

  test('a damaged node is an error, never a wrong answer without end', async () => {
    const scene = await groupedScene();
    const root = scene.store.get(recordKey(asBytes(scene.prefix), scene.state.root))!;
    const leaf = [
      ...scene.store.entries({ start: asBytes(scene.prefix), end: asBytes(`${scene.prefix}\xff`) }),
    ][0]!.value;
    for (let part = 0; part < 1; part += 0.01) {
      assert.throws(() => new Inner(root.slice(0, root.length * part)), /damaged/);
      assert.throws(() => new Leaf(leaf.slice(0, leaf.length * part)), /damaged/);
    }
    assert.throws(() => new Leaf(asBytes(`${leaf}x`)), /damaged/);
    assert.throws(() => new Leaf(root), /damaged/);
    assert.throws(() => new Inner(leaf), /damaged/);
  });
});

test('what a search index keeps of documents is read only of those that are looked at', async () => {
  const store = new CountingStore();
  const scene = new TreeScene(store, [lengths]);
  const values = asBytes(JSON.stringify({ s: { a: 'x'.repeat(5_000) } }));
  await scene.update(
    [],
    Array.from({ length: 100 }, (_, i): Row => {
      const value = encodeDoc(asBytes(`doc-${i}`), values);
      return { key: asBytes(docKey), id: docNumber(i), n: 0, keyText: asBytes(''), value };
    }),
  );
  const rows = ({ low, high }: ViewRange, options: RowsOptions): Iterable<Row> =>
    scene.reader.rows(low, high, options);
  const reader = new SearchReader({ rows } as unknown as ViewReader, undefined);
  store.reads = 0;
  const docs = Array.from(reader.allDocs({ from: 10, to: 90 }), ({ doc }) => doc);
  assert.equal(docs.length, 80);
  assert.ok(store.reads < 20, `${store.reads} reads`);
  assert.equal(reader.doc(17)!.id, 'doc-17');
});
