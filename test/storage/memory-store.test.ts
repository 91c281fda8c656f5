import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { entriesOf } from './entries.js';
import { storeSuite } from './store-suite.js';

storeSuite('MemoryStore', () => new MemoryStore());

test('a store in memory forgets everything when it is closed', async () => {
  const store = new MemoryStore();
  await store.write([{ key: asBytes('a'), value: asBytes('1') }]).flushed;
  await store.close();
  assert.equal(store.get(asBytes('a')), undefined);
  assert.deepEqual(entriesOf(store), []);
  assert.deepEqual(store.size(), { file_bytes: 0, used_bytes: 0 });
});

test('a store in memory has no folder to be copied to', async () => {
  await assert.rejects(new MemoryStore().copyTo(), /no folder/);
});
