import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Emitted } from '../../src/indexes/doc-rows.js';
import { IndexBatch } from '../../src/indexes/index-batch.js';
import { newIndexState } from '../../src/indexes/index-state.js';
import { ShardMap } from '../../src/shard/shard-map.js';
import { OpenIndex } from '../../src/indexes/open-index.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { reducersOf } from '../../src/indexes/reduce/tree-reducer.js';
import type { ScriptHost } from '../../src/script/script-host.js';

const view = {
  name: 'v',
  signature: '00'.repeat(16),
  map: { kind: 'function', source: '' },
  reduce: '_stats',
  raw: false,
  partitioned: false,
} as const;

const count = 80_000;
const rows: Record<string, (n: number) => Emitted> = {
  'different keys': (n) => ({ key: asBytes(`["key",${(n * 7_919) % count}]`), value: asBytes(`${n}`) }),
  'equal keys': (n) => ({ key: asBytes('"key"'), value: asBytes(`${(n * 7_919) % count}`) }),
};

/** Turns of the event loop while work is done, and how much of that time was spent in the longest of them. */
async function turnsOf(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  count();
  await work();
  isDone = true;
  return turns;
}

describe('others run while many rows are brought into an index', () => {
  for (const [name, rowOf] of Object.entries(rows)) {
    for (const docs of [1, count]) {
      it(`${name} of ${docs} documents`, async () => {
        const store = new MemoryStore();
        const reducers = reducersOf(view.reduce, {} as ScriptHost, 'db');
        const runtime = new SystemRuntime();
        const index = new OpenIndex(
          store,
          1,
          view,
          newIndexState(new ShardMap(1)),
          reducers,
          runtime,
          new NodeCache(1_000_000),
        );
        const batch = new IndexBatch(index.order, false, runtime);
        const all = Array.from({ length: count }, (_, n) => rowOf(n));
        const ids = Array.from({ length: docs }, (_, n) => asBytes(`doc${n}`)).sort();
        const gathering = await turnsOf(async () => {
          if (docs === 1) await batch.add(ids[0]!, all);
          else for (const [n, id] of ids.entries()) await batch.add(id, [all[n]!]);
        });
        const applying = await turnsOf(async () => {
          const { tree, writes } = await batch.apply(index, store, ids, true);
          assert.equal(tree.count, count);
          await store.write([...writes]).committed;
          index.state = { ...index.state, tree };
        });
        const again = await turnsOf(async () => {
          const { writes } = await batch.apply(index, store, ids, true);
          assert.ok(writes.length > 0);
        });
        if (docs === 1) assert.ok(gathering > 5, `${gathering} turns`);
        assert.ok(applying > 5 && again > 5, `${applying} and ${again} turns`);
      });
    }
  }
});
