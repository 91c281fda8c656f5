import type { Bytes } from '../base/bytes.js';
import type { Logger } from '../base/logger.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { isDesignId } from '../shard/doc-id.js';
import { gapOf, mergeChanges } from '../changes/merge-changes.js';
import { currentPositions, firstPositions, followPositions } from '../node/sequence.js';
import { formatRev } from '../revisions/rev.js';
import { decodeChange } from '../shard/change-record.js';
import type { LocalDoc } from './peer.js';
import { isReplicatorName, readBody } from './replicator-database.js';

/** Who is told of documents. A call is over before the next one for the same document. */
export interface DocSink {
  changed(database: string, id: Bytes, rev: string, body: LocalDoc): Promise<void>;
  removed(database: string, id: Bytes): Promise<void>;
  removedDatabase(database: string): Promise<void>;
  /** Documents may have gone without a change, as by a purge; `isThere` tells which are left. */
  purged(database: string, isThere: (id: Bytes) => boolean): Promise<void>;
}

/** How far the changes of a database have been read. */
interface Followed {
  instance: number;
  after: number[];
  /** The purges that were looked at. */
  purges: number;
}

const changesAtOnce = 50;
const namesAtOnce = 1_000;
const allNames = { descending: false, inclusiveEnd: true, skip: 0, limit: Infinity };

/**
 * Follows the replicator databases of this node: all documents that are there, and from then on each change. The
 * changes of a database are read one round after the other, and each round knows every document once.
 */
export class ReplicatorWatch {
  readonly #followed = new Map<string, Followed>();
  readonly #names = new Map<number, string>();
  readonly #dirty = new Set<string>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly sink: DocSink,
    private readonly logger: Logger,
  ) {}

  /** Looks for the databases, and begins to follow them. */
  async start(): Promise<void> {
    this.registry.watch({
      committed: (instance) => {
        const name = this.#names.get(instance);
        if (name !== undefined) this.#touch(name);
      },
      catalogued: (name) => {
        if (isReplicatorName(name)) this.#touch(name);
      },
    });
    let count = 0;
    for (const name of [...this.registry.names(allNames)]) {
      if (isReplicatorName(name)) this.#touch(name);
      if (++count % namesAtOnce === 0) await this.registry.runtime.nextTurn();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  /** The names of the databases that are followed. */
  get databases(): string[] {
    return [...this.#followed.keys()].sort();
  }

  #touch(name: string): void {
    this.#dirty.add(name);
    if (this.#closed || this.#running !== undefined) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    // A commit is announced before readers see it.
    await new Promise<void>((resolve) => this.registry.runtime.defer(resolve));
    while (this.#dirty.size > 0 && !this.#closed) {
      const [name] = this.#dirty as Set<string> & Iterable<string>;
      this.#dirty.delete(name!);
      try {
        await this.#read(name!);
      } catch (error) {
        if (this.#closed || this.registry.isClosing) return;
        this.logger.error({ err: error, database: name }, 'reading replication documents failed');
      }
    }
  }

  async #read(name: string): Promise<void> {
    const database = this.registry.find(name);
    const known = this.#followed.get(name);
    if (known !== undefined && database?.record.instance !== known.instance) {
      this.#followed.delete(name);
      this.#names.delete(known.instance);
      await this.sink.removedDatabase(name);
    }
    if (database === undefined) return;
    const { instance } = database.record;
    const followed = this.#followed.get(name) ?? {
      instance,
      after: firstPositions(database),
      purges: database.total('purge_seq'),
    };
    this.#followed.set(name, followed);
    this.#names.set(instance, name);
    await this.#readChanges(database, followed);
    await this.#readPurges(database, followed);
  }

  async #readPurges(database: Database, followed: Followed): Promise<void> {
    const purges = database.total('purge_seq');
    if (purges === followed.purges) return;
    followed.purges = purges;
    await this.sink.purged(database.name, (id) => database.collection.winner(id)?.deleted === false);
  }

  async #readChanges(database: Database, followed: Followed): Promise<void> {
    for (;;) {
      followed.after = [...followPositions(database, followed.after)];
      const span = { after: followed.after, upTo: currentPositions(database), descending: false };
      if (this.#closed || gapOf(span) === 0) return;
      const { entries, ends } = mergeChanges(database, span, changesAtOnce);
      await Promise.all(entries.map(({ value }) => this.#tell(database, decodeChange(value).id)));
      for (const { shard, seq } of ends) followed.after[shard] = seq;
    }
  }

  async #tell(database: Database, id: Bytes): Promise<void> {
    if (isDesignId(id)) return;
    const found = database.collection.winner(id);
    if (found === undefined || found.deleted) return await this.sink.removed(database.name, id);
    const content = database.collection.winnerBody(database.shardOf(id), found);
    await this.sink.changed(database.name, id, formatRev(found), readBody(content));
  }
}
