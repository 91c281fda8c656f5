import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Write } from '../../src/storage/store.js';

/** A disk whose batches can be read at once, but are reported only when the test lets them be. */
export class HeldStore extends MemoryStore {
  onWrite: (batch: readonly Write[]) => Promise<void> = () => Promise.resolve();

  override write(batch: readonly Write[]): Commit {
    const { committed } = super.write(batch);
    return { committed, flushed: this.onWrite(batch) };
  }
}
