import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Write } from '../../src/storage/store.js';

/** A disk that is cut off after some commits. */
export class CutStore extends MemoryStore {
  constructor(private commitsLeft: number) {
    super();
  }

  override write(batch: readonly Write[]): Commit {
    if (this.commitsLeft-- > 0) return super.write(batch);
    const refused = Promise.reject(new Error('the machine stopped'));
    refused.catch(() => undefined);
    return { committed: refused, flushed: refused };
  }

  continue(): void {
    this.commitsLeft = Infinity;
  }
}
