/** Up to which command the catalogue is applied, for streams whose messages build on it. */
export class CataloguePosition {
  readonly #waiting = new Set<{ position: number; resolve: () => void; reject: (error: Error) => void }>();

  #end: Error | undefined;

  constructor(private reached: number) {}

  get current(): number {
    return this.reached;
  }

  advance(position: number): void {
    this.reached = position;
    for (const each of this.#waiting) {
      if (each.position > position) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }

  /** Resolves when the catalogue has got to a position. */
  async when(position: number): Promise<void> {
    if (position <= this.reached) return;
    if (this.#end !== undefined) throw this.#end;
    await new Promise<void>((resolve, reject) => this.#waiting.add({ position, resolve, reject }));
  }

  /** It gets no further. */
  end(error: Error): void {
    this.#end = error;
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}
