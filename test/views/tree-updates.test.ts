import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareBytes } from '../../src/json/compare-keys.js';
import { encodeKey, encodeRawKey } from '../../src/json/order-key.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Inner } from '../../src/indexes/tree/inner.js';
import { recordKey } from '../../src/indexes/tree/node-source.js';
import { lasting } from '../../src/indexes/tree/leaf.js';
import type { Reducer } from '../../src/indexes/tree/reducer.js';
import type { Row } from '../../src/indexes/tree/row.js';
import { nodeBytesMax } from '../../src/indexes/tree/tree-node.js';
import { decodeTreeState, encodeTreeState } from '../../src/indexes/tree/tree-state.js';
import { TreeWriter } from '../../src/indexes/tree/tree-writer.js';
import { lengths, names, RandomRows, TreeScene } from './tree-scene.js';
import { seed } from '../model/random.js';

const runtime = new SystemRuntime();

const numbered = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, i) => ({
    key: encodeKey(from + i),
    id: asBytes(`doc-${from + i}`),
    n: 0,
    keyText: asBytes(String(from + i)),
    value: asBytes('1'),
  }));

function recordsOf({ store, prefix }: TreeScene): number {
  return store.count({ start: asBytes(prefix), end: asBytes(`${prefix}\xff`) });
}

