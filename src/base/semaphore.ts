/** Lets a limited number of jobs run at once. The others wait, and start in the order in which they came. */
export class Semaphore {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(private readonly runningMax: number) {}

  async run<T>(job: () => Promise<T>): Promise<T> {
    if (!this.#tryTake()) await this.#passed();
    try {
      return await job();
    } finally {
      this.#release();
    }
  }

  /** Waits for a slot. It is taken until the function that this gives is called, once. */
  async acquire(): Promise<() => void> {
    if (!this.#tryTake()) await this.#passed();
    return () => this.#release();
  }

  /** Resolves when no slot is taken. */
  async whenIdle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #tryTake(): boolean {
    if (this.#running >= this.runningMax) return false;
    this.#running++;
    return true;
  }

  /** Resolves when another job has passed its slot on. */
  #passed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    // The slot passes to the next waiter, so that no newcomer can take it first.
    const next = this.#waiting.shift();
    if (next !== undefined) return next();
    this.#running--;
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
