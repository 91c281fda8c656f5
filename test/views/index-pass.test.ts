import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime, type Runtime } from '../../src/base/runtime.js';
import { ShardsChanged, type DocSource } from '../../src/indexes/doc-source.js';
import { IndexPass } from '../../src/indexes/index-pass.js';
import { newIndexState } from '../../src/indexes/index-state.js';
import type { Mapper } from '../../src/indexes/mapper-contract.js';
import { OpenIndex } from '../../src/indexes/open-index.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { ShardMap } from '../../src/shard/shard-map.js';
import { goneState } from '../../src/shard/shard-state.js';
import { MemoryStore } from '../../src/storage/memory-store.js';

const view = {
  name: 'v',
  signature: '00'.repeat(16),
  map: { kind: 'function', source: '' },
  reduce: undefined,
  raw: false,
  partitioned: false,
} as const;
const docsMax = 500;
const mapper: Mapper = {
  isElsewhere: false,
  map: (docs) =>
    Promise.resolve({
      rows: () => Promise.resolve(docs.map((_, n) => [[{ key: asBytes(`${n}`), value: asBytes('null') }]])),
    }),
};

/** Its rows are written after each load of documents, as the time they may wait is over each time. */
class HurriedRuntime extends SystemRuntime {
  #now = 0;

  override monotonicMs(): number {
    return (this.#now += 20_000);
  }
}

/** Of a process that has run for long. */
class LateRuntime extends SystemRuntime {
  override monotonicMs(): number {
    return 1e9 + super.monotonicMs();
  }
}

/** The shards change when this many loads have been read. */
function sourceOf(loads: number): DocSource {
  let read = 0;
  const source: Pick<DocSource, 'shards' | 'changes'> = {
    shards: new ShardMap(1),
    changes: (_shard, after) => {
      if (read++ === loads) throw new ShardsChanged();
      const docs = Array.from({ length: docsMax }, (_, n) => ({
        id: asBytes(`doc${after + n}`),
        text: asBytes('{}'),
      }));
      return { docs, seq: after + docsMax };
    },
  };
  return source as DocSource;
}

function passOver(
  store: MemoryStore,
  mapping = mapper,
  loads = 3,
  depth = 0,
  { runtime = new HurriedRuntime() as Runtime, seq = 10 * docsMax } = {},
): { run: () => Promise<boolean> } {
  const shards = new ShardMap(1);
  const index = new OpenIndex(store, 1, view, newIndexState(shards), [], runtime, new NodeCache(1_000_000));
  const states = [{ ...goneState(), epoch: 1, seq }];
  return new IndexPass([index], sourceOf(loads), mapping, states, {
    runtime,
    depth,
    onProgress: () => {},
    check: () => {},
    hasOthers: () => false,
    onExceeded: () => {},
  });
}

test('a pass that shards change under ends with that when its rows are stored', async () => {
  await assert.rejects(passOver(new MemoryStore()).run(), ShardsChanged);
});

test('a commit that fails is heard, although shards change at the same time', async () => {
  const store = new MemoryStore();
  let writes = 0;
  const write = store.write.bind(store);
  const full = new Error('the disk is full');
  // The last commit before the shards change.
  store.write = (given) => (++writes < 3 ? write(given) : { ...write([]), committed: Promise.reject(full) });
  await assert.rejects(passOver(store).run(), full);
});

for (const [what, runtime] of [
  ['a pass', new LateRuntime()],
  ['a pass whose time to gather is over', new HurriedRuntime()],
] as const)
  test(`${what} writes what has changed in one commit`, async () => {
    const store = new MemoryStore();
    let writes = 0;
    const write = store.write.bind(store);
    store.write = (given) => (writes++, write(given));
    await passOver(store, mapper, 3, 0, { runtime, seq: docsMax }).run();
    assert.equal(writes, 1);
  });

test('functions that fail while earlier ones are waited for are heard when it is their turn', async (t) => {
  const unheard: unknown[] = [];
  const hear = (error: unknown): void => void unheard.push(error);
  process.on('unhandledRejection', hear);
  t.after(() => process.off('unhandledRejection', hear));
  const tooSlow = new Error('the function took too long');
  let maps = 0;
  const slowFirst: Mapper = {
    isElsewhere: false,
    map: async (docs) => {
      if (++maps > 1) throw tooSlow;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return await mapper.map(docs);
    },
  };
  await assert.rejects(passOver(new MemoryStore(), slowFirst, 10, 2).run(), tooSlow);
  assert.deepEqual(unheard, []);
});
