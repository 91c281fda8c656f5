import { StorageError } from '../../src/base/storage-errors.js';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { Config } from '../../src/config/config.js';
import { makeDatabase } from '../../src/http/request/make-database.js';
import { MemoryBackend } from '../../src/indexes/memory-backend.js';
import { Views } from '../../src/indexes/views.js';
import { compact } from '../../src/node/compact.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Database } from '../../src/node/database.js';
import { sweepOrphans } from '../../src/node/sweep-blobs.js';
import { Replicator } from '../../src/replication/replicator.js';
import { ScriptHost } from '../../src/script/script-host.js';
import type { Random } from '../model/random.js';
import type { SimulatedDisk } from './simulated-disk.js';
import type { SimulatedRuntime } from './simulated-runtime.js';

export const databaseName = 'db';
export const copyName = 'copy';
const shardsMax = 6;
const groupsMax = 4;
const user = { name: 'admin', roles: ['_admin'] };

interface Job {
  id: string;
  job_state: string;
}

/** One run of a server on the machine, from its start to its crash: the registry and all below it, without sockets and threads. */
export class Life {
  readonly registry: DatabaseRegistry;
  readonly #replicator: Replicator;
  readonly #config = new Config({ overrides: { cluster: { q: '3' }, tuffet: { volume_bytes: '30000' } } });
  /** Set when clients are to finish. */
  isEnding = false;

  constructor(
    readonly runtime: SimulatedRuntime,
    disk: SimulatedDisk,
  ) {
    const config = this.#config;
    const logger = createLogger({ level: 'none', destination: { write: () => undefined } });
    // No function is run, so no thread is started.
    const scripts = new ScriptHost({
      runtime,
      threads: 1,
      memory_bytes: 1,
      timeoutMs: () => 1,
      log: () => undefined,
    });
    const views = new Views(
      new MemoryBackend(scripts, runtime, disk.open('indexes', runtime)),
      scripts,
      1_000_000,
      logger,
    );
    const openStore = (name: string) => disk.open(name, runtime);
    this.registry = new DatabaseRegistry(
      config,
      logger,
      undefined,
      new MemoryBlobStore(disk.blobs),
      views,
      true,
      runtime,
      openStore,
    );
    this.#replicator = new Replicator({
      runtime,
      config,
      registry: () => this.registry,
      scripts,
      makeDatabase: (name, params) =>
        makeDatabase(this.registry, config, name, new Map(Object.entries(params))),
      userAgent: 'simulation',
      logger,
      serverId: 'simulated',
    });
  }

  /** The database that clients use, made where it is not there. */
  async ready(): Promise<void> {
    while (!this.registry.exists(databaseName))
      await makeDatabase(this.registry, this.#config, databaseName, new Map([['q', '3']]));
    await sweepOrphans(this.registry);
  }

  get database(): Database {
    return this.registry.database(databaseName);
  }

  /** Copies the database; tells whether that came to its end. */
  async replicate(): Promise<boolean> {
    const request = { source: databaseName, target: copyName, create_target: true };
    return await this.#replicator.replicate(request, user).then(
      () => true,
      () => false,
    );
  }

  /** Begins to split a shard, unless there are enough of them or that one is being split. */
  async split(random: Random): Promise<string> {
    const { database } = this;
    if (database.q >= shardsMax) return 'nothing';
    const shard = random.below(database.q);
    try {
      const [created] = await this.registry.reshardJobs.create(database, [shard]);
      return 'error' in created! ? created.error : `${shard} of ${database.q}`;
    } catch (error) {
      if (error instanceof StorageError) return error.error;
      throw error;
    }
  }

  /** Begins to divide a group that has several shards, unless there are enough of them or one is being divided. */
  async divide(random: Random): Promise<string> {
    const { database } = this;
    const { collections } = database.groups;
    if (collections.length >= groupsMax) return 'nothing';
    const { group } = random.pick(collections);
    try {
      const [created] = await this.registry.reshardJobs.divide(database, [group], 2);
      return 'error' in created! ? created.error : `${group} of ${collections.length}`;
    } catch (error) {
      if (error instanceof StorageError) return error.error;
      throw error;
    }
  }

  /** Resolves when no shard is being split any more. A job that has failed, because of the disk, is begun again. */
  async splitsEnded(): Promise<void> {
    const { reshardJobs } = this.registry;
    const jobs = (): Job[] => reshardJobs.list() as Job[];
    while (jobs().some(({ job_state }) => job_state !== 'completed')) {
      for (const { id, job_state } of jobs()) if (job_state === 'failed') await reshardJobs.resumeJob(id);
      await this.runtime.sleep(50);
    }
  }

  async compact(): Promise<void> {
    await compact(this.registry, this.database).catch((error: unknown) => {
      if (!(error instanceof StorageError)) throw error;
    });
  }
}
