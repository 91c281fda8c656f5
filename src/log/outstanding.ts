/** Commands that are applied and not known to be on disk, before the next message is taken. */
const outstandingMax = 2_000;

/** What was begun and is not over. */
export class Outstanding {
  readonly #all = new Set<Promise<unknown>>();
  #failure: unknown;

  constructor(private readonly onFailure: () => void) {}

  /** The first failure since `reset`. */
  get failure(): unknown {
    return this.#failure;
  }

  reset(): void {
    this.#failure = undefined;
  }

  add(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#failure ??= error;
        this.onFailure();
        throw error;
      })
      .finally(() => this.#all.delete(tracked));
    this.#all.add(tracked);
    return tracked;
  }

  /** Resolves when there is room for more. */
  async whenFew(): Promise<void> {
    if (this.#all.size > outstandingMax) await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
