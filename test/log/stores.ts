import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Store } from '../../src/storage/store.js';

type NewStore = (t: TestContext) => () => Store;

/** A place for a store, which can be opened again after it was closed. */
export const newStores: Record<'LMDB' | 'memory', NewStore> = {
  LMDB: (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-log-'));
    t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
    return () => new LmdbStore(path.join(folder, 'store'));
  },
  memory: () => {
    const store = new MemoryStore();
    store.close = () => Promise.resolve();
    return () => store;
  },
};
