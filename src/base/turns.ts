/**
 * Long work on one thread is done in slices: after each, the event loop turns once, so that requests, timers and commits are
 * served in between. A `setImmediate` for each job alone would not do: with a hundred jobs at work, one turn of the loop would
 * run a slice of every one of them. So the jobs share a budget for each turn; those beyond it wait for the next turn, in the
 * order in which they came.
 *
 * Awaiting a socket's `drain` or any other promise is no substitute. A write that the kernel accepts at once is drained in the
 * same turn, and a reader that is fast enough would keep the loop from ever turning.
 */

/** How long one slice of work lasts, and about how long all of them together last in one turn of the loop. */
const sliceMs = 8;

/** How long requests are served as they come in within one turn of the loop. */
const requestsMs = 16;

/** The event loop and its clock. */
interface Loop {
  monotonicMs(): number;
  defer(work: () => void): void;
}

/** Divides the turns of an event loop among jobs. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #turnEndsAt: number | undefined;
  readonly #runNext = (): void => {
    const now = this.loop.monotonicMs();
    if (this.#turnEndsAt === undefined) {
      this.#turnEndsAt = now + sliceMs;
      // Queued before anything else that waits for the next turn, and so the first to run there.
      this.loop.defer(this.#endTurn);
    } else if (now > this.#turnEndsAt) {
      this.loop.defer(this.#runNext);
      return;
    }
    this.#waiting.shift()!();
  };
  readonly #endTurn = (): void => {
    this.#turnEndsAt = undefined;
  };

  #requestsEndAt: number | undefined;
  readonly #endRequests = (): void => {
    this.#requestsEndAt = undefined;
  };

  constructor(private readonly loop: Loop) {}

  /**
   * Whether the requests that this turn has served took so long that the next one had better wait for a later turn. A hundred
   * connections may become readable at once, and what each of them asks for may take milliseconds.
   */
  get isFull(): boolean {
    if (this.#requestsEndAt !== undefined) return this.loop.monotonicMs() > this.#requestsEndAt;
    this.#requestsEndAt = this.loop.monotonicMs() + requestsMs;
    this.loop.defer(this.#endRequests);
    return false;
  }

  /** Resolves in a later turn of the event loop, in which there is time for a slice of work. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.loop.defer(this.#runNext);
    });
  }
}

/** The time that a job may take before it has to let others run. */
export class TimeSlice {
  #endsAt: number;

  constructor(
    private readonly loop: { monotonicMs(): number; nextTurn(): Promise<void> },
    private readonly ms = sliceMs,
  ) {
    this.#endsAt = loop.monotonicMs() + ms;
  }

  get isOver(): boolean {
    return this.loop.monotonicMs() > this.#endsAt;
  }

  /** Begins the next slice without letting others run: for callers that have just waited. */
  restart(): void {
    this.#endsAt = this.loop.monotonicMs() + this.ms;
  }

  /** Lets others run. Asked only where `isOver`, so that no promise is made for nothing. */
  async next(): Promise<void> {
    await this.loop.nextTurn();
    this.restart();
  }

  /** The same as `map`, for lists that take longer than others can wait. */
  async map<T, R>(list: readonly T[], make: (each: T) => R): Promise<R[]> {
    const made: R[] = [];
    for (const each of list) {
      made.push(make(each));
      if (this.isOver) await this.next();
    }
    return made;
  }

  /** Does work that is divided into small steps, and gives its result. */
  async finish<R>(steps: Generator<void, R>): Promise<R> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.isOver) await this.next();
    }
  }
}
