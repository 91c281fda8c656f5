import { failedCommit } from '../base/storage-errors.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { Store } from '../storage/store.js';

interface Opened {
  store: LmdbStore;
  users: number;
  /** No reader will be opened again. */
  replaced: boolean;
}

/**
 * The volumes of documents, opened for reading by a thread that does not write to them. A volume that was replaced
 * meanwhile goes on being readable as it was; its files go when it is closed.
 */
export class OpenDocuments {
  readonly #open = new Map<string, Opened>();

  async with<T>(folder: string, work: (store: Store) => Promise<T>): Promise<T> {
    // One that is to be opened again, after an error of the disk, must not be used until it is closed.
    if (this.#open.get(folder)?.replaced) throw failedCommit(new Error('a volume is being opened again'));
    const opened = this.#open.get(folder) ?? { store: openStore(folder), users: 0, replaced: false };
    this.#open.set(folder, opened);
    opened.users++;
    try {
      return await work(opened.store);
    } finally {
      opened.users--;
      await this.#closeReplaced(folder, opened);
    }
  }

  /** The volume was replaced by another, or has to be opened again: it is closed when the last reader is done. */
  async release(folder: string): Promise<void> {
    const opened = this.#open.get(folder);
    if (opened === undefined) return;
    opened.replaced = true;
    await this.#closeReplaced(folder, opened);
  }

  async #closeReplaced(folder: string, { store, users, replaced }: Opened): Promise<void> {
    if (!replaced || users > 0) return;
    this.#open.delete(folder);
    await store.close();
  }

  async close(): Promise<void> {
    for (const { store } of this.#open.values()) await store.close();
    this.#open.clear();
  }
}

/** While the serving thread opens the volume again it may be impossible to open it here. */
function openStore(folder: string): LmdbStore {
  try {
    return new LmdbStore(folder);
  } catch (error) {
    throw failedCommit(error);
  }
}
