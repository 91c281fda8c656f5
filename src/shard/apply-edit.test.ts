import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { failedCommit } from '../base/storage-errors.js';
import { formatRev } from '../revisions/rev.js';
import { leaves, pathOf } from '../revisions/tree.js';
import { MemoryStore } from '../storage/memory-store.js';
import { decodeChange } from './change-record.js';
import { Collection } from './collection.js';
import type { Edit, EditResult } from './commands.js';
import { DatabaseKeys, tables } from './keys.js';
import { decodeState } from './shard-state.js';
import type { Commit, Write } from '../storage/store.js';
import { PartlyStored } from './group-log.js';
import { Volume } from './volume.js';

const keys = new DatabaseKeys(1);
const seed = Number(process.env['TUFFET_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const hashOf = (text: string): string => createHash('md5').update(text).digest('hex');

function submit(volume: Volume, edits: Edit[], revs_limit = 1_000): Promise<EditResult[]> {
  return volume
    .log(1)
    .append({ type: 'edit', instance: 1, shard: 0, revs_limit, edits })
    .then(({ result }) => result);
}

/** All that can be seen of a shard: counters, changes, and documents with all their revisions. */
function contents(volume: Volume): unknown {
  const { stored_bytes, ...state } = { ...decodeState(volume.store.get(keys.state(0))), position: 0 };
  const collection = new Collection(volume, 1, 1);
  const changes = [];
  let stored = 0;
  for (const { key, value } of volume.store.entries(keys.range)) {
    if (key.charCodeAt(5) !== tables.state) stored += key.length + value.length;
    if (key.charCodeAt(5) === tables.changes) changes.push([key, decodeChange(value)] as const);
  }
  assert.equal(stored_bytes, stored);
  const docs = changes.map(([, { id }]) => {
    const { tree, ...doc } = collection.doc(id)!;
    const histories = leaves(tree).map((leaf) => pathOf(tree, leaf).map(formatRev));
    const bodies = tree.map((node) => [formatRev(node), collection.body(0, { ...doc, tree }, node)]);
    return { ...doc, histories, bodies: bodies.sort() };
  });
  return { state, changes, docs };
}

/** Edits of few documents, in conflict, repeated, joining branches, and such as are refused. */
function randomEdits(count: number): Edit[] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  return Array.from({ length: count }, (): Edit => {
    const id = asBytes(`doc${random(3)}`);
    const deleted = random(4) === 0;
    const body = asBytes(`{"n":${random(5)}${random(9) === 0 ? `,"x":"${'y'.repeat(2_000)}"` : ''}}`);
    if (random(4) === 0) return { id, parent: undefined, path: undefined, deleted, body };
    const start = 1 + random(6);
    // Which branch a generation belongs to follows from the branch, so that histories agree with each other.
    const branch = random(8);
    const hashes = Array.from({ length: 1 + random(start) }, (_, i) => {
      const pos = start - i;
      return hashOf(`${pos} ${branch >> Math.max(0, 3 - pos)}`);
    });
    if (random(4) === 0) {
      return { id, parent: { pos: start, hash: hashes[0]! }, path: undefined, deleted, body };
    }
    return { id, parent: undefined, path: { start, hashes }, deleted, body };
  });
}

test(`edits in one command leave what they leave one by one (seed ${seed})`, async () => {
  const edits = randomEdits(300);
  const [together, alone] = [0, 1].map((slot) => new Volume(slot, new MemoryStore(), () => {}));
  const results = [];
  for (let at = 0; at < edits.length; at += 50) {
    const some = edits.slice(at, at + 50);
    results.push(...(await submit(together!, some)));
    for (const [i, edit] of some.entries())
      assert.deepEqual(await submit(alone!, [edit]), [results[at + i]], `edit ${at + i}`);
    assert.deepEqual(contents(together!), contents(alone!));
  }
  assert.ok(results.includes(undefined), 'some are refused');
});

test('stemming in one command counts what it counts one by one', async () => {
  const edits = randomEdits(300);
  const volume = new Volume(0, new MemoryStore(), () => {});
  for (let at = 0; at < edits.length; at += 30) {
    await submit(volume, edits.slice(at, at + 30), 3);
    contents(volume);
  }
});

test('the work for many edits of one document grows with their number', async () => {
  const cpuMs = async (count: number): Promise<number> => {
    const volume = new Volume(0, new MemoryStore(), () => {});
    const edits = Array.from({ length: count }, (_, i): Edit => {
      const path = { start: 1, hashes: [hashOf(`${count} ${i}`)] };
      return { id: asBytes('a'), parent: undefined, path, deleted: false, body: asBytes('{}') };
    });
    const before = process.cpuUsage();
    await submit(volume, edits);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  await cpuMs(1_000);
  const [small, large] = [await cpuMs(1_000), await cpuMs(8_000)];
  // Eight times as many: parts of a thousand make it somewhat more than linear. One by one it would be 64 times and more.
  assert.ok(large < 32 * Math.max(small, 5), `${small} ms, then ${large} ms of processor time`);
});

test('others have their turn while many edits are applied', async () => {
  const volume = new Volume(0, new MemoryStore(), () => {});
  const edits = Array.from({ length: 20_000 }, (_, i): Edit => {
    return {
      id: asBytes(`doc${i}`),
      parent: undefined,
      path: undefined,
      deleted: false,
      body: asBytes('{"a":1}'),
    };
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const saved = submit(volume, edits);
  const other = submit(volume, [{ ...edits[0]!, id: asBytes('other') }]);
  assert.equal((await saved).filter((rev) => rev === undefined).length, 0);
  await other;
  clearInterval(timer);
  assert.ok(turns >= 5, `${turns} turns`);
});

test('a command that is refused after a part of it is stored tells which part', async () => {
  /** Takes the first batch, and no other. */
  class FailingStore extends MemoryStore {
    batches = 0;
    override write(batch: readonly Write[]): Commit {
      if (++this.batches === 1) return super.write(batch);
      const failed = Promise.reject(failedCommit(Object.assign(new Error('no room'), { code: 'ENOSPC' })));
      failed.catch(() => undefined);
      return { committed: failed, flushed: failed };
    }
  }
  const volume = new Volume(0, new FailingStore(), () => {});
  const edits = Array.from({ length: 3_000 }, (_, i): Edit => {
    return {
      id: asBytes(`doc${i}`),
      parent: undefined,
      path: undefined,
      deleted: false,
      body: asBytes('{"a":1}'),
    };
  });
  const refusal = await submit(volume, edits).catch((error: unknown) => error);
  assert.ok(refusal instanceof PartlyStored);
  assert.equal(refusal.error, 'insufficient_storage');
  const collection = new Collection(volume, 1, 1);
  const stored = edits.filter(({ id }) => collection.doc(id) !== undefined);
  assert.ok(stored.length > 0 && stored.length < edits.length);
  assert.deepEqual(
    refusal.results,
    stored.map(({ id }) => collection.doc(id)!.rev),
  );
});
