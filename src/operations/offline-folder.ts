import fs from 'node:fs';
import { createLogger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import { adoptDatabase, reserveGroups } from '../node/adopt-database.js';
import type { DatabaseSettings } from '../node/catalogue-commands.js';
import { Catalogue } from '../node/catalogue.js';
import { checkStores } from '../node/check-stores.js';
import { DataFolder } from '../node/data-folder.js';
import { Volumes } from '../node/volumes.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { StoreSnapshot } from '../storage/store.js';
import { bytesOfGroup, copyGroup } from './copy-group.js';
import type { Progress } from './progress.js';
import { refuseNode } from './refuse-node.js';

const cacheBytes = 16 * 1024 * 1024;
/** The default of `[tuffet] volume_bytes`. */
const volumeBytes = 4_000_000_000;

/** A database as it is read from elsewhere. */
export interface DatabaseSource {
  settings: DatabaseSettings;
  groups: readonly SourceGroup[];
}

export interface SourceGroup {
  group: number;
  shards: readonly number[] | undefined;
  records: StoreSnapshot;
}

/** What is restored must be restored on all nodes of a cluster. */
async function refuse(catalogue: Catalogue, dataDir: string): Promise<void> {
  try {
    refuseNode(catalogue, dataDir, 'Restore the database to a running node, with --to URL.');
  } catch (error) {
    await catalogue.close();
    throw error;
  }
}

/** A data folder that no server uses, new or not, into which databases are copied. */
export class OfflineFolder {
  private constructor(
    private readonly folder: DataFolder,
    private readonly store: LmdbStore,
    private readonly catalogue: Catalogue,
    private readonly volumes: Volumes,
  ) {}

  /** Looks at its stores like a server that starts, and upgrades it if need be. */
  static async open(dataDir: string): Promise<OfflineFolder> {
    const runtime = new SystemRuntime();
    const folder = DataFolder.open(dataDir, runtime);
    try {
      await checkStores(folder, createLogger({ level: 'warn' }), runtime);
      fs.mkdirSync(folder.path('attachments'), { recursive: true, mode: 0o700 });
      const store = new LmdbStore(folder.path('catalogue'));
      const catalogue = new Catalogue(store, () => {});
      await refuse(catalogue, dataDir);
      const documents = folder.path('documents');
      const doNothing = (): Promise<void> => Promise.resolve();
      const volumes = new Volumes(
        documents,
        catalogue,
        () => {},
        { cacheBytes, volumeBytes: () => volumeBytes },
        doNothing,
        doNothing,
        () => () => {},
        false,
        runtime,
        () => new LmdbStore(documents),
        {},
      );
      return new OfflineFolder(folder, store, catalogue, volumes);
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  requireFree(name: string): void {
    if (this.catalogue.get(name) !== undefined)
      throw new StartupError(`The data folder ${this.folder.folder} has a database ${name} already.`);
  }

  /** The name appears when all records are on disk. */
  async insert(name: string, { settings, groups }: DatabaseSource, progress: Progress): Promise<void> {
    this.requireFree(name);
    progress.begin(
      name,
      groups.reduce((sum, { group, records }) => sum + bytesOfGroup(records, group), 0),
    );
    await this.volumes.prepareForNew();
    const slot = this.catalogue.generations().length - 1;
    const numbers = await reserveGroups(this.store, groups.length, slot);
    for (const [at, { group, records }] of groups.entries())
      await copyGroup(records, group, this.volumes.get(slot).store, numbers[at]!, (bytes) =>
        progress.advance(bytes),
      );
    const adopted = groups.map(({ shards }, at) => ({ group: numbers[at]!, shards }));
    await adoptDatabase(this.store, name, settings, adopted, slot);
  }

  async close(): Promise<void> {
    await this.volumes.close();
    await this.catalogue.close();
    this.folder.release();
  }
}
