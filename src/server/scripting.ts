import type { Runtime } from '../base/runtime.js';
import os from 'node:os';
import type { Logger } from '../base/logger.js';
import type { DataFolder } from '../node/data-folder.js';
import type { Config } from '../config/config.js';
import { ScriptHost } from '../script/script-host.js';
import { MemoryBackend } from '../indexes/memory-backend.js';
import { ThreadBackend } from '../indexes/thread-backend.js';
import { Views } from '../indexes/views.js';

/** The threads that run functions, those of requests and those of indexes, with the options they follow. */
export class Scripting {
  readonly host: ScriptHost;
  #indexes: ThreadBackend | undefined;
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
      return new Views(new MemoryBackend(this.host, runtime), this.host, cacheBytes, logger, runtime);
    this.#indexes = new ThreadBackend(folder.path('indexes'), {
      threads: os.availableParallelism(),
      memory_bytes: config.number('tuffet/script_memory_bytes'),
      ...this.#settings(),
      log: this.#log,
      onCalls: (counts) => this.host.counts.addMaps(counts),
    });
    return new Views(this.#indexes, this.host, cacheBytes, logger, runtime);
  }

  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await this.host.close();
  }

  #settings(): ThreadBackend['settings'] {
    const { config } = this;
    return {
      timeout_ms: config.number('couchdb/os_process_timeout'),
      reduce_limit: config.choice('query_server_config/reduce_limit'),
    };
  }

  readonly #log = (space: string, message: string): void =>
    this.logger.info({ instance: Number(space) }, message);
}
