import { RequestError } from '../base/errors.js';
import type { Timer } from '../base/runtime.js';
import { isWorthCopying } from '../storage/reclaiming.js';
import { compactChanged, excessPurges, type CompactedPositions } from './compact.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';

/** How often databases that have changed are looked at, and how often files are. */
const lookMs = 100;
const lookAtFilesMs = 5_000;
/** After a failure, which a full disk may be the reason of, a database is left alone for so long. */
const retryMs = 60_000;
/** Databases that are remembered; one that is forgotten is looked through from its beginning when it is next due. */
const knownMax = 10_000;
/** The share of the file of indexes, in percent, that must be free for it to be replaced. */
const indexesFreePercent = 40;
/** Purges beyond the limit that are worth a compaction, as a share of the limit. */
const purgesExcess = 0.1;

/** What is known of a database from the last time. */
interface Known {
  positions: CompactedPositions;
  /** What its attachments took when none of them was of a superseded revision only. */
  attachmentBytes: number;
  /** Not before this, by the clock of the runtime. */
  notBefore: number;
}

/**
 * Compacts databases by themselves, if `[tuffet] auto_compaction` is on: one whose superseded revisions take more than a
 * certain share of it. Only documents that have changed since the last time are looked at, so that it can be done often,
 * and the space that becomes free is used by the next writes before files have grown: under constant load they keep their
 * size. Files that are mostly free nevertheless are replaced by compact copies.
 */
export class AutoCompaction {
  readonly #known = new Map<number, Known>();
  readonly #changed = new Set<number>();
  #files: Timer;
  #look: Timer | undefined;
  #isRunning = false;
  #isReclaiming = false;
  #closed = false;

  constructor(private readonly registry: DatabaseRegistry) {
    registry.watch({
      committed: (instance) => this.#committed(instance),
      catalogued: () => {},
      closing: () => this.#close(),
    });
    this.#files = registry.runtime.setIdleTimer(() => this.#lookAtFiles(), lookAtFilesMs);
  }

  get #isOn(): boolean {
    return !this.#closed && this.registry.config.boolean('tuffet/auto_compaction');
  }

  #committed(instance: number): void {
    this.#changed.add(instance);
    this.#look ??= this.registry.runtime.setIdleTimer(() => {
      this.#look = undefined;
      void this.#compactDue();
    }, lookMs);
  }

  /** One database after the other; those that change meanwhile are looked at again. */
  async #compactDue(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (const instance of this.#changed) {
        this.#changed.delete(instance);
        const name = this.#isOn ? this.registry.nameOf(instance) : undefined;
        const isOwner = name !== undefined && this.registry.isOwnerOf(name);
        const database = isOwner ? this.registry.hosted(name) : undefined;
        if (database?.record.instance === instance) await this.#compactIfDue(database);
      }
    } catch (error) {
      this.#report(error);
    }
    this.#isRunning = false;
  }

  async #compactIfDue(database: Database): Promise<void> {
    const known = this.#knownOf(database);
    if (!this.#isDue(database, known)) return;
    try {
      await compactChanged(this.registry, database, known.positions);
      known.attachmentBytes = database.total('attachment_bytes');
    } catch (error) {
      known.notBefore = this.registry.runtime.monotonicMs() + retryMs;
      this.#report(error, database);
    }
  }

  #knownOf(database: Database): Known {
    const { instance } = database.record;
    let known = this.#known.get(instance);
    if (known === undefined) {
      if (this.#known.size >= knownMax) this.#known.delete(this.#known.keys().next().value!);
      known = {
        positions: new Map(),
        attachmentBytes: database.total('attachment_bytes'),
        notBefore: 0,
      };
      this.#known.set(instance, known);
    }
    return known;
  }

  #isDue(database: Database, { attachmentBytes, notBefore }: Known): boolean {
    if (database.compacting > 0 || this.registry.runtime.monotonicMs() < notBefore) return false;
    if (hasManyPurges(database)) return true;
    const { config } = this.registry;
    const obsolete = database.total('obsolete_bytes');
    if (obsolete <= 0) return false;
    // Attachments are not counted by revision: those that came since the last time may all be superseded.
    const waste = obsolete + Math.max(0, database.total('attachment_bytes') - attachmentBytes);
    const kept = database.total('stored_bytes') - waste;
    return (
      waste >= config.number('tuffet/auto_compaction_bytes_min') &&
      waste * 100 >= kept * config.number('tuffet/auto_compaction_percent')
    );
  }

  #lookAtFiles(): void {
    this.#files = this.registry.runtime.setIdleTimer(() => this.#lookAtFiles(), lookAtFilesMs);
    if (this.#isOn && !this.#isReclaiming) void this.#reclaim();
  }

  async #reclaim(): Promise<void> {
    this.#isReclaiming = true;
    try {
      for (const { slot } of this.registry.volumes()) if (this.#isOn) await this.registry.reclaim(slot);
      // Where it is not worth it, nothing may wait for it.
      const indexes = this.registry.views.backends.size();
      if (this.#isOn && indexes !== undefined && isWorthCopying(indexes, indexesFreePercent))
        await this.registry.views.reclaim();
    } catch (error) {
      this.#report(error);
    }
    this.#isReclaiming = false;
  }

  /** Work for a database that is gone, or a server that closes, is broken off. */
  #report(error: unknown, database?: Database): void {
    if (this.#closed || database?.isGone) return;
    const message = 'automatic compaction failed; it is tried again later';
    if (error instanceof RequestError)
      this.registry.logger.warn({ database: database?.name, reason: error.message }, message);
    else this.registry.logger.error({ err: error, database: database?.name }, message);
  }

  #close(): void {
    this.#closed = true;
    this.#look?.cancel();
    this.#files.cancel();
  }
}

function hasManyPurges(database: Database): boolean {
  const most = database.purgedInfosLimit * purgesExcess;
  return database.collection.shards.shards.some((shard) => excessPurges(database, shard) > most);
}
