import type { TestContext } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { Config } from '../../src/config/config.js';
import { DataFolder } from '../../src/node/data-folder.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { temporaryFolder } from '../support/server.js';
import { memoryViews } from '../support/views.js';
import { groupReaderSuite, type OpenDatabase } from './group-reader-suite.js';

function openOn(newFolder: () => DataFolder | undefined, groups: number): OpenDatabase {
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
    return registry.database('db');
  };
}

const onDisk = (): DataFolder => DataFolder.open(temporaryFolder());

const inMemory = (): undefined => undefined;

groupReaderSuite('a group in LMDB', openOn(onDisk, 1));
groupReaderSuite('three groups in LMDB', openOn(onDisk, 3));
groupReaderSuite('a group in memory', openOn(inMemory, 1));
