import { Unavailable } from '../base/errors.js';
import type { BlobStore } from '../blobs/blob-store.js';
import { copyStores } from './copy-stores.js';
import type { StoresAtRest } from './stores-at-rest.js';

/**
 * What a node that copies the stores of others gives of its own meanwhile. Where two streams go on from the histories of two
 * nodes, each of these has to copy from the other: neither could open its stores if it gave nothing before.
 */
export class OfferedStores {
  #isClosed = false;
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly stores: StoresAtRest,
    readonly blobs: BlobStore,
  ) {}

  /** For another node; each store is copied into the folder first. */
  copy(folder: string): AsyncIterable<Buffer> {
    const { catalogue, volumes } = this.stores;
    const offered = volumes.map((store, slot) => ({ slot, store: this.#offered(store) }));
    return copyStores(this.#offered(catalogue), offered, folder);
  }

  /** Resolves when the stores are not used any more. Copies that are not complete are broken off. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
  }

  #offered(store: { copyTo(folder: string): Promise<void> }): { copyTo(folder: string): Promise<void> } {
    return {
      copyTo: async (folder) => {
        if (this.#isClosed) throw new Unavailable('This node opens its stores.');
        const copied = store.copyTo(folder);
        this.#underWay.add(copied);
        await copied.finally(() => this.#underWay.delete(copied));
      },
    };
  }
}