describe('updates of a tree', () => {
  test('a bulk load fills nodes to nine tenths', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    await scene.update([], numbered(0, 20_000));
    scene.check();
    assert.ok(scene.state.bytes / recordsOf(scene) > nodeBytesMax * 0.85);
  });

  test('rows that come at the end in small batches leave full nodes behind them', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    for (let at = 0; at < 6_000; at += 20) await scene.update([], numbered(at, at + 20));
    scene.check();
    assert.ok(scene.state.bytes / recordsOf(scene) > nodeBytesMax * 0.8);
  });

  test('a large batch spread over all leaves leaves them well filled', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    const rows = numbered(0, 20_000);
    await scene.update([], rows.filter((_, i) => i % 10 > 0)); // prettier-ignore
    await scene.update([], rows.filter((_, i) => i % 10 === 0)); // prettier-ignore
    scene.check();
    assert.ok(scene.state.bytes / recordsOf(scene) > nodeBytesMax * 0.8);
  });

  test(`leaves that have their rows already are left alone, seed ${seed}`, async () => {
    const random = new RandomRows(seed);
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    await scene.update([], numbered(0, 5_000));
    await scene.update([], random.rows(300));
    assert.equal(await scene.update([], scene.rows, true), 0);
    for (let step = 0; step < 20; step++) {
      const repeated = random.some(scene.rows, 200);
      await scene.update(
        random.some(scene.rows, step),
        [...repeated, ...numbered(6_000 + 20 * step, 6_000 + 21 * step)],
        true,
      );
      scene.check();
    }
    const one = scene.rows[2_000]!;
    const written = await scene.update(
      [],
      [...scene.rows.filter((row) => row !== one), { ...one, value: asBytes('"new"') }],
      true,
    );
    scene.check();
    assert.ok(written <= 2 * scene.state.height + 2, `${written} records`);
  });

  test(`rows that go one by one leave few sparse nodes, and at last none, seed ${seed}`, async () => {
    const random = new RandomRows(seed);
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    await scene.update([], numbered(0, 3_000));
    const leaving = scene.rows.toSorted(() => random.random.below(3) - 1);
    const full = recordsOf(scene);
    while (leaving.length > 100) await scene.update([leaving.pop()!], []);
    scene.check();
    assert.ok(recordsOf(scene) <= full / 6, `${recordsOf(scene)} of ${full}`);
    while (leaving.length > 0) await scene.update([leaving.pop()!], []);
    scene.check();
    assert.equal(recordsOf(scene), 0);
  });

  test('rows that come into the gap of a leaf that is gone are found', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    await scene.update([], numbered(0, 40_000));
    const node = (id: number): Inner => new Inner(scene.store.get(recordKey(asBytes(scene.prefix), id))!);
    const root = node(scene.state.root);
    const second = root.rowsBefore(1);
    const gap = scene.rows.slice(second, second + node(root.children[1]!).countOf(0));
    await scene.update(gap, []);
    await scene.update([], gap.slice(0, 1));
    scene.check();
    await scene.update(scene.rows.slice(second + 20, second + 20 + root.countOf(1) - gap.length), []);
    scene.check();
    assert.equal(
      [...scene.reader.rows({ key: gap[0]!.key, after: false }, { key: gap[0]!.key, after: true })].length,
      1,
    );
  });

  test('rows of one key and one document are told apart by their ordinals', async () => {
    const scene = new TreeScene(new MemoryStore());
    const rows = Array.from({ length: 900 }, (_, n) => ({ ...numbered(7, 8)[0]!, n }));
    await scene.update([], rows);
    await scene.update(
      rows.filter(({ n }) => n % 3 === 0),
      [{ ...rows[500]!, value: asBytes('"new"') }],
    );
    scene.check();
    const key = encodeKey(7);
    assert.equal(
      scene.reader.count(
        { key, id: asBytes('doc-7'), after: false },
        { key, id: asBytes('doc-7'), after: true },
      ),
      600,
    );
  });

  test(`large keys and values, seed ${seed}`, async () => {
    const sizes = [0, 10, 1_020, 1_022, 1_023, 5_000, 100_000];
    const random = new RandomRows(
      seed,
      (keys) =>
        keys.pick(
          ['a', 'é', ['b']].map((start) => [
            start,
            keys.pick(['x', 'y'].map((c) => c.repeat(keys.pick(sizes)))),
          ]),
        ),
      (keys) => keys.pick(sizes),
    );
    const scene = new TreeScene(new MemoryStore());
    for (let step = 0; step < 12; step++) {
      await scene.update(random.some(scene.rows, 20), random.rows(step === 0 ? 60 : 15));
      scene.check();
    }
    await scene.update(scene.rows, []);
    scene.check();
  });

  test(`trees may have another order, seed ${seed}`, async () => {
    const random = new RandomRows(seed);
    const scene = new TreeScene(new MemoryStore(), undefined, undefined, compareBytes);
    const raw = (rows: Row[]): Row[] =>
      rows.map((row) => ({
        ...row,
        key: encodeRawKey(JSON.parse(Buffer.from(row.keyText, 'latin1').toString())),
      }));
    const unique = new Map(raw(random.rows(1_000)).map((row) => [`${row.key} ${row.id} ${row.n}`, row]));
    await scene.update([], [...unique.values()]);
    scene.check();
  });

  test('of equal rows in one update the last counts, and an insert more than a removal', async () => {
    const scene = new TreeScene(new MemoryStore());
    const [row] = numbered(1, 2) as [Row];
    const writer = new TreeWriter(
      scene.store,
      asBytes(scene.prefix),
      scene.state,
      scene.compare,
      scene.reducers,
      runtime,
    );
    const { writes, state } = await writer.update([row, row], [row, { ...row, value: asBytes('2') }]);
    await scene.store.write(writes).committed;
    Object.assign(scene, { state, rows: [{ ...row, value: '2' }] });
    scene.check();
  });

  test('rows out of order are refused', async () => {
    const scene = new TreeScene(new MemoryStore());
    const writer = new TreeWriter(
      scene.store,
      asBytes(scene.prefix),
      scene.state,
      scene.compare,
      [],
      runtime,
    );
    const rows = numbered(0, 3);
    await assert.rejects(writer.update([], [rows[1]!, rows[0]!]), /not in order/);
    await assert.rejects(writer.update([rows[2]!, rows[0]!], []), /not in order/);
  });

  test('an update that changes nothing writes nothing', async () => {
    const scene = new TreeScene(new MemoryStore());
    const writer = new TreeWriter(
      scene.store,
      asBytes(scene.prefix),
      scene.state,
      scene.compare,
      [],
      runtime,
    );
    assert.deepEqual(await writer.update([], []), { writes: [], state: scene.state });
    await scene.update(numbered(0, 5), []);
    scene.check();
  });

  test('ids are never used again', async () => {
    const scene = new TreeScene(new MemoryStore());
    const seen = new Set<string>();
    for (let at = 0; at < 40; at++) {
      const before = new Set(
        scene.store.keys({ start: asBytes(scene.prefix), end: asBytes(`${scene.prefix}\xff`) }),
      );
      await scene.update(scene.rows.slice(0, at * 10), numbered(at * 100, at * 100 + 200));
      for (const key of scene.store.keys({
        start: asBytes(scene.prefix),
        end: asBytes(`${scene.prefix}\xff`),
      })) {
        assert.ok(before.has(key) || !seen.has(key));
        seen.add(key);
      }
    }
  });
});

