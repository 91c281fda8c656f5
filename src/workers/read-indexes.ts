import { BoundedMap } from '../base/bounded-map.js';
import { createLogger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import type { IndexBackend } from '../indexes/index-backend.js';
import { IndexBackends } from '../indexes/index-backends.js';
import { indexStoreOptions } from '../indexes/index-damage.js';
import { Views } from '../indexes/views.js';
import { groupsOf } from '../node/catalogue.js';
import { openIndexes } from '../node/open-groups.js';
import type { Volumes } from '../node/volumes.js';
import type { ScriptHost } from '../script/script-host.js';
import { notShared } from '../storage/lmdb-environment.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { StoreSize } from '../storage/store.js';
import type { Permit } from './messages.js';
import { NotHere } from './not-here.js';
import type { ReadDatabase } from './read-database.js';

/** Groups whose store is remembered. */
const placesMax = 10_000;

const refuse = (): Promise<never> => Promise.reject(new NotHere());

const noScripts = { reduce: refuse, rereduce: refuse } as unknown as ScriptHost;
/** Only those who fill indexes read documents for them. */
const noVolumes = {} as Pick<Volumes, 'get' | 'folderOf'>;

class ReadViews extends Views {
  /** Nothing that is put off until later can be asked of the owner. */
  override updateLater(): never {
    throw new NotHere();
  }
}

/**
 * The indexes of all databases, in a process that does not fill them. What is not up to date, and what functions have to
 * reduce, is left to the owner of the data folder.
 */
export class ReadIndexes extends IndexBackends {
  readonly #stores = new Map<string, ReadIndexStore>();
  /** Where the owner has the indexes of groups. */
  readonly #places = new BoundedMap<number, ReadIndexStore>(placesMax);
  readonly #views: Views;

  constructor(
    cacheBytes: number,
    private readonly runtime: Runtime,
  ) {
    super();
    // What is wrong with an index is logged by the owner, who is asked in the same moment.
    const logger = createLogger({ level: 'none', runtime });
    this.#views = new ReadViews(this, noScripts, cacheBytes, logger, runtime);
  }

  get all(): readonly IndexBackend[] {
    return [...this.#stores.values()];
  }

  /** Notes where a permit says that the indexes of groups are. */
  place(folders: Permit['indexes']): void {
    for (const [group, folder] of Object.entries(folders)) {
      let store = this.#stores.get(folder);
      if (store === undefined) this.#stores.set(folder, (store = new ReadIndexStore(folder, this.runtime)));
      this.#places.set(Number(group), store);
    }
  }

  of(instance: number): IndexBackend {
    const store = this.#places.get(instance);
    if (store?.isReleased !== false) throw new NotHere();
    return store;
  }

  /** The owner finds out by itself. */
  async discard(): Promise<void> {}

  /** The indexes of a database as they are now. To be asked for after the database was refreshed: they may be ahead of it. */
  indexesOf(database: ReadDatabase): DatabaseIndexes {
    for (const store of new Set(groupsOf(database.record).map(({ group }) => this.of(group).store)))
      store.refresh();
    // Indexes come and go without being told of.
    this.#views.forget();
    return openIndexes(this.#views, noVolumes, database.record, database.groups);
  }

  /** Closes the store where there is one in this folder. Tells whether that is a folder of indexes. */
  async release(folder: string, next: string | undefined): Promise<boolean> {
    const store = this.#stores.get(folder);
    if (store === undefined) return false;
    this.#stores.delete(folder);
    if (next !== undefined) this.#stores.set(next, store);
    await store.moveTo(next);
    return true;
  }
}

/** One store of the owner's. */
class ReadIndexStore implements IndexBackend {
  #folder: string | undefined;
  #store: LmdbStore | undefined;

  constructor(
    folder: string,
    private readonly runtime: Runtime,
  ) {
    this.#folder = folder;
  }

  get isReleased(): boolean {
    return this.#folder === undefined;
  }

  get store(): LmdbStore {
    if (this.#folder === undefined) throw new NotHere();
    const options = { ...indexStoreOptions, readOnly: true };
    return (this.#store ??= new LmdbStore(this.#folder, notShared, this.runtime, options));
  }

  get storeFolder(): string | undefined {
    return this.#folder;
  }

  async moveTo(folder: string | undefined): Promise<void> {
    const opened = this.#store;
    this.#folder = folder;
    this.#store = undefined;
    await opened?.close();
  }

  size(): StoreSize {
    return this.store.size();
  }

  share(): void {}

  readonly update = refuse;
  readonly keepOnly = refuse;
  readonly drop = refuse;
  readonly discard = refuse;
  readonly released = refuse;
  readonly restart = refuse;
  readonly renew = refuse;
  readonly reclaim = refuse;
  readonly close = refuse;
}
