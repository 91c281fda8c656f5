import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupCommit } from '../../src/storage/group-commit.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';

test('a large step that fails leaves no trace: what comes later is not kept waiting', async () => {
  const store = new MemoryStore();
  const overlay = new Overlay(() => store);
  const commits = new GroupCommit(() => store, overlay);
  const failing = commits.submit(() => {
    overlay.put('large', 'x'.repeat(40_000_000));
    throw new Error('refused');
  });
  await assert.rejects(failing, /refused/);
  assert.equal(overlay.bytes, 0);
  assert.equal(overlay.get('large'), undefined);
  const later = commits.submit(() => overlay.put('small', '1'));
  const waited = new Promise((_, reject) =>
    setTimeout(reject, 2_000, new Error('it waits for ever')).unref(),
  );
  await Promise.race([later, waited]);
  assert.equal(store.get('small'), '1');
});
