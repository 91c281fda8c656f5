import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { Config } from '../../src/config/config.js';
import { updateDocs } from '../../src/documents/update-docs.js';
import { applyCatalogue, nameKey, type DivideCommand } from '../../src/node/catalogue-commands.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Database } from '../../src/node/database.js';
import { Collection } from '../../src/shard/collection.js';
import { MergedReader } from '../../src/shard/merged-reader.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';
import type { Write } from '../../src/storage/store.js';
import { memoryViews } from '../support/views.js';
import { HeldStore } from './held-store.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput } from '../../src/shard/document-input.js';

const q = 4;

interface Scene {
  registry: DatabaseRegistry;
  database: Database;
  catalogue: HeldStore;
  documents: HeldStore;
}

/** A database with two groups, and some documents. */
async function setUp(t: TestContext): Promise<Scene> {
  const logger = createLogger({ level: 'none', format: 'text' });
  const catalogue = new HeldStore();
  const documents = new HeldStore();
  const registry = new DatabaseRegistry(
    new Config(),
    logger,
    undefined,
    new MemoryBlobStore(),
    memoryViews(logger),
    false,
    undefined,
    (name) => (name === 'catalogue' ? catalogue : documents),
    2,
  );
  t.after(() => registry.close());
  await registry.createDatabase('db', { q });
  const database = registry.database('db');
  for (let n = 0; n < 20; n++) await save(database, `doc-${n}`);
  return { registry, database, catalogue, documents };
}

async function save(database: Database, id: string): Promise<void> {
  const input = plainInput(knownId(asBytes(id)), undefined, asBytes('{}'));
  const [saved] = await updateDocs(database, [input], true);
  assert.ok(saved !== undefined && typeof saved === 'object' && 'pos' in saved, `${id} is saved`);
}

/** Ids of documents that are in a group. */
function idIn(database: Database, group: number, name: string): string {
  for (let n = 0; ; n++) {
    const id = asBytes(`${name}-${n}`);
    if (database.groups.groupOf(database.shardOf(id)).group === group) return id;
  }
}

async function eventually(isDone: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !isDone();) {
    assert.ok(Date.now() < deadline, 'it does not happen');
    await nextTurn();
  }
}

const groupsIn = (batch: readonly Write[]): number => {
  const value = batch.find(({ key }) => key === nameKey('db'))?.value;
  return value === undefined ? 0 : ((JSON.parse(value) as { groups?: unknown[] }).groups?.length ?? 0);
};

test('what is saved in another group while the new groups take their place is seen at once', async (t) => {
  const { registry, database, catalogue } = await setUp(t);
  const [divided, other] = database.groups.collections.map(({ group }) => group);
  const id = asBytes(idIn(database, other!, 'meanwhile'));
  const shard = database.shardOf(id);
  const before = database.collection.states[shard]!.seq;
  catalogue.onWrite = async (batch) => {
    if (groupsIn(batch) === 3) await save(database, id);
  };
  await registry.reshardJobs.divide(database, [divided!], 2);
  await eventually(() => database.groups.collections.length === 3);
  assert.equal(database.collection.states[shard]!.seq, before + 1);
  assert.equal(database.total('doc_count'), 21);
});

test('removing a job that waits leaves the division alone that is under way', async (t) => {
  const { registry, database, documents } = await setUp(t);
  const { reshardJobs } = registry;
  const groups = database.groups.collections.map(({ group }) => group);
  let removed: Promise<void> | undefined;
  documents.onWrite = async () => {
    if (database.record.division === undefined) return;
    removed ??= reshardJobs.remove(second!);
    await removed;
  };
  const created = await reshardJobs.divide(database, groups, 2);
  const [first, second] = created.map((job) => ('id' in job ? job.id : assert.fail(job.error)));
  await eventually(() => reshardJobs.get(first!).job_state === 'completed');
  assert.ok(removed !== undefined, 'the job was removed meanwhile');
  const { retries } = reshardJobs.get(first!);
  assert.deepEqual([retries, database.groups.collections.length], [0, 3]);
});

test('new groups that were given up cannot take the place of another', () => {
  const overlay = new Overlay(() => new MemoryStore());
  applyCatalogue({ type: 'create', name: 'db', settings: { q: 2 } }, overlay);
  const step = (taken: DivideCommand['step']): unknown =>
    applyCatalogue(
      { type: 'divide', name: 'db', instance: 1, step: taken, group: 1, parts: [[0], [1]] },
      overlay,
    ).result;
  step('begin');
  step('abort');
  assert.throws(() => step('swap'), /given up/);
  step('begin');
  const swapped = step('swap');
  assert.deepEqual([swapped, step('swap')], [{ groups: [1] }, { groups: [] }]);
});

test(
  'a group that was left closed is opened again, also when it is read anew meanwhile',
  { timeout: 60_000 },
  async (t) => {
    const { registry, database } = await setUp(t);
    const [volume] = registry.volumes();
    for (const group of database.groups.collections) await database.close(group, true);
    const told = database.setValidators(undefined, asBytes('digest'));
    const parts = database.record.groups!.map(({ group, shards }) => {
      return { collection: new Collection(volume!, group, q), shards: shards! };
    });
    database.replaceGroups(new MergedReader(parts, false));
    assert.equal(await told, true);
    await save(database, 'after');
  },
);

test('a group of a deleted database is neither closed nor opened', async (t) => {
  const { registry, database } = await setUp(t);
  await registry.deleteDatabase('db');
  for (const closed of [true, false])
    await assert.rejects(database.close(database.groups.collections[0]!, closed), { error: 'not_found' });
});

/** Indexes that are never complete. */
const stuck = (registry: DatabaseRegistry): Promise<void> =>
  new Promise((begun) => {
    registry.fillIndexes = () => {
      begun();
      return new Promise(() => {});
    };
  });

test('a job that waits for indexes is stopped, and so is the server', { timeout: 60_000 }, async (t) => {
  const { registry, database } = await setUp(t);
  const { reshardJobs } = registry;
  const begun = stuck(registry);
  const [job] = await reshardJobs.divide(database, [database.groups.collections[0]!.group], 2);
  const id = 'id' in job! ? job.id : assert.fail(job!.error);
  await begun;
  await reshardJobs.stopJob(id, 'later');
  assert.equal(reshardJobs.get(id).job_state, 'stopped');
  assert.equal(database.record.division, undefined);
  const begunAgain = stuck(registry);
  await reshardJobs.resumeJob(id);
  await begunAgain;
});

test('a job that failed is tried again after a while, and others are not refused for it', async (t) => {
  const { registry, database } = await setUp(t);
  const { config, reshardJobs } = registry;
  config.set('reshard', 'max_retries', '0');
  config.set('reshard', 'max_jobs', '1');
  registry.fillIndexes = () => Promise.reject(new Error('no room'));
  const [first, second] = database.groups.collections.map(({ group }) => group);
  const begin = async (group: number): Promise<string> => {
    const [job] = await reshardJobs.divide(database, [group], 2);
    return 'id' in job! ? job.id : assert.fail(job!.error);
  };
  const reaches = (id: string, state: string): Promise<void> =>
    eventually(() => reshardJobs.get(id).job_state === state);
  const id = await begin(first!);
  await reaches(id, 'failed');
  registry.fillIndexes = () => Promise.resolve();
  await reshardJobs.retryFailed(id, 3_600);
  assert.equal(reshardJobs.get(id).job_state, 'failed');
  await reshardJobs.retryFailed(id, 0);
  await reaches(id, 'completed');
  await reaches(await begin(second!), 'completed');
  assert.equal(database.groups.collections.length, 4);
});
