import { backoffMs } from '../base/backoff.js';
import { BoundedMap } from '../base/bounded-map.js';
import { RequestError } from '../base/errors.js';
import { TimerWheel, type Due } from '../base/timer-wheel.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import { viewLanguages, type DesignViews } from '../indexes/definition.js';
import { searchTask } from '../fulltext/search-source.js';
import type { OnUpdate } from '../indexes/update-tasks.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { designNames, designOf, nouveauOf, searchesOf } from '../design/design-docs.js';
import { taskOf } from './view-source.js';

/** Databases whose indexes are filled at the same time: one that is slow does not hold up all others. */
const runningMax = 2;
/** Databases that wait; what changes beyond them is indexed after its next change, or when it is queried. */
const waitingMax = 100_000;
/** After a failure, the next attempt waits this long at least; after each further one twice as long, up to the last. */
const backoff = { firstMs: 5_000, longestMs: 600_000 };
/** Design documents whose failures are remembered. */
const failuresMax = 1_000;

interface Failure {
  count: number;
  /** No attempt before this, by `this.registry.runtime.monotonicMs()`. */
  until: number;
}

/**
 * Brings the indexes of databases up to date after they have changed, if `[tuffet] background_indexing` is on. No
 * request waits for it: a change puts its database on the list, where each is at most once, and a while later its indexes are
 * filled, those of one design document after the other. A database that has had no change is not on the list.
 *
 * What fails is tried again after the next change of the database only, and not at once even then.
 */
export class BackgroundIndexing {
  readonly #listed = new Map<number, Listed>();
  /** Those whose time has come, in this order. */
  readonly #ready = new Set<Listed>();
  readonly #wheel: TimerWheel;
  /** By database and signature. */
  readonly #failures = new BoundedMap<string, Failure>(failuresMax);
  #running = 0;
  #closed = false;

  constructor(private readonly registry: DatabaseRegistry) {
    const onError = (err: unknown): void => registry.logger.error({ err }, 'a timer failed');
    this.#wheel = new TimerWheel(onError, registry.runtime);
    registry.watch({
      committed: (instance) => this.#changed(instance),
      catalogued: () => {},
      closing: () => this.#close(),
    });
  }

