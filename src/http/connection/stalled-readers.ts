import type { Runtime } from '../../base/runtime.js';
import { IdleWatch, type IdleRules } from '../../base/idle-watch.js';

/** Something that answers are written to: a socket, or an answer with a stream of its own. */
export interface Reader {
  /** Bytes that wait to be taken. */
  readonly writableLength: number;
  /** Bytes that were handed over so far, however far they have come. */
  readonly bytesWritten: number;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Closes the connections of clients that take nothing of their answers. Writes are seen as a whole, not byte by byte, so
 * very slow clients have to take one slice of an answer in that time.
 */
export class StalledReaders {
  readonly #watch: IdleWatch<Reader>;

  constructor(idleMs: () => number, runtime: Runtime) {
    const rules: IdleRules<Reader> = {
      idleMs,
      bytesOf: ({ bytesWritten }) => bytesWritten,
      isWaiting: ({ writableLength }) => writableLength > 0,
      onIdle: (reader) => reader.destroy(),
    };
    this.#watch = new IdleWatch(rules, runtime);
  }

  add(reader: Reader): void {
    this.#watch.add(reader);
    reader.once('close', () => this.#watch.delete(reader));
  }
}
