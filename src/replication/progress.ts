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
