import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { submit } from '../support/submit.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Entry, Store, Write } from '../../src/storage/store.js';
import { entriesOf } from './entries.js';

const instance = 1;
const keys = new DatabaseKeys(instance);

function save(volume: Volume, id: string): Promise<unknown> {
  const edit = {
    id: asBytes(id),
    parent: undefined,
    path: undefined,
    deleted: false,
    body: asBytes('{"a":1}'),
  };
  return submit(volume, { type: 'edit', instance, shard: 0, revs_limit: 1_000, edits: [edit] });
}

/** A disk that takes its time: a batch can be read only when it is on disk, as with LMDB. */
class SlowStore extends MemoryStore {
  override write(batch: readonly Write[]): Commit {
    const done = new Promise<void>((resolve) => {
      setTimeout(() => {
        void super.write(batch);
        resolve();
      }, 20);
    });
    return { committed: done, flushed: done };
  }
}

function copied(from: Store): Store {
  const copy = new MemoryStore();
  void copy.write([...from.entries({ start: asBytes('\0'), end: asBytes('\xff') })]);
  return copy;
}

test('a batch on its way to the disk when the copying begins is in the copy', async () => {
  const volume = new Volume(0, new SlowStore(), () => {});
  const saved = save(volume, 'in-flight');
  // The batch is closed at the end of this turn, and on disk only some turns later.
  await new Promise((resolve) => setTimeout(resolve, 2));
  await volume.replaceStore(
    (from) => Promise.resolve(copied(from)),
    () => Promise.resolve(),
  );
  await saved;
  assert.notEqual(volume.store.get(keys.live(asBytes('in-flight'))), undefined);
});

/** Counts what comes while nothing else may be written. */
class CountingStore extends MemoryStore {
  readonly batches: number[] = [];

  override write(batch: readonly Write[]): Commit {
    this.batches.push(batch.length);
    return super.write(batch);
  }
}

test('what changed during the copying is carried over in small parts, the loop turning between them', async () => {
  const volume = new Volume(0, new MemoryStore(), () => {});
  const copy = new CountingStore();
  let before = 0;
  let after = 0;
  await volume.replaceStore(
    async () => {
      const edits = Array.from({ length: 20_000 }, (_, n) => ({
        id: asBytes(`d${n}`),
        parent: undefined,
        path: undefined,
        deleted: false,
        body: asBytes('{"a":1}'),
      }));
      await submit(volume, { type: 'edit', instance, shard: 0, revs_limit: 1_000, edits });
      before = volume.store.count({ start: asBytes('\0'), end: asBytes('\xff') });
      return copy;
    },
    () => {
      after = copy.count({ start: asBytes('\0'), end: asBytes('\xff') });
      return Promise.resolve();
    },
  );
  assert.ok(before >= 40_000, String(before));
  assert.equal(after, before);
  assert.ok(copy.batches.length >= 20 && Math.max(...copy.batches) <= 2_000, copy.batches.join());
});

test('what is added before the first and behind the last key when the copy has been taken is in it', async () => {
  const source = new MemoryStore();
  const volume = new Volume(0, source, () => {});
  await save(volume, 'm');
  let expected: Entry[] = [];
  const outside = [instance - 1, instance + 1];
  const keyIn = (group: number): Bytes => new DatabaseKeys(group).live(asBytes('added'));
  await volume.replaceStore(
    async (from) => {
      const copy = copied(from);
      for (const group of outside) {
        const writes = [{ key: keyIn(group), value: asBytes('1') }];
        await volume.journal.record({ type: 'fill', instance: group, writes });
      }
      await save(volume, 'z');
      return copy;
    },
    () => Promise.resolve(void (expected = entriesOf(source))),
  );
  assert.notEqual(volume.store, source);
  assert.deepEqual(entriesOf(volume.store), expected);
  assert.deepEqual(
    outside.map((group) => volume.store.get(keyIn(group))),
    ['1', '1'],
  );
  assert.notEqual(volume.store.get(keys.live(asBytes('z'))), undefined);
});

test('a copy that lacks something is not used', async () => {
  const source = new MemoryStore();
  const volume = new Volume(3, source, () => {});
  await save(volume, 'a');
  let isAdopted = false;
  const replaced = volume.replaceStore(
    async (from) => {
      const copy = copied(from);
      await copy.write([{ key: keys.live(asBytes('a')), value: undefined }]).flushed;
      return copy;
    },
    () => Promise.resolve(void (isAdopted = true)),
  );
  await assert.rejects(replaced, /copy of volume 3 has \d+ keys instead of/);
  assert.equal(isAdopted, false);
  assert.equal(volume.store, source);
  await save(volume, 'b');
  assert.notEqual(source.get(keys.live(asBytes('b'))), undefined);
});

function temporaryFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-replace-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('nothing acknowledged is lost while a volume is replaced under load', async (t) => {
  const folder = temporaryFolder(t);
  const volume = new Volume(0, new LmdbStore(path.join(folder, '0')), () => {});
  const saved: string[] = [];
  let stopped = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; !stopped; i++) {
      await save(volume, `${writer}-${i}`);
      saved.push(`${writer}-${i}`);
    }
  });
  for (let generation = 1; generation <= 20; generation++) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    const fresh = path.join(folder, String(generation));
    await volume.replaceStore(
      async (from) => {
        await fs.promises.mkdir(fresh);
        await from.copyTo(fresh);
        return new LmdbStore(fresh);
      },
      () => Promise.resolve(),
    );
  }
  stopped = true;
  await Promise.all(writers);
  const lost = saved.filter((id) => volume.store.get(keys.live(asBytes(id))) === undefined);
  await volume.close();
  assert.deepEqual(lost, [], `of ${saved.length} acknowledged`);
});