describe('a large update', () => {
  const large = (from: number, to: number): Row[] =>
    numbered(from, to).map((row) => ({ ...row, value: asBytes(String(row.n).repeat(900)) }));

  test('commits leaves ahead, and what a failed one has left is overwritten', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    await scene.update([], large(0, 100));
    const { store, prefix, state, compare } = scene;
    let ahead = 0;
    const writer = (reducer: Reducer): TreeWriter =>
      new TreeWriter(
        store,
        asBytes(prefix),
        state,
        compare,
        [reducer],
        runtime,
        undefined,
        undefined,
        (writes) => {
          ahead += writes.length;
          return store.write(writes).committed;
        },
      );
    const failing = { ...lengths, rereduce: () => Promise.reject(new Error('a reduce function threw')) };
    await assert.rejects(writer(failing).update([], large(100, 20_000)), /a reduce function threw/);
    assert.ok(ahead > 1_000, `${ahead} records were committed ahead`);
    assert.deepEqual(Array.from(scene.reader.rows(undefined, undefined), lasting), scene.rows);
    const updated = await writer(lengths).update([], large(100, 20_000));
    assert.ok(updated.writes.length < 4_000, `${updated.writes.length} records were held to the end`);
    await store.write(updated.writes).committed;
    Object.assign(scene, { state: updated.state, rows: large(0, 20_000) });
    scene.check();
  });

  test('fails where records could not be committed ahead', async () => {
    const { store, prefix, state, compare } = new TreeScene(new MemoryStore());
    const full = (): Promise<void> => Promise.reject(new Error('the disk is full'));
    const writer = new TreeWriter(
      store,
      asBytes(prefix),
      state,
      compare,
      [],
      runtime,
      undefined,
      undefined,
      full,
    );
    await assert.rejects(writer.update([], large(0, 20_000)), /the disk is full/);
  });
});

describe('reducers', () => {
  test('one that answers at once is asked about a part of many nodes at a time', async () => {
    const scene = new TreeScene(new MemoryStore(), [lengths]);
    const calls: string[] = [];
    const writer = new TreeWriter(
      scene.store,
      asBytes(scene.prefix),
      scene.state,
      scene.compare,
      [noted(lengths, calls)],
      runtime,
    );
    await writer.update([], numbered(0, 80_000));
    assert.deepEqual(calls, ['reduce', 'reduce', 'rereduce']);
  });

  test('one that answers later is asked once for each level, and not for the root', async () => {
    const scene = new TreeScene(new MemoryStore(), [names]);
    await scene.update([], numbered(0, 2_000));
    const calls: string[] = [];
    const { store, prefix, state, compare } = scene;
    await new TreeWriter(store, asBytes(prefix), state, compare, [noted(names, calls)], runtime).update(
      [],
      numbered(500, 900),
    );
    assert.ok(state.height > 2);
    assert.deepEqual(calls, ['reduce', ...Array.from({ length: state.height - 2 }, () => 'rereduce')]);
  });

  test('one that fails, or gives too few values, fails the update', async () => {
    const { store, prefix, state, compare } = new TreeScene(new MemoryStore());
    const update = (reducer: Reducer): Promise<unknown> =>
      new TreeWriter(store, asBytes(prefix), state, compare, [reducer], runtime).update([], numbered(0, 500));
    const failing = (): Promise<never> => Promise.reject(new Error('a reduce function threw'));
    await assert.rejects(update({ reduce: failing, rereduce: failing }), /a reduce function threw/);
    await assert.rejects(
      update({ reduce: () => [asBytes('1')], rereduce: () => [asBytes('1')] }),
      /one value for each group/,
    );
  });
});

function noted(reducer: Reducer, calls: string[]): Reducer {
  return {
    reduce: (groups) => (calls.push('reduce'), reducer.reduce(groups)),
    rereduce: (groups) => (calls.push('rereduce'), reducer.rereduce(groups)),
  };
}

test('a state is read back as it was, and an unknown version is refused', () => {
  const state = { root: 2 ** 40, height: 5, count: 123_456_789, nextId: 2 ** 40 + 1, bytes: 2 ** 45 };
  assert.deepEqual(decodeTreeState(encodeTreeState(state)), state);
  assert.throws(
    () => decodeTreeState(asBytes(`\x02${encodeTreeState(state).slice(1)}`)),
    /unknown version 2/,
  );
  assert.throws(() => decodeTreeState(encodeTreeState(state).slice(0, -1)), /damaged/);
  assert.throws(() => decodeTreeState(asBytes(`${encodeTreeState(state)}x`)), /damaged/);
});
