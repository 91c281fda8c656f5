/** Thrown where more is to be done for a range of documents than others can wait for. */
export class TooMuchWork extends Error {
  constructor(
    /** The document at which that came out. */
    readonly doc: number,
  ) {
    super(`too much work at document ${doc}`);
  }
}

/** Positions that are compared in one document, about as many as take 15 ms. */
const stepsMax = 4_000_000;
/** The same for a range of documents: it can be divided. */
const rangeStepsMax = stepsMax / 4;
/** Bytes of postings that are read in the time of one step. */
const bytesPerStep = 4;

/** What may be done for one range of documents. */
export class Work {
  /** The document at hand. */
  doc = 0;
  #left: number;

  constructor(docs: number) {
    this.#left = docs === 1 ? stepsMax : rangeStepsMax;
  }

  /** Called before the steps are done. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork(this.doc);
  }

  /** Called for a block of postings that is long, because a term stands in the document very often. */
  read(doc: number, bytes: number): void {
    this.doc = doc;
    this.spend(Math.ceil(bytes / bytesPerStep));
  }
}
