import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { compareKeys } from '../../src/json/compare-keys.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Store } from '../../src/storage/store.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { compareRows, type Bound, type Row } from '../../src/indexes/tree/row.js';
import { groupEnd, nameOf, namesOf, RandomRows, TreeScene } from './tree-scene.js';
import { seed as ofRun } from '../model/random.js';

const seeds = [1, 2, ofRun];

const stores: Record<string, (t: TestContext) => Store> = {
  'in memory': () => new MemoryStore(),
  'in LMDB': (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-tree-'));
    const store = new LmdbStore(path.join(folder, 'store'));
    t.after(async () => {
      await store.close();
      fs.rmSync(folder, { recursive: true });
    });
    return store;
  },
};

for (const [place, open] of Object.entries(stores)) {
  describe(`a tree ${place}`, () => {
    for (const seed of seeds) {
      test(`holds what a sorted list holds, seed ${seed}`, async (t) => {
        const random = new RandomRows(seed);
        const scene = new TreeScene(open(t), undefined, seed % 2 ? new NodeCache(200_000) : undefined);
        for (let step = 0; step < 25; step++) {
          await randomUpdate(scene, random);
          scene.check();
          for (let i = 0; i < 5; i++) checkReads(scene, random);
        }
        await scene.update(scene.rows, []);
        scene.check();
      });
    }
  });
}

async function randomUpdate(scene: TreeScene, random: RandomRows): Promise<void> {
  const { random: keys } = random;
  // Neighbours, so that whole leaves become empty, and come back.
  const from = keys.below(scene.rows.length + 1);
  const span = scene.rows.slice(from, from + keys.pick([0, 0, 50, 500]));
  const removals = [...new Set([...span, ...random.some(scene.rows, keys.pick([0, 1, 20, 400]))])];
  const inserts = keys.below(4) === 0 ? [] : random.rows(keys.pick([1, 1, 5, 50, 600]));
  const others = [
    ...random.some(scene.rows, keys.below(3)).map((row) => ({ ...row, value: asBytes('"other"') })),
    ...random.some(scene.gone, keys.pick([0, 1, 30])),
  ];
  for (const row of others)
    if (inserts.every((other) => compareRows(compareKeys, row, other) !== 0)) inserts.push(row);
  await scene.update(removals, inserts);
}

function checkReads(scene: TreeScene, random: RandomRows): void {
  const { reader } = scene;
  const start = random.bound(scene.rows);
  const end = random.bound(scene.rows);
  const expected = scene.between(start, end);
  if (start) assert.equal(reader.rank(start), scene.placeOf(start));
  assert.equal(reader.count(start, end), expected.length);
  assert.deepEqual(plain(reader.rows(start, end)), expected);
  assert.deepEqual(plain(reader.rows(start, end, { descending: true })), expected.toReversed());
  const skip = random.random.below(expected.length + 2);
  const limit = random.random.below(30);
  assert.deepEqual(plain(reader.rows(start, end, { skip, limit })), expected.slice(skip, skip + limit));
  assert.deepEqual(
    plain(reader.rows(start, end, { skip, limit, descending: true })),
    expected.toReversed().slice(skip, skip + limit),
  );
  const pieces = [...reader.pieces(start, end, 1)];
  assert.equal(namesOf(pieces), expected.map(nameOf).join(''));
  assert.equal(
    pieces.reduce((sum, { count }) => sum + count, 0),
    expected.length,
  );
  for (const level of [1, 2, Infinity]) checkGroups(scene, start, end, level, expected);
}

const plain = (rows: Iterable<Row>): Row[] =>
  [...rows].map(({ key, id, n, keyText, value }) => ({ key, id, n, keyText, value }));

function checkGroups(
  scene: TreeScene,
  start: Bound | undefined,
  end: Bound | undefined,
  level: number,
  rows: Row[],
): void {
  for (const descending of [false, true]) {
    const endOf = groupEnd(level, descending);
    const expected: { first: string; count: number; names: string }[] = [];
    let open: Row[] = [];
    const close = (): void => {
      if (open.length === 0) return;
      const inOrder = descending ? open.toReversed() : open;
      expected.push({ first: nameOf(open[0]!), count: open.length, names: inOrder.map(nameOf).join('') });
      open = [];
    };
    for (const row of descending ? rows.toReversed() : rows) {
      if (open[0] && scene.isBefore(row, endOf(open[0])) === descending) close();
      open.push(row);
    }
    close();
    const groups = [...scene.reader.groups(start, end, endOf, { descending, reducer: 1 })];
    assert.deepEqual(
      groups.map(({ first, count, pieces }) => ({ first: nameOf(first), count, names: namesOf(pieces) })),
      expected,
    );
  }
}
