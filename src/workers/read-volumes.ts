import type { Runtime } from '../base/runtime.js';
import { Database } from '../node/database.js';
import { openGroups } from '../node/open-groups.js';
import { Volume } from '../shard/volume.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { notShared } from '../storage/lmdb-environment.js';
import type { Permit } from './messages.js';

/** A database whose documents this process reads, and never changes. */
export interface ReadDatabase {
  database: Database;
  /** Makes visible what the owner of the data folder has committed up to now. */
  refresh(): void;
}

/** The volumes that a worker reads, by their folders. Nothing that is read is remembered: another process writes. */
export class ReadVolumes {
  readonly #volumes = new Map<string, Volume>();

  constructor(private readonly runtime: Runtime) {}

  open(name: string, { record, folders }: Permit): ReadDatabase {
    const volumes = Object.values(folders).map((folder) => this.#volume(folder));
    const groups = openGroups({ get: (slot) => this.#volume(folders[slot]!) }, record);
    return {
      database: new Database(name, record, groups),
      refresh: () => {
        for (const { store } of volumes) store.refresh();
      },
    };
  }

  /** Closes a volume, whose folder is to be removed. */
  async release(folder: string): Promise<void> {
    const volume = this.#volumes.get(folder);
    this.#volumes.delete(folder);
    await volume?.close();
  }

  #volume(folder: string): Volume {
    let volume = this.#volumes.get(folder);
    if (volume === undefined) {
      const { runtime } = this;
      const store = new LmdbStore(folder, notShared, runtime, { readOnly: true });
      this.#volumes.set(folder, (volume = new Volume(0, store, () => undefined, false, runtime)));
    }
    return volume;
  }
}
