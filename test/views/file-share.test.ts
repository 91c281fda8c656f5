import assert from 'node:assert/strict';
import { test } from 'node:test';
import { u48 } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { FileShare } from '../../src/indexes/file-share.js';
import type { IndexBackend } from '../../src/indexes/index-backend.js';
import { SoleBackend } from '../../src/indexes/index-backends.js';
import { IndexKeys, registerKey } from '../../src/indexes/index-keys.js';
import { encodeIndexState, newIndexState } from '../../src/indexes/index-state.js';
import { ShardMap } from '../../src/shard/shard-map.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { StoreSize } from '../../src/storage/store.js';

/** A clock that goes on by a millisecond whenever it is looked at. */
class LookedAtRuntime extends SystemRuntime {
  ms = 0;
  turns = 0;

  override monotonicMs(): number {
    return ++this.ms;
  }

  override nextTurn(): Promise<void> {
    this.turns++;
    return super.nextTurn();
  }
}

const count = 5_000;
const treeBytes = 1_000;

async function storeOfIndexes(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const state = newIndexState(new ShardMap(1));
  const value = encodeIndexState({ ...state, tree: { ...state.tree, bytes: treeBytes } });
  const writes = Array.from({ length: count }, (_, n) => [
    { key: registerKey(1, n.toString(16).padStart(32, '0')), value: u48(n + 1) },
    { key: new IndexKeys(n + 1).state, value },
  ]);
  await store.write(writes.flat()).committed;
  return store;
}

async function scene() {
  const runtime = new LookedAtRuntime();
  const inner = await storeOfIndexes();
  const seen = { file: 2 * count * treeBytes, reads: 0 };
  const store = Object.create(inner, {
    get: { value: (key: never) => (seen.reads++, inner.get(key)) },
    keys: { value: (range: never) => inner.keys(range) },
  }) as MemoryStore;
  const size = (): StoreSize => ({ file_bytes: seen.file, used_bytes: seen.file });
  const backends = new SoleBackend({ store, size } as unknown as IndexBackend);
  return { runtime, seen, share: new FileShare(runtime, backends) };
}

test('the trees of many indexes are added up in slices', async () => {
  const { runtime, share } = await scene();
  assert.equal(await share.of(treeBytes), 2 * treeBytes);
  assert.ok(runtime.turns > 1, `${runtime.turns} turns`);
});

test('they are added up once for some seconds, although the file grows', async () => {
  const { runtime, seen, share } = await scene();
  const [one, other] = await Promise.all([share.of(treeBytes), share.of(treeBytes)]);
  assert.deepEqual([one, other], [2 * treeBytes, 2 * treeBytes]);
  const { reads } = seen;
  assert.equal(reads, 2 * count);
  seen.file *= 2;
  assert.equal(await share.of(treeBytes), 4 * treeBytes);
  assert.equal(
    await share.of(4 * count * treeBytes),
    4 * count * treeBytes,
    'an index that was filled meanwhile',
  );
  assert.equal(seen.reads, reads);
  runtime.ms += 10_000;
  await share.of(treeBytes);
  assert.ok(seen.reads < 2 * reads, 'it is not waited for');
  while (seen.reads < 2 * reads) await new Promise(setImmediate);
});

test('they are added up anew once the file was replaced, not read after the end', async () => {
  const { seen, share } = await scene();
  const before = share.of(treeBytes);
  share.forget();
  assert.equal(await share.of(treeBytes), 2 * treeBytes);
  await before;
  assert.equal(seen.reads, 4 * count);
  share.forget();
  const late = share.of(treeBytes);
  share.close();
  assert.equal(await late, treeBytes);
  assert.ok(seen.reads < 6 * count);
});
