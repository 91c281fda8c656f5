import type { Runtime } from '../base/runtime.js';

/** After this time without progress it is told. */
const stuckMs = 10_000;

/** Since when, and where, messages of a stream could not be applied. */
export class Stall {
  #since: { seq: number; atMs: number; reason: string } | undefined;

  constructor(
    private readonly stream: string,
    private readonly runtime: Runtime,
  ) {}

  note(seq: number, reason: string): void {
    if (this.#since?.seq !== seq) this.#since = { seq, atMs: this.runtime.monotonicMs(), reason };
  }

  end(): void {
    this.#since = undefined;
  }

  /** Why nothing was applied behind a message for a while. */
  at(seq: number): string | undefined {
    if (this.#since?.seq !== seq || this.runtime.monotonicMs() - this.#since.atMs < stuckMs) return undefined;
    return `the stream ${this.stream} cannot be applied: ${this.#since.reason}`;
  }
}
