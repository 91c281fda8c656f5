/** Thrown where more is to be done for a range of documents than others can wait for. */
export class TooMuchWork extends Error {
  constructor(
    /** The document at which that came out. */
    readonly doc: number,
  ) {
    super(`too much work at document ${doc}`);
  }
}

/** Positions that are compared for one range of documents, about as many as take 15 ms. */
const stepsMax = 4_000_000;

/** What may be done for one range of documents. */
export class Work {
  /** The document at hand. */
  doc = 0;
  #left = stepsMax;

  /** Called before the steps are done. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork(this.doc);
  }
}
