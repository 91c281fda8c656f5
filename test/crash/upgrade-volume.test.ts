import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { needsUpgrade, upgradeVolume } from '../../src/shard/upgrade-volume.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { Random, seed } from '../model/random.js';
import { temporaryFolder } from '../support/server.js';
import { CutStore } from './cut-store.js';
import { asVersionOne, blobsOf, everything, volumeContents } from './old-volume.js';

const expected = await volumeContents(seed);
const old = asVersionOne(expected);

test(`a volume of version 1 becomes what this version would have written (seed ${seed})`, async () => {
  for (let commits = 0; ; commits++) {
    const store = new CutStore(1 + commits);
    await store.write(old).flushed;
    const isCut = await upgradeVolume(store).then(
      () => false,
      () => true,
    );
    store.continue();
    if (isCut) {
      assert.ok(needsUpgrade(store));
      await upgradeVolume(store);
    }
    assert.ok(!needsUpgrade(store));
    assert.deepEqual([...store.entries(everything)], expected, `stopped after ${commits} commits`);
    assert.equal(blobsOf(store, 3), 3_600);
    if (isCut) continue;
    assert.ok(commits > 8, `${commits} commits`);
    return;
  }
});

test(`an upgrade that is killed again and again comes to the same (seed ${seed})`, async () => {
  const folder = path.join(temporaryFolder(), 'volume');
  const store = new LmdbStore(folder);
  await store.write(old).flushed;
  await store.close();
  const random = new Random(seed);
  for (let kills = 0; ; kills++) {
    const child = fork(fileURLToPath(new URL('upgrader.js', import.meta.url)), [folder]);
    const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
    const [begun] = (await once(child, 'message')) as [string];
    if (kills < 6) {
      await delay(random.below(60));
      child.kill('SIGKILL');
    }
    const [code] = await exited;
    if (begun === 'done before' || code === 0) break;
    assert.ok(kills < 6, 'the upgrade fails');
  }
  const upgraded = new LmdbStore(folder);
  assert.deepEqual([...upgraded.entries(everything)], expected);
  await upgraded.close();
});
