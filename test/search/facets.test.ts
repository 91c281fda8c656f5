import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, noBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { Facets } from '../../src/fulltext/facets.js';
import { Groups } from '../../src/fulltext/groups.js';
import { byRelevance } from '../../src/fulltext/sorting.js';
import { TopHits } from '../../src/fulltext/top-hits.js';

/** Its clock goes on with every look. */
class LookedAtTime extends SystemRuntime {
  #ms = 0;
  turns = 0;

  override monotonicMs(): number {
    return this.#ms++;
  }

  override async nextTurn(): Promise<void> {
    this.turns++;
    await Promise.resolve();
  }
}

test('many texts are counted and sorted in several turns', async () => {
  const facets = new Facets({ counts: ['a'], ranges: undefined });
  const names = Array.from({ length: 50_000 }, (_, i) => `é${(i * 7_919) % 50_000}`);
  for (const name of names) facets.add({ id: noBytes, values: { f: { a: [name] } } });
  for (const name of ['é17', 'é4', 'é17']) facets.add({ id: noBytes, values: { f: { a: [name] } } });

  const runtime = new LookedAtTime();
  const { a } = JSON.parse(fromBytes(await facets.counts(runtime))) as { a: Record<string, number> };
  assert.deepEqual(Object.keys(a), names.toSorted());
  assert.ok(runtime.turns > 10, `${runtime.turns} turns`);

  const top = new LookedAtTime();
  assert.equal(fromBytes(await facets.topCounts(3, top)), '{"a":{"é17":3,"é4":2,"é0":1}}');
  assert.ok(top.turns > 10, `${top.turns} turns`);
});

test('a document counts once for each range that has one of its numbers, however many it has', async () => {
  const numbers = [5, -1, 3.5, 9, 0, 20, -30];
  const bounds = [-Infinity, -30, -1, 0, 1, 3.5, 5, 19, 20, 21, Infinity];
  const named = bounds.flatMap((low) =>
    bounds.flatMap((high) =>
      [true, false].flatMap((includesLow) =>
        [true, false].map((includesHigh) => ({ low, high, includesLow, includesHigh })),
      ),
    ),
  );
  const facets = new Facets({ counts: undefined, ranges: { n: Object.fromEntries(named.entries()) } });
  facets.add({ id: noBytes, values: { v: { n: numbers } } });
  const { n } = JSON.parse(fromBytes(await facets.ranges(new SystemRuntime()))) as {
    n: Record<string, number>;
  };
  for (const [i, { low, high, includesLow, includesHigh }] of named.entries()) {
    const isWithin = (number: number): boolean =>
      (includesLow ? number >= low : number > low) && (includesHigh ? number <= high : number < high);
    assert.equal(n[i], numbers.some(isWithin) ? 1 : 0, JSON.stringify(named[i]));
  }
});

const megabyte = (i: number): string => String(i).padStart(1024 * 1024, 'x');

test('long texts are counted as long as they take little memory together', () => {
  const facets = new Facets({ counts: ['a', 'b'], ranges: undefined });
  const add = (name: string, i: number): void =>
    facets.add({ id: noBytes, values: { f: { [name]: [megabyte(i)] } } });
  for (let i = 0; i < 100; i++) add('a', i % 8);
  for (let i = 0; i < 8; i++) add('b', i);
  assert.throws(() => add('b', 8), { error: 'bad_request', reason: /16 MB/ });
});

const sort = Array(100).fill(byRelevance) as (typeof byRelevance)[];
const newGroups = (limit: number): Groups =>
  new Groups({ field: 'a', limit: 10_000, sort }, () => new TopHits(limit, sort));
const orderOf = (doc: number): number[] => [...Array<number>(100).fill(7), doc];

test('hits are grouped by long texts as long as these take little memory together', async () => {
  const groups = newGroups(1);
  const add = (doc: number): void =>
    groups.add({ doc, order: orderOf(doc) }, orderOf(doc), {
      id: noBytes,
      values: { f: { a: [megabyte(doc % 100)] } },
    });
  for (let i = 0; i < 16; i++) for (let round = 0; round < 3; round++) add(i + 100 * round);
  assert.deepEqual(
    (await groups.first(new SystemRuntime())).map(({ count }) => count),
    Array(16).fill(3),
  );
  assert.throws(() => add(16), { error: 'bad_request', reason: /16 MB/ });
});

test('groups keep a bounded number of values to sort by', () => {
  const groups = newGroups(200);
  assert.throws(
    () => {
      for (let doc = 0; doc < 50_000; doc++)
        groups.add({ doc, order: orderOf(doc) }, orderOf(doc), {
          id: noBytes,
          values: { f: { a: [String(doc % 1_000)] } },
        });
    },
    { error: 'bad_request', reason: /values to sort by/ },
  );
});

test('many groups are sorted in several turns', async () => {
  const groups = newGroups(1);
  for (let doc = 0; doc < 5_000; doc++) {
    const order = orderOf((doc * 7_919) % 5_000);
    groups.add({ doc, order }, order, { id: noBytes, values: { f: { a: [String(doc)] } } });
  }
  const runtime = new LookedAtTime();
  assert.equal((await groups.first(runtime)).length, 5_000);
  assert.ok(runtime.turns > 0);
});
