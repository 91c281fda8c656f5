/** Runs pieces of work one after the other, and tells others until when. */
export class ExclusiveWork {
  #last: Promise<void> | undefined;

  async run<T>(work: () => Promise<T>): Promise<T> {
    const result = (this.#last ?? Promise.resolve()).then(work);
    const ended = result.then(
      () => {},
      () => {},
    );
    this.#last = ended;
    void ended.then(() => {
      if (this.#last === ended) this.#last = undefined;
    });
    return await result;
  }

  /** Resolves when all that was given so far has ended; undefined where nothing is under way. */
  get ended(): Promise<void> | undefined {
    return this.#last;
  }
}
