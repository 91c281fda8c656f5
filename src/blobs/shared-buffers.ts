/** What goes to the disk and to the hash at once. */
const bufferBytes = 128 * 1024;

/** Buffers kept for the next upload: new shared memory has to be filled with zeros first. */
const freeMax = 16;

/** Buffers of one size that several threads can read. */
export class SharedBuffers {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.from(new SharedArrayBuffer(bufferBytes));
  }

  /** The buffer must be a whole one from `take`, given back once. */
  give(buffer: Buffer): void {
    if (this.#free.length < freeMax) this.#free.push(buffer);
  }
}
