import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Config } from '../config/config.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import type { AttachmentPins } from '../node/attachment-pins.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import type { TaskList } from '../node/task-list.js';
import { NotHere } from './not-here.js';
import type { ReadDatabase } from './read-database.js';
import type { ReadIndexes } from './read-indexes.js';

/** What the databases of a worker share. */
export interface ReadNode {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly blobs: BlobStore;
  readonly pins: AttachmentPins;
  readonly indexes: ReadIndexes;
}

/** Of the databases of a node, the one that a request is about, as far as handlers that only read need it. */
export class ReadRegistry {
  readonly isClosing = false;
  readonly nodeName = '';
  readonly membership = { cluster: undefined, hostsOf: (): readonly string[] => [this.nodeName] };

  constructor(
    private readonly node: ReadNode,
    private readonly only: ReadDatabase,
  ) {}

  get config(): Config {
    return this.node.config;
  }

  get runtime(): Runtime {
    return this.node.runtime;
  }

  get logger(): Logger {
    return this.node.logger;
  }

  get blobs(): BlobStore {
    return this.node.blobs;
  }

  get pins(): AttachmentPins {
    return this.node.pins;
  }

  database(): Database {
    return this.only;
  }

  /** No permit is given for databases of which something is hidden. */
  showFor(): undefined {
    return undefined;
  }

  indexed(): DatabaseIndexes {
    return this.node.indexes.indexesOf(this.only);
  }

  /** Tasks, and when changes were made, are known to the owner of the data folder only. */
  get tasks(): TaskList {
    throw new NotHere();
  }

  get timeSeq(): never {
    throw new NotHere();
  }

  /** In place of the registry of a whole node. */
  get asRegistry(): DatabaseRegistry {
    return this as unknown as DatabaseRegistry;
  }
}
