import { PasswordHasher } from '../../src/auth/passwords.js';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { Config } from '../../src/config/config.js';
import { RequestHandler } from '../../src/http/connection/request-handler.js';
import { SoleBackend } from '../../src/indexes/index-backends.js';
import { MemoryBackend } from '../../src/indexes/memory-backend.js';
import { Views } from '../../src/indexes/views.js';
import type { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Database } from '../../src/node/database.js';
import { ScriptHost } from '../../src/script/script-host.js';
import { assemble, type Foundation } from '../../src/server/assemble.js';
import type { Random } from '../model/random.js';
import { diskError, expectStatus, parse, SimulatedClient } from './client.js';
import { InlineFunctions } from './inline-functions.js';
import { indexStore, type SimulatedDisk } from './simulated-disk.js';
import type { SimulatedRuntime } from './simulated-runtime.js';

export const databaseName = 'db';
export const copyName = 'copy';
const shardsMax = 6;
const groupsMax = 4;

interface Job {
  id: string;
  job_state: string;
}

/** The views and the index that queries use. */
const views = {
  views: { numbers: { map: 'function (doc) { emit(doc.n % 3, doc.n); }', reduce: '_stats' } },
};
const index = { index: { fields: ['n'] }, ddoc: 'find', name: 'n' };

/**
 * One run of a server on the machine, from its start to its crash: all that a server has below `node:http`, built as a server
 * builds it. Requests come without sockets; functions and indexing run in place of threads.
 */
export class Life {
  /** Set when clients are to finish. */
  isEnding = false;

  private constructor(
    readonly runtime: SimulatedRuntime,
    readonly registry: DatabaseRegistry,
    readonly client: SimulatedClient,
  ) {}

  static async begin(runtime: SimulatedRuntime, disk: SimulatedDisk, random: Random): Promise<Life> {
    const controls = { reload: () => Promise.resolve(), restart: () => Promise.resolve() };
    const { services } = await assemble(foundation(runtime, disk), controls);
    await services.replicator.start();
    const client = new SimulatedClient(new RequestHandler(services), runtime, random);
    return new Life(runtime, services.registry, client);
  }

  /** Makes the database that clients use, and what belongs to it, where it is not there. */
  async ready(): Promise<void> {
    for (const [method, path, json] of [
      ['PUT', `/${databaseName}?q=3`, undefined],
      ['PUT', `/${databaseName}/_design/views`, views],
      ['POST', `/${databaseName}/_index`, index],
    ] as const) {
      for (let isDone = false; !isDone;) {
        const answer = await this.client.send(method, path, json);
        expectStatus(answer, path, 200, 201, 409, 412, 503, 507);
        isDone = diskError(answer) === undefined;
      }
    }
  }

  get database(): Database {
    return this.registry.database(databaseName);
  }

  /** Copies the database; tells whether that came to its end. */
  async replicate(): Promise<boolean> {
    const json = { source: databaseName, target: copyName, create_target: true };
    return (await this.client.send('POST', '/_replicate', json)).status === 200;
  }

  /** Begins to split a shard, unless there are enough of them. */
  async split(random: Random): Promise<string> {
    const ranges = await this.#ranges();
    if (ranges.length >= shardsMax) return 'nothing';
    const range = random.pick(ranges);
    const answer = await this.client.send('POST', '/_reshard/jobs', {
      type: 'split',
      db: databaseName,
      range,
    });
    // The range may be split already, or be about to.
    expectStatus(answer, 'a split', 201, 404, 500, 503, 507);
    return `${range}: ${answer.status}`;
  }

  /** Begins to divide the group of a shard, unless there are enough of them. */
  async divide(random: Random): Promise<string> {
    if (this.database.groups.collections.length >= groupsMax) return 'nothing';
    const range = random.pick(await this.#ranges());
    const job = { type: 'divide', db: databaseName, range };
    const answer = await this.client.send('POST', '/_reshard/jobs', job);
    expectStatus(answer, 'a division', 201, 404, 500, 503, 507);
    return `${range}: ${answer.status}`;
  }

  async #ranges(): Promise<string[]> {
    const { shards } = parse<{ shards: object }>(await this.client.send('GET', `/${databaseName}/_shards`));
    return Object.keys(shards).sort();
  }

  /** Resolves when no shard is being split any more. A job that has failed, because of the disk, is begun again. */
  async splitsEnded(): Promise<void> {
    for (;;) {
      const { jobs } = parse<{ jobs: Job[] }>(await this.client.send('GET', '/_reshard/jobs'));
      if (jobs.every(({ job_state }) => job_state === 'completed')) return;
      for (const { id, job_state } of jobs)
        if (job_state === 'failed')
          await this.client.send('PUT', `/_reshard/jobs/${id}/state`, { state: 'running' });
      await this.runtime.sleep(50);
    }
  }

  async compact(): Promise<void> {
    const answer = await this.client.send('POST', `/${databaseName}/_compact`, {});
    expectStatus(answer, 'a compaction', 202, 503, 507);
  }
}

function foundation(runtime: SimulatedRuntime, disk: SimulatedDisk): Foundation {
  const config = new Config({
    overrides: {
      cluster: { q: '3' },
      chttpd: { authentication_handlers: '{chttpd_auth, proxy_authentication_handler}' },
      chttpd_auth: { proxy_use_secret: 'false' },
      tuffet: { auto_setup: 'false', volume_bytes: '30000' },
    },
  });
  const logger = createLogger({ level: 'none', destination: { write: () => undefined } });
  const scripts = new ScriptHost({
    runtime,
    threads: 1,
    memory_bytes: 1,
    timeoutMs: () => 1,
    openExecutor: () => Promise.resolve(new InlineFunctions()),
    log: () => undefined,
  });
  const openViews = (): Views => {
    const backend = new MemoryBackend(scripts, runtime, disk.open(indexStore, runtime));
    return new Views(new SoleBackend(backend), scripts, 1_000_000, logger, runtime);
  };
  return {
    runtime,
    config,
    logger,
    folder: undefined,
    hasher: new PasswordHasher(runtime),
    scripts,
    stores: {
      openBlobs: () => Promise.resolve(new MemoryBlobStore(disk.blobs)),
      openViews,
      openStore: (name) => disk.open(name, runtime),
      encodedCommands: true,
      groupsOfNew: 1,
    },
  };
}
