import type { Seq } from './peer.js';

/**
 * How far a replication has come, while batches are worked on side by side and end in any order: everything up to
 * `through` is done.
 */
export class Progress {
  readonly #batches: { seq: Seq; done: boolean }[] = [];

  constructor(public through: Seq) {}

  /** A batch has begun that leads up to a place; gives what is to be called at its end. */
  begin(seq: Seq): () => void {
    const batch = { seq, done: false };
    this.#batches.push(batch);
    return () => {
      batch.done = true;
      while (this.#batches[0]?.done) this.through = this.#batches.shift()!.seq;
    };
  }
}

/** So many at once, and no more. */
export class Slots {
  #taken = 0;
  #waiting: (() => void)[] = [];

  constructor(private readonly count: number) {}

  async take(): Promise<void> {
    while (this.#taken >= this.count) await this.#change();
    this.#taken++;
  }

  free(): void {
    this.#taken--;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async allFree(): Promise<void> {
    while (this.#taken > 0) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
