import type { Runtime } from '../base/runtime.js';
import os from 'node:os';
import type { Logger } from '../base/logger.js';
import type { DataFolder } from '../node/data-folder.js';
import type { Config } from '../config/config.js';
import { ScriptHost } from '../script/script-host.js';
import { MemoryBackend } from '../indexes/memory-backend.js';
import { SoleBackend } from '../indexes/index-backends.js';
import type { ThreadBackendOptions } from '../indexes/thread-backend.js';
import { ThreadBackends } from '../indexes/thread-backends.js';
import { Views } from '../indexes/views.js';

/** More threads for indexes only if that is asked for: each takes memory. */
const indexThreadsMax = 4;

/** A thread that fills an index with functions keeps one that runs them busy, too. */
const automaticIndexThreads = (): number =>
  Math.max(1, Math.min(indexThreadsMax, Math.floor(os.availableParallelism() / 2)));

/** The threads that run functions, those of requests and those of indexes, with the options they follow. */
export class Scripting {
  readonly host: ScriptHost;
  #indexes: ThreadBackends | undefined;
  readonly #stopListening: (() => void)[];

  constructor(
    private readonly runtime: Runtime,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    this.host = new ScriptHost({
      runtime,
      threads: config.number('tuffet/script_threads'),
      memory_bytes: config.number('tuffet/script_memory_bytes'),
      timeoutMs: () => config.number('couchdb/os_process_timeout'),
      reduceLimit: () => config.choice('query_server_config/reduce_limit'),
      log: this.#log,
    });
    this.#stopListening = ['couchdb', 'query_server_config'].map((section) =>
      config.onChange(section, undefined, () => {
        if (this.#indexes !== undefined) this.#indexes.settings = this.#settings();
      }),
    );
  }

  /** The indexes of a data folder, or of databases in memory. */
  openViews(folder: DataFolder | undefined): Views {
    const { runtime, config, logger } = this;
    const cacheBytes = config.number('tuffet/index_cache_bytes');
    if (folder === undefined)
      return new Views(
        new SoleBackend(new MemoryBackend(this.host, runtime)),
        this.host,
        cacheBytes,
        logger,
        runtime,
      );
    const options: ThreadBackendOptions = {
      threads: os.availableParallelism(),
      memory_bytes: config.number('tuffet/script_memory_bytes'),
      ...this.#settings(),
      log: this.#log,
      onCalls: (counts) => this.host.counts.addMaps(counts),
    };
    const count = config.number('tuffet/index_threads') || automaticIndexThreads();
    this.#indexes = new ThreadBackends(folder.path('indexes'), count, options, runtime);
    return new Views(this.#indexes, this.host, cacheBytes, logger, runtime);
  }

  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await this.host.close();
  }

  #settings(): ThreadBackends['settings'] {
    const { config } = this;
    return {
      timeout_ms: config.number('couchdb/os_process_timeout'),
      reduce_limit: config.choice('query_server_config/reduce_limit'),
    };
  }

  readonly #log = (space: string, message: string): void =>
    this.logger.info({ instance: Number(space) }, message);
}
