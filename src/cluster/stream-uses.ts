/** The requests that use databases of streams: what a node has of a stream stays as long as there are any. */
export class StreamUses {
  readonly #counts = new Map<number, number>();

  /** Gives the function that ends it. */
  begin(stream: number): () => void {
    const count = (by: 1 | -1): void => void this.#counts.set(stream, (this.#counts.get(stream) ?? 0) + by);
    count(1);
    return () => count(-1);
  }

  isUsed(stream: number): boolean {
    return (this.#counts.get(stream) ?? 0) > 0;
  }
}
