import { setTimeout as sleep } from 'node:timers/promises';

/** How long requests wait while the server does not admit any. */
const waitMs = 10_000;
const checkMs = 10;

/** Counts requests under way, and keeps new ones waiting while the stores are closed and opened again. */
export class Admission {
  #active = 0;
  #opening: Promise<boolean> | undefined;
  #open: (() => void) | undefined;

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
    const open = new Promise<boolean>((resolve) => (this.#open = () => resolve(true)));
    const over = new AbortController();
    const timeout = sleep(waitMs, false, { ref: false, signal: over.signal }).catch(() => true);
    this.#opening = Promise.race([open, timeout]).finally(() => over.abort());
  }

  resume(): void {
    this.#opening = undefined;
    this.#open?.();
  }

  /** Waits until no more requests than so many are under way, but no longer than for a time. */
  async settled(most: () => number, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#active > most() && performance.now() < until) await sleep(checkMs);
  }
}
