import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { submit } from '../../test/support/submit.js';
import { MemoryStore } from '../storage/memory-store.js';
import type { ReplicatedEdit } from './commands.js';
import { DatabaseKeys, tables } from './keys.js';
import { decodeState } from './shard-state.js';
import { Volume } from './volume.js';

const keys = new DatabaseKeys(1);
const bodyKeyBytes = 14;

const replicated = (start: number, hashes: string[], body: string): ReplicatedEdit => ({
  id: asBytes('a'),
  parent: undefined,
  path: { start, hashes },
  deleted: false,
  body: asBytes(body),
});

/** Applies edits one by one and compares the sizes that are kept with those of a scan. */
async function sizesAfter(
  edits: readonly ReplicatedEdit[],
  lastLimit = 1_000,
): Promise<{ obsolete: number; external: number }> {
  const volume = new Volume(0, new MemoryStore(), () => {});
  for (const [at, edit] of edits.entries()) {
    const revs_limit = at === edits.length - 1 ? lastLimit : 1_000;
    await submit(volume, { type: 'edit', instance: 1, shard: 0, revs_limit, edits: [edit] });
  }
  const state = decodeState(volume.store.get(keys.state(0)));
  let stored = 0;
  for (const { key, value } of volume.store.entries(keys.range)) {
    if (key.charCodeAt(5) !== tables.state) stored += key.length + value.length;
  }
  assert.equal(state.stored_bytes, stored);
  return { obsolete: state.obsolete_bytes, external: state.external_bytes };
}

const first = '{"b":1}';
const second = '{"c":12345}';

test('a history that joins two branches makes the lower one obsolete', async () => {
  const sizes = await sizesAfter([
    replicated(2, ['a'], first),
    replicated(3, ['c'], second),
    replicated(3, ['c', 'a'], second),
  ]);
  assert.deepEqual(sizes, { obsolete: bodyKeyBytes + first.length, external: second.length });
});

test('a history that joins two branches and goes on makes both obsolete', async () => {
  const third = '{"d":1234567}';
  const sizes = await sizesAfter([
    replicated(2, ['a'], first),
    replicated(3, ['c'], second),
    replicated(4, ['d', 'c', 'a'], third),
  ]);
  assert.deepEqual(sizes, {
    obsolete: 2 * bodyKeyBytes + first.length + second.length,
    external: third.length,
  });
});

test('the body of an old revision that is stemmed as it comes is not counted', async () => {
  const sizes = await sizesAfter([replicated(3, ['c', 'b', 'a'], first), replicated(1, ['a'], second)], 1);
  assert.deepEqual(sizes, { obsolete: 0, external: first.length });
});
