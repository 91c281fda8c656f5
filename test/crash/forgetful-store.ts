import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Write } from '../../src/storage/store.js';
import type { Random } from '../model/random.js';

const delayMsMax = 4;

/**
 * A store on a disk that takes its time: readers see a batch after a while, and only some time later is it safe. A
 * kill takes away what was not safe yet, all of it or, as the case may be with a real disk, the later part.
 */
export class ForgetfulStore extends MemoryStore {
  readonly #safe: Write[][];
  readonly #unsafe: Write[][] = [];
  #last: Promise<void> = Promise.resolve();
  #killed = false;

  constructor(
    private readonly random: Random,
    survived: readonly Write[][] = [],
  ) {
    super();
    this.#safe = [...survived];
    for (const batch of survived) void super.write(batch);
  }

  override write(batch: readonly Write[]): Commit {
    const copy = batch.map((write) => ({ ...write }));
    const committed = this.#after(this.#last, () => {
      void super.write(copy);
      this.#unsafe.push(copy);
    });
    const flushed = this.#after(committed, () => this.#safe.push(...this.#unsafe.splice(0, 1)));
    this.#last = flushed;
    return { committed, flushed };
  }

  /** Whether everything that readers see is safe, for this key. */
  isSafe(key: string): boolean {
    return !this.#unsafe.some((batch) => batch.some((write) => write.key === key));
  }

  /** The store as it is found after the kill; this one never gets anything done again. */
  kill(): ForgetfulStore {
    this.#killed = true;
    const kept = this.random.oneIn(2) ? 0 : this.random.below(this.#unsafe.length + 1);
    return new ForgetfulStore(this.random, [...this.#safe, ...this.#unsafe.slice(0, kept)]);
  }

  async #after(before: Promise<void>, work: () => void): Promise<void> {
    await before;
    const delay = this.random.below(delayMsMax);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    if (this.#killed) await new Promise(() => {});
    work();
  }
}
