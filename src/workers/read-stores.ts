import { BoundedMap } from '../base/bounded-map.js';
import type { Runtime } from '../base/runtime.js';
import { openGroups } from '../node/open-groups.js';
import { Volume } from '../shard/volume.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { notShared } from '../storage/lmdb-environment.js';
import type { Permit } from './messages.js';
import { ReadDatabase } from './read-database.js';
import type { ReadIndexes } from './read-indexes.js';

const databasesMax = 1_000;

interface Opened {
  /** What it was opened by. */
  key: string;
  database: ReadDatabase;
}

/** The stores that a worker reads, by their folders. No records are remembered: another process writes. */
export class ReadStores {
  readonly #volumes = new Map<string, Volume>();
  /** By name: all who read a database share what is known of it. */
  readonly #databases = new BoundedMap<string, Opened>(databasesMax);
  /** All that may still be read. */
  #known: WeakRef<ReadDatabase>[] = [];

  constructor(
    private readonly indexes: ReadIndexes,
    private readonly runtime: Runtime,
  ) {}

  open(name: string, { record, folders, indexes }: Permit): ReadDatabase {
    this.indexes.place(indexes);
    const key = JSON.stringify([record, folders]);
    const opened = this.#databases.get(name);
    if (opened?.key === key && !opened.database.isGone) return opened.database;
    const volumes = Object.values(folders).map((folder) => this.#volume(folder));
    const groups = openGroups({ get: (slot) => this.#volume(folders[slot]!) }, record);
    const database = new ReadDatabase(name, record, groups, volumes);
    this.#databases.set(name, { key, database });
    this.#known = [...this.#known.filter((known) => known.deref() !== undefined), new WeakRef(database)];
    return database;
  }

  /** Closes a store whose folder is to be removed. Answers under way go on with `next`, if there is one. */
  async release(folder: string, next: string | undefined): Promise<void> {
    if (await this.indexes.release(folder, next)) return;
    const volume = this.#volumes.get(folder);
    if (volume === undefined) return;
    this.#volumes.delete(folder);
    if (next === undefined) return await volume.close();
    const known = this.#volumes.get(next);
    const replaced = volume.exchangeStore(known?.store ?? this.#openStore(next));
    if (known === undefined) this.#volumes.set(next, volume);
    await replaced.close();
  }

  /** Breaks off answers that read a group whose records are to be removed. */
  end(group: number): void {
    for (const known of this.#known) {
      const database = known.deref();
      if (database?.hasGroup(group)) database.markGone();
    }
  }

  #volume(folder: string): Volume {
    let volume = this.#volumes.get(folder);
    if (volume === undefined) {
      volume = new Volume(0, this.#openStore(folder), () => undefined, false, this.runtime);
      this.#volumes.set(folder, volume);
    }
    return volume;
  }

  #openStore(folder: string): LmdbStore {
    return new LmdbStore(folder, notShared, this.runtime, { readOnly: true });
  }
}
