import type { BlobStore } from '../blobs/blob-store.js';

/**
 * What a node that copies the stores of others gives of its own meanwhile. Where two streams go on from the histories of two
 * nodes, each of these has to copy from the other: neither could open its stores if it gave nothing before.
 */
export interface OfferedStores {
  copy(folder: string): AsyncIterable<Buffer>;
  blobs: BlobStore;
}

/** That a node has to open its stores again, and what it offers to others meanwhile. */
export class Rejoining {
  #isUnderWay = false;
  #offered: OfferedStores | undefined;
  /**
   * Called when this node runs and has to open its stores again, from where the streams are now: some were trimmed, so that it has
   * to copy the databases of another node, or were made anew.
   */
  onBegin: () => void = () => {};
  /** Called when others may copy what this node has although its stores are not open. */
  onOffer: () => void = () => {};

  /** Whether this node has to open its stores again, or does so. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  begin(): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.onBegin();
  }

  end(): void {
    this.#isUnderWay = false;
  }

  /** What others may copy while this node opens its stores. */
  get offered(): OfferedStores | undefined {
    return this.#offered;
  }

  offer(stores: OfferedStores | undefined): void {
    this.#offered = stores;
    if (stores !== undefined) this.onOffer();
  }
}
