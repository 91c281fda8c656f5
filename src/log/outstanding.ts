/** Commands that are applied and not known to be on disk, before the next message is taken. */
const outstandingMax = 2_000;

/** What was begun and is not over. */
export class Outstanding {
  readonly #all = new Set<Promise<unknown>>();
  #failure: Error | undefined;
  #durable: Promise<void> = Promise.resolve();

  constructor(private readonly onFailure: () => void) {}

  /** The first failure since `reset`. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves when all that was begun since `reset` is over, and rejects where something has failed. */
  get durable(): Promise<void> {
    return this.#durable;
  }

  reset(): void {
    this.#failure = undefined;
    this.#durable = Promise.resolve();
  }

  /** Calls something when all that was begun before is over, and these are too. */
  whenDurable(work: readonly (Promise<void> | undefined)[], then: () => void): void {
    this.#durable = Promise.all([this.#durable, ...work]).then(then);
    this.#durable.catch(() => undefined);
  }

  add(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#failure ??= error as Error;
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
