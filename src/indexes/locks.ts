/** Lets work that shares a key wait for each other, in the order in which it came. */
export class Locks {
  readonly #last = new Map<string, Promise<void>>();

  async hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#last.get(key));
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    for (const key of keys) this.#last.set(key, held);
    try {
      for (const earlier of before) await earlier;
      return await work();
    } finally {
      for (const key of keys) if (this.#last.get(key) === held) this.#last.delete(key);
      release();
    }
  }
}
