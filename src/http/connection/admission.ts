import type { Runtime } from '../../base/runtime.js';

/** How long requests wait while the server does not admit any. */
const waitMs = 10_000;
const checkMs = 10;

/** Counts requests under way, and keeps new ones waiting while the stores are closed and opened again. */
export class Admission {
  #active = 0;
  #opening: Promise<boolean> | undefined;
  #open: (() => void) | undefined;
  #refuseMs = 0;

  constructor(private readonly runtime: Runtime) {}

  /** Where requests have to wait: tells, when that is over, whether they are admitted. */
  get opening(): Promise<boolean> | undefined {
    return this.#opening;
  }

  enter(): void {
    this.#active++;
  }

  leave(): void {
    this.#active--;
  }

  pause(): void {
    this.#refuseMs = this.runtime.monotonicMs() + waitMs;
    this.#wait();
  }

  /** Lets requests that wait be looked at again: some may not have to wait any more. */
  lookAgain(): void {
    if (this.#opening === undefined) return;
    const open = this.#open;
    this.#wait();
    open?.();
  }

  #wait(): void {
    const ms = Math.max(0, this.#refuseMs - this.runtime.monotonicMs());
    this.#opening = new Promise<boolean>((resolve) => {
      const timeout = this.runtime.setIdleTimer(() => resolve(false), ms);
      this.#open = () => {
        timeout.cancel();
        resolve(true);
      };
    });
  }

  resume(): void {
    this.#opening = undefined;
    this.#open?.();
  }

  /** Waits until no more requests than so many are under way, but no longer than for a time. */
  async settled(most: () => number, ms: number): Promise<void> {
    const until = this.runtime.monotonicMs() + ms;
    while (this.#active > most() && this.runtime.monotonicMs() < until) await this.runtime.sleep(checkMs);
  }
}
