import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { keyPrefix } from '../../src/json/key-prefix.js';
import { encodeKey } from '../../src/json/order-key.js';
import type { RandomKeys } from '../support/random-keys.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Grouping } from '../../src/indexes/tree/group-walk.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import type { Bound, Row } from '../../src/indexes/tree/row.js';
import { groupKeyText } from '../../src/indexes/view-reader.js';
import { lengths, nameOf, names, RandomRows, TreeScene } from './tree-scene.js';
import { seed } from '../model/random.js';

/** Strings ids together, so that every row that is missing, doubled or out of order shows. */
const grouping = (level: number, mark: number | undefined): Grouping<Bytes> => ({
  mark,
  groupOf: (key) => keyPrefix(key, level) ?? key,
  textOf: (keyText) => groupKeyText({ keyText }, level),
  rows: (rows) => asBytes(rows.map(nameOf).join('')),
  merge: (states) => asBytes(states.join('')),
  decode: (reduction) => reduction,
});

/** The same from the plain list. */
function expected(scene: TreeScene, start: Bound | undefined, end: Bound | undefined, level: number) {
  const groups: { text: Bytes; state: Bytes; group: Bytes }[] = [];
  for (const row of scene.between(start, end)) {
    const group = keyPrefix(row.key, level) ?? row.key;
    const last = groups.at(-1);
    if (last !== undefined && scene.compare(last.group, group) === 0)
      last.state = asBytes(last.state + nameOf(row));
    else groups.push({ group, text: groupKeyText(row, level), state: nameOf(row) });
  }
  return groups.map(({ text, state }) => ({ text, state }));
}

/** Few first elements, many second ones; some keys are no arrays, or short. */
function keyOf(random: RandomKeys): unknown {
  const kind = random.below(20);
  if (kind === 0) return random.key(1);
  if (kind === 1) return [random.below(5)];
  return [random.below(5), random.pick(['a', 'é', 'B', 'long text that fills leaves']), random.below(40)];
}

test('groups come to what their rows come to, in any range, after any change', async () => {
  const random = new RandomRows(seed, keyOf);
  for (const cache of [undefined, new NodeCache(10_000_000)]) {
    const scene = new TreeScene(new MemoryStore(), [names, lengths], cache);
    for (let round = 0; round < 12; round++) {
      const removals = random.some(scene.rows, round % 3 === 2 ? 400 : 5);
      await scene.update(removals, random.rows(round % 3 === 2 ? 5 : 900));
      for (let i = 0; i < 12; i++) {
        const [start, end] = i < 2 ? [] : [random.bound(scene.rows), random.bound(scene.rows)];
        const level = 1 + (i % 4);
        const mark = i % 5 === 4 ? undefined : level;
        const found = [...scene.reader.foldGroups(start, end, grouping(level, mark))];
        const shown = found.map(({ text, state }) => ({ text, state }));
        assert.deepEqual(shown, expected(scene, start, end, level), `TUFFET_SEED=${seed} ${round} ${i}`);
      }
    }
  }
});

class CountingStore extends MemoryStore {
  reads = 0;

  override get(key: Bytes): Bytes | undefined {
    this.reads++;
    return super.get(key);
  }
}

const wide = Array.from({ length: 50_000 }, (_, i): Row => {
  const key = [Math.floor(i / 5_000), i];
  return {
    key: encodeKey(key),
    id: asBytes(`doc-${i}`),
    n: 0,
    keyText: asBytes(JSON.stringify(key)),
    value: asBytes('1'),
  };
});

test('large groups are not read row by row', async () => {
  const store = new CountingStore();
  const scene = new TreeScene(store, [lengths]);
  await scene.update([], wide);
  store.reads = 0;
  const { reader } = scene;
  assert.equal([...reader.foldGroups(undefined, undefined, grouping(1, 1))].length, 10);
  // The leaves alone are about a thousand.
  assert.ok(store.reads < 100, `${store.reads} nodes were read`);
});

test('what is remembered of groups is there for the next reader, also when the tree has changed elsewhere', async () => {
  const store = new CountingStore();
  const scene = new TreeScene(store, [names], new NodeCache(50_000_000));
  await scene.update([], wide);
  const counts = (): { rows: number; groups: number } => {
    let rows = 0;
    const counting = grouping(1, 1);
    const counted: Grouping<Bytes> = {
      ...counting,
      rows: (list) => ((rows += list.length), counting.rows(list)),
    };
    const groups = [...scene.reader.foldGroups(undefined, undefined, counted)].length;
    return { rows, groups };
  };
  assert.ok(counts().rows > 0);
  assert.deepEqual(counts(), { rows: 0, groups: 10 });
  await scene.update([wide[7]!], []);
  const { rows } = counts();
  assert.ok(rows < 200, `${rows} rows were reduced again`);
});
