import { endless, periodSeconds } from '../config/period.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { DatabaseVisits } from '../node/database-visits.js';
import { encodeSequence, parseSince, type Positions } from '../node/sequence.js';
import { decodeChange, isDeletedChange } from '../shard/change-record.js';
import { purgeDocs, type PurgeRequest } from './purge-docs.js';

/** The first search begins so long after the start, unless searches are to be more frequent than that. */
const firstRunSeconds = 60;
/** Changes that are looked at in one turn. */
const changesAtOnce = 1_000;
/** Databases of which it is remembered how far they were searched; others are searched from the beginning. */
const searchedMax = 10_000;

/**
 * Purges documents that were deleted long enough ago, as `_auto_purge` of their database or the configuration says. One
 * database after the other, in small commands. Only changes since the last search are looked at.
 */
export class AutoPurge {
  /** By instance number: the sequence up to which all deleted documents are purged. */
  readonly #searched = new Map<number, string>();
  readonly #visits: DatabaseVisits;

  constructor(private readonly registry: DatabaseRegistry) {
    const seconds = (): number => registry.config.number('tuffet/auto_purge_interval_seconds');
    this.#visits = new DatabaseVisits(registry, {
      firstSeconds: () => Math.min(firstRunSeconds, seconds()),
      seconds,
      // Where the configuration has a default, those without the setting are purged too.
      having: () => (this.#defaultTtl() === undefined ? 'auto_purge' : undefined),
      visit: (database) => this.#purgeOld(database),
      failed: 'purging old deleted documents failed',
    });
  }

  async #purgeOld(database: Database): Promise<void> {
    const ttl = this.#ttlOf(database);
    if (ttl === undefined || database.total('doc_del_count') === 0) return;
    await this.#purgeOlderThan(database, ttl);
  }

  #defaultTtl(): number | undefined {
    return periodSeconds(this.registry.config.text('couch_auto_purge_plugin/deleted_document_ttl'));
  }

  /** Undefined where nothing is purged. */
  #ttlOf({ record }: Database): number | undefined {
    const ttl = record.auto_purge?.deleted_document_ttl;
    if (ttl === undefined) return this.#defaultTtl();
    return typeof ttl === 'number' ? ttl : ttl === endless ? undefined : periodSeconds(ttl);
  }

  async #purgeOlderThan(database: Database, ttl: number): Promise<void> {
    const { registry } = this;
    const { instance } = database.record;
    // Changes before a standstill or a restart may not be marked yet.
    await registry.timeSeq.mark(database);
    const newest = registry.timeSeq.sequenceAt(database, registry.runtime.nowSeconds() - ttl);
    const after = parseSince(database, this.#searched.get(instance) ?? '0');
    const upTo = parseSince(database, newest);
    const shards = database.collection.shards.size;
    const search = new Search(registry, database, after, upTo, () => this.#visits.isClosed);
    if (search.total === 0 || !(await search.run())) return;
    // Changes of a shard that was split meanwhile may not have been seen.
    if (database.collection.shards.size === shards && !search.isDry) this.#remember(instance, database, upTo);
  }

  #remember(instance: number, database: Database, upTo: Positions): void {
    this.#searched.delete(instance);
    if (this.#searched.size >= searchedMax) this.#searched.delete(this.#searched.keys().next().value!);
    this.#searched.set(
      instance,
      encodeSequence(
        database,
        upTo.map((seq) => ({ seq })),
      ),
    );
  }

  /** Work for a server that closes is broken off. */
}

/** The search for deleted documents in a part of the changes of a database. */
class Search {
  readonly total: number;
  readonly isDry: boolean;
  readonly #revsMax: number;
  #requests: PurgeRequest[] = [];
  #revs = 0;
  #purged = 0;

  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly database: Database,
    private readonly after: Positions,
    private readonly upTo: Positions,
    private readonly isClosed: () => boolean,
  ) {
    const { config } = registry;
    this.isDry = config.boolean('couch_auto_purge_plugin/dry_run');
    this.#revsMax = config.number('couch_auto_purge_plugin/max_batch_size');
    this.total = upTo.reduce((sum, seq, shard) => sum + Math.max(0, seq - after[shard]!), 0);
  }

  /** False where it was broken off. */
  async run(): Promise<boolean> {
    const { registry, database } = this;
    const task = registry.tasks.begin('auto_purge', database.name, registry.nodeName, this.total);
    try {
      for (const shard of this.upTo.keys())
        if (!(await this.#searchShard(shard, (by) => task.advance(by)))) return false;
      await this.#purge();
    } finally {
      task.end();
      if (this.#purged > 0)
        registry.logger.info(
          { database: database.name, count: this.#purged, ...(this.isDry ? { dry_run: true } : {}) },
          'purged documents that were deleted long ago',
        );
    }
    return true;
  }

  async #searchShard(shard: number, advance: (by: number) => void): Promise<boolean> {
    const upTo = this.upTo[shard]!;
    for (let at = this.after[shard]!; at < upTo;) {
      if (this.isClosed() || this.database.isGone) return false;
      const range = { after: at, upTo, descending: false, limit: changesAtOnce };
      const found = this.database.collection.changes(shard, range);
      for (const { value } of found) {
        if (!isDeletedChange(value)) continue;
        const { id, leaves: revs } = decodeChange(value);
        this.#requests.push({ id, revs });
        this.#revs += revs.length;
        if (this.#revs >= this.#revsMax) await this.#purge();
      }
      const reached = found.length < changesAtOnce ? upTo : found.at(-1)!.key;
      advance(reached - at);
      at = reached;
      await this.registry.runtime.nextTurn();
    }
    return true;
  }

  /** A document that was written again has other leaves, and stays. */
  async #purge(): Promise<void> {
    const requests = this.#requests;
    if (requests.length === 0) return;
    this.#requests = [];
    this.#revs = 0;
    if (!this.isDry) await purgeDocs(this.database, requests, this.registry.saveGates);
    this.#purged += requests.length;
  }
}