  get #isOn(): boolean {
    return !this.#closed && this.registry.config.boolean('tuffet/background_indexing');
  }

  #changed(instance: number): void {
    if (!this.#isOn) return;
    const known = this.#listed.get(instance);
    if (known !== undefined) {
      known.changedAgain = true;
      return;
    }
    const name = this.registry.nameOf(instance);
    if (name === undefined || this.#listed.size >= waitingMax) return;
    const listed = new Listed(instance, name, (one) => this.#due(one));
    this.#listed.set(instance, listed);
    this.#settle(listed);
  }

  #settle(listed: Listed, atLeastMs = 0): void {
    const delay = this.registry.config.number('tuffet/background_indexing_delay_ms');
    this.#wheel.add(listed, Math.max(delay, atLeastMs));
  }

  #due(listed: Listed): void {
    this.#ready.add(listed);
    this.#next();
  }

  #next(): void {
    while (this.#running < runningMax) {
      const [listed] = this.#ready;
      if (listed === undefined) return;
      this.#ready.delete(listed);
      if (!this.#isOn) this.#listed.delete(listed.instance);
      // Reclaiming space of index files waits for a moment without indexing.
      else if (this.registry.views.isReclaiming) this.#settle(listed);
      else void this.#run(listed);
    }
  }

  async #run(listed: Listed): Promise<void> {
    this.#running++;
    listed.changedAgain = false;
    let retryAfterMs = 0;
    try {
      retryAfterMs = await this.#index(listed);
    } catch (error) {
      if (this.#databaseOf(listed) !== undefined)
        this.registry.logger.error(
          { err: error, database: listed.name },
          'indexing in the background failed',
        );
    }
    this.#running--;
    if (this.#isOn && (listed.changedAgain || retryAfterMs > 0)) this.#settle(listed, retryAfterMs);
    else this.#listed.delete(listed.instance);
    this.#next();
  }

  /** Gives in how many milliseconds there is something to do that could not be done now; 0 where there is nothing. */
  async #index(listed: Listed): Promise<number> {
    const database = this.#databaseOf(listed);
    let waitMs = 0;
    for (const name of database === undefined ? [] : designNames(database)) {
      if (this.#databaseOf(listed) !== database || !this.#isOn) return 0;
      for (const work of worksOf(this.registry, database!, name)) {
        const { design } = work;
        if (!design.autoupdate || !viewLanguages.has(design.language)) continue;
        if (this.registry.indexed(database!).isFresh(design)) continue;
        const key = `${listed.instance}/${design.signature}`;
        const leftMs = (this.#failures.get(key)?.until ?? 0) - this.registry.runtime.monotonicMs();
        if (leftMs > 0) waitMs = Math.max(waitMs, leftMs);
        else await this.#update(listed, database!, name, work, key);
      }
    }
    return waitMs;
  }

  async #update(
    listed: Listed,
    database: Database,
    ddoc: string,
    { design, onUpdate }: Work,
    key: string,
  ): Promise<void> {
    const { registry } = this;
    try {
      await registry.indexed(database).update(design, onUpdate);
      this.#failures.delete(key);
    } catch (error) {
      // Work for a database that is gone, or a server that closes, is broken off.
      if (this.#databaseOf(listed) === undefined) return;
      if (this.#failed(key) > 1) return;
      registry.logger.warn(
        { err: error, database: database.name, design_document: `_design/${ddoc}` },
        'an index could not be brought up to date in the background',
      );
    }
  }

  /** Gives how often it has failed. */
  #failed(key: string): number {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const until = this.registry.runtime.monotonicMs() + backoffMs(count, backoff);
    this.#failures.set(key, { count, until });
    return count;
  }

  /** Undefined where it is gone, or everything is. */
  #databaseOf({ instance, name }: Listed): Database | undefined {
    if (this.#closed) return undefined;
    const database = this.registry.hosted(name);
    return database?.record.instance === instance ? database : undefined;
  }

  #close(): void {
    this.#closed = true;
    for (const listed of this.#listed.values()) this.#wheel.remove(listed);
    this.#listed.clear();
    this.#ready.clear();
  }
}

/** A database with changes that its indexes may not have. */
class Listed implements Due {
  /** Since its indexes were last looked at. */
  changedAgain = false;

  constructor(
    readonly instance: number,
    readonly name: string,
    private readonly onDue: (listed: Listed) => void,
  ) {}

  due(): undefined {
    this.onDue(this);
  }
}

interface Work {
  design: DesignViews;
  onUpdate: OnUpdate;
}

/** Brings all indexes of a database up to date, in groups that are given. Failures are reported when the index is queried. */
export async function fillIndexes(
  registry: DatabaseRegistry,
  database: Database,
  indexes: DatabaseIndexes,
  check: () => void,
): Promise<void> {
  for (const name of designNames(database)) {
    for (const { design, onUpdate } of worksOf(registry, database, name)) {
      if (design.views.size === 0 || !viewLanguages.has(design.language)) continue;
      check();
      await indexes.update(design, onUpdate).catch((error: unknown) => {
        if (registry.isClosing || database.isGone || !(error instanceof RequestError)) throw error;
      });
    }
  }
}

/** The views and the search indexes of a design document. One that was deleted a moment ago has none. */
function worksOf(registry: DatabaseRegistry, database: Database, ddoc: string): Work[] {
  try {
    const searches = [searchesOf(database, ddoc), nouveauOf(database, ddoc)];
    return [
      { design: designOf(database, ddoc), onUpdate: taskOf(registry, { database, ddoc }) },
      ...searches.map((design) => ({ design, onUpdate: searchTask(registry, { database, ddoc, design }) })),
    ];
  } catch (error) {
    if (error instanceof RequestError && error.error === 'not_found') return [];
    throw error;
  }
}
