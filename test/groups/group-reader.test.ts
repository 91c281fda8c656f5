import type { TestContext } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { Config } from '../../src/config/config.js';
import { DataFolder } from '../../src/node/data-folder.js';
import type { Database } from '../../src/node/database.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { openGroups } from '../../src/node/open-groups.js';
import { Volume } from '../../src/shard/volume.js';
import { temporaryFolder } from '../support/server.js';
import { memoryViews } from '../support/views.js';
import { groupReaderSuite, type OpenDatabase } from './group-reader-suite.js';

function openOn(
  newFolder: () => DataFolder | undefined,
  groups: number,
  readerOf = (_: DatabaseRegistry, database: Database): Database => database,
): OpenDatabase {
  return async (t: TestContext, settings) => {
    const logger = createLogger({ level: 'none', format: 'text' });
    const registry = new DatabaseRegistry(
      new Config(),
      logger,
      newFolder(),
      new MemoryBlobStore(),
      memoryViews(logger),
      false,
      undefined,
      undefined,
      groups,
    );
    t.after(() => registry.close());
    await registry.createDatabase('db', settings);
    return readerOf(registry, registry.database('db'));
  };
}

/** Writes by the database as it is, and reads as a process does that nobody tells of commits. */
function readByOther(registry: DatabaseRegistry, database: Database): Database {
  const volumes = registry.volumes().map(({ slot, store }) => new Volume(slot, store, () => undefined));
  const groups = openGroups({ get: (slot) => volumes[slot]! }, database.record);
  const reader = withReads(groups, () => groups.reread());
  return withReads(database, (name) => (name === 'collection' ? reader : undefined));
}

/** An object whose members may be replaced when they are read. */
function withReads<T extends object>(object: T, read: (name: string | symbol) => unknown): T {
  return new Proxy(object, {
    get(target, name) {
      const value = read(name) ?? (Reflect.get(target, name, target) as unknown);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const onDisk = (): DataFolder => DataFolder.open(temporaryFolder());

const inMemory = (): undefined => undefined;

groupReaderSuite('a group in LMDB', openOn(onDisk, 1));
groupReaderSuite('three groups in LMDB', openOn(onDisk, 3));
groupReaderSuite('a group in memory', openOn(inMemory, 1));
groupReaderSuite('a group that another process writes', openOn(inMemory, 1, readByOther));
groupReaderSuite('three groups that another process writes', openOn(inMemory, 3, readByOther));
