import type { Runtime, Timer } from './runtime.js';
interface Progress {
  bytes: number;
  /** When bytes last moved, or none were expected. */
  since: number;
}

export interface IdleRules<T> {
  idleMs: () => number;
  /** Bytes moved so far; undefined if the transfer has ended. */
  bytesOf: (transfer: T) => number | undefined;
  /** Whether the other side is expected to act: only then does time count. */
  isWaiting: (transfer: T) => boolean;
  onIdle: (transfer: T) => void;
}

const checkMs = { least: 20, most: 5_000 };

/**
 * Finds transfers that have stopped moving. One that keeps moving may take any time.
 *
 * Most transfers end in the turn in which they begin. They are never put into the map: a map that changes with every request
 * is copied again and again, and its copies in the old part of the heap keep all that was in them from being freed cheaply.
 */
export class IdleWatch<T> {
  readonly #transfers = new Map<T, Progress>();
  /** Those of this turn. */
  #added: T[] = [];
  #timer: Timer | undefined;
  readonly #watchAdded = (): void => {
    const added = this.#added;
    this.#added = [];
    const since = this.runtime.monotonicMs();
    for (const transfer of added) {
      const bytes = this.rules.bytesOf(transfer);
      if (bytes !== undefined) this.#transfers.set(transfer, { bytes, since });
    }
    if (this.#timer === undefined) this.#timer = this.#schedule();
  };

  constructor(
    private readonly rules: IdleRules<T>,
    private readonly runtime: Runtime,
  ) {}

  add(transfer: T): void {
    if (this.#added.push(transfer) === 1) this.runtime.defer(this.#watchAdded);
  }

  delete(transfer: T): void {
    const at = this.#added.indexOf(transfer);
    if (at < 0) this.#transfers.delete(transfer);
    else this.#added.splice(at, 1);
  }

  #schedule(): Timer | undefined {
    if (this.#transfers.size === 0) return undefined;
    const ms = Math.max(checkMs.least, Math.min(checkMs.most, this.rules.idleMs() / 4));
    return this.runtime.setIdleTimer(() => {
      this.#check();
      this.#timer = this.#schedule();
    }, ms);
  }

  #check(): void {
    const now = this.runtime.monotonicMs();
    const { bytesOf, isWaiting, onIdle } = this.rules;
    const idleMs = this.rules.idleMs();
    for (const [transfer, progress] of this.#transfers) {
      const bytes = bytesOf(transfer);
      if (bytes === undefined) this.#transfers.delete(transfer);
      else if (bytes !== progress.bytes || !isWaiting(transfer)) {
        progress.bytes = bytes;
        progress.since = now;
      } else if (now - progress.since >= idleMs) {
        this.#transfers.delete(transfer);
        onIdle(transfer);
      }
    }
  }
}
