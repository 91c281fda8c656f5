import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes } from '../../src/base/bytes.js';
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
  for (const name of names) facets.add({ id: '', values: { f: { a: [name] } } });
  for (const name of ['é17', 'é4', 'é17']) facets.add({ id: '', values: { f: { a: [name] } } });

  const runtime = new LookedAtTime();
  const { a } = JSON.parse(fromBytes(await facets.counts(runtime))) as { a: Record<string, number> };
  assert.deepEqual(Object.keys(a), names.toSorted());
  assert.ok(runtime.turns > 10, `${runtime.turns} turns`);

  const top = new LookedAtTime();
  assert.equal(fromBytes(await facets.topCounts(3, top)), '{"a":{"é17":3,"é4":2,"é0":1}}');
  assert.ok(top.turns > 10, `${top.turns} turns`);
});
