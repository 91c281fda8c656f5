import type { Lmdb } from './lmdb-environment.js';

/** Copies of environments that are under way. */
export class LmdbCopies {
  readonly #underWay = new Set<Promise<void>>();

  async copy(db: Lmdb, folder: string): Promise<void> {
    const copying = db.backup(folder, true);
    this.#underWay.add(copying);
    await copying.finally(() => this.#underWay.delete(copying));
  }

  /** Before that, the library would go on copying from memory that is not there any more, and take the process with it. */
  async close(db: Lmdb): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await db.close();
  }
}
