import type { Bytes } from '../base/bytes.js';
import type { Store, Write } from './store.js';

/**
 * A store as it will be: what is on disk, the batch on its way there, and the batch being put together. So a batch can
 * be filled while the one before it is still being committed. A step that fails leaves no trace.
 */
export class Overlay {
  #writing = new Map<Bytes, Bytes | undefined>();
  #current = new Map<Bytes, Bytes | undefined>();
  #bytes = 0;
  /** What the step under way has replaced, newest last. */
  #undo: (() => void)[] = [];

  constructor(private readonly store: () => Store) {}

  /** Bytes of the batch being put together. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: Bytes): Bytes | undefined {
    if (this.#current.has(key)) return this.#current.get(key);
    if (this.#writing.has(key)) return this.#writing.get(key);
    return this.store().get(key);
  }

  put(key: Bytes, value: Bytes): void {
    this.#set(key, value);
    this.#bytes += key.length + value.length;
  }

  remove(key: Bytes): void {
    this.#set(key, undefined);
    this.#bytes += key.length;
  }

  /** Registers how to take back something else that the step under way has done. */
  onUndo(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Runs one step: all of it or, when it throws, nothing. */
  atomically<T>(step: () => T): T {
    this.#undo = [];
    try {
      return step();
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo();
      throw error;
    } finally {
      this.#undo = [];
    }
  }

  /** Ends the batch and begins the next; until `committed` or `failed` its writes are read from here. */
  seal(): Write[] {
    const writes: Write[] = [];
    for (const [key, value] of this.#current) writes.push({ key, value });
    this.#writing = this.#current;
    this.#current = new Map();
    this.#bytes = 0;
    return writes;
  }

  /** The sealed batch can be read from the store from now on. */
  committed(): void {
    this.#writing = new Map();
  }

  /** The store refused the sealed batch, so what was put together on top of it is void too. */
  failed(): void {
    this.#writing = new Map();
    this.#current = new Map();
    this.#bytes = 0;
  }

  #set(key: Bytes, value: Bytes | undefined): void {
    const current = this.#current;
    if (current.has(key)) {
      const old = current.get(key);
      this.#undo.push(() => current.set(key, old));
    } else {
      this.#undo.push(() => current.delete(key));
    }
    current.set(key, value);
  }
}
