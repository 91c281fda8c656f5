/** Something that answers are written to: a socket, or an answer with a stream of its own. */
export interface Reader {
  /** Bytes that wait to be taken. */
  readonly writableLength: number;
  /** Bytes that were handed over so far, however far they have come. */
  readonly bytesWritten: number;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface Progress {
  bytes: number;
  since: number;
}

/**
 * Closes the connections of clients that take nothing of their answers. Writes are seen as a whole, not byte by byte, so
 * very slow clients have to take one slice of an answer in that time.
 */
export class StalledReaders {
  readonly #readers = new Map<Reader, Progress>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly idleMs: () => number) {}

  add(reader: Reader): void {
    this.#readers.set(reader, { bytes: 0, since: performance.now() });
    reader.once('close', () => this.#readers.delete(reader));
    if (this.#timer === undefined) this.#timer = this.#schedule();
  }

  #schedule(): NodeJS.Timeout | undefined {
    if (this.#readers.size === 0) return undefined;
    const ms = Math.max(checkMs.least, Math.min(checkMs.most, this.idleMs() / 4));
    return setTimeout(() => {
      this.#check();
      this.#timer = this.#schedule();
    }, ms).unref();
  }

  #check(): void {
    const now = performance.now();
    const before = now - this.idleMs();
    for (const [reader, progress] of this.#readers) {
      if (reader.writableLength === 0 || reader.bytesWritten !== progress.bytes) {
        progress.bytes = reader.bytesWritten;
        progress.since = now;
      } else if (progress.since <= before) reader.destroy();
    }
  }
}

const checkMs = { least: 20, most: 5_000 };
