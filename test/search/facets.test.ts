import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, noBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { Facets } from '../../src/fulltext/facets.js';

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
