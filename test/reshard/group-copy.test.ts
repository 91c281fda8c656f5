import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { GroupCopy } from '../../src/shard/group-copy.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { ShardMap } from '../../src/shard/shard-map.js';
import { decodeState } from '../../src/shard/shard-state.js';
import { Volume } from '../../src/shard/volume.js';
import { submit } from '../support/submit.js';
import { HeldStore } from './held-store.js';

test('the counters of a copy never tell of a change that it does not have', async () => {
  const store = new HeldStore();
  const volume = new Volume(0, store, () => {});
  const others = new Volume(1, new HeldStore(), () => {});
  const save = (id: string): Promise<unknown> => {
    const edit = { id: asBytes(id), parent: undefined, path: undefined, deleted: false, body: asBytes('{}') };
    return submit(volume, { type: 'edit', instance: 1, shard: 0, revs_limit: 1, edits: [edit] });
  };
  // The shards of these ids do not matter: all that is looked at is in the first.
  await save('a');
  const copy = new GroupCopy({
    group: 1,
    volume,
    shards: new ShardMap(2),
    partitioned: false,
    targets: [2, 3].map((group, shard) => ({ group, volume: others, shards: [shard] })),
    check: () => {},
    onCopied: () => {},
  });
  await copy.copy();

  let report!: () => void;
  store.onWrite = () => new Promise((resolve) => (report = resolve));
  const saved = save('b');
  const keys = new DatabaseKeys(1);
  while (decodeState(store.get(keys.state(0))).seq < 2) await nextTurn();
  const toppedOff = copy.topOff();
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  report();
  await Promise.all([saved, toppedOff]);
  const target = new DatabaseKeys(2);
  const { seq } = decodeState(others.store.get(target.state(0)));
  assert.equal(seq, 2);
  assert.ok(others.store.get(target.change(0, seq)) !== undefined, 'the change is there');
  copy.end();
});
