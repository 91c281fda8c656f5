import type { StoreSize } from '../storage/store.js';
import type { IndexBackend } from './index-backend.js';

/** All stores of indexes. Those of a group are in one of them. */
export abstract class IndexBackends {
  abstract readonly all: readonly IndexBackend[];

  /** The one that has the indexes of a group, or will have them. */
  abstract of(instance: number): IndexBackend;

  /** Removes a damaged index, unless its tree has another root by now. */
  abstract discard(number: number, root: number): Promise<void>;

  async each(work: (backend: IndexBackend) => Promise<void>): Promise<void> {
    await Promise.all(this.all.map(work));
  }

  /** What all of them take; undefined as long as there are no indexes. */
  size(): StoreSize | undefined {
    const sizes = this.all.flatMap((backend) => backend.size() ?? []);
    if (sizes.length === 0) return undefined;
    return {
      file_bytes: sizes.reduce((sum, { file_bytes }) => sum + file_bytes, 0),
      used_bytes: sizes.reduce((sum, { used_bytes }) => sum + used_bytes, 0),
    };
  }
}

/** Where there is only one. */
export class SoleBackend extends IndexBackends {
  readonly all: readonly IndexBackend[];

  constructor(private readonly backend: IndexBackend) {
    super();
    this.all = [backend];
  }

  of(): IndexBackend {
    return this.backend;
  }

  discard(number: number, root: number): Promise<void> {
    return this.backend.discard(number, root);
  }
}
