import type { Bytes } from '../base/bytes.js';
import type { Store, Write } from './store.js';

/** A value, or null for a key that is removed. */
type Pending = Bytes | null;

/**
 * A store as it will be: what is on disk, the batch on its way there, and the batch being put together. So a batch can
 * be filled while the one before it is still being committed. A step that fails leaves no trace.
 */
export class Overlay {
  #writing = new Map<Bytes, Pending>();
  #current = new Map<Bytes, Pending>();
  #bytes = 0;
  /** What the step under way has replaced: keys, and what the batch held for them before. */
  #undoKeys: Bytes[] = [];
  #undoValues: (Pending | undefined)[] = [];
  #undoMore: (() => void)[] = [];

  constructor(private readonly store: () => Store) {}

  /** Bytes of the batch being put together. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: Bytes): Bytes | undefined {
    let pending = this.#current.get(key);
    if (pending === undefined) pending = this.#writing.get(key);
    if (pending === undefined) return this.store().get(key);
    return pending ?? undefined;
  }

  put(key: Bytes, value: Bytes): void {
    this.#set(key, value);
    this.#bytes += key.length + value.length;
  }

  remove(key: Bytes): void {
    this.#set(key, null);
    this.#bytes += key.length;
  }

  /** Registers how to take back something else that the step under way has done. */
  onUndo(undo: () => void): void {
    this.#undoMore.push(undo);
  }

  /** Runs one step: all of it or, when it throws, nothing. */
  atomically<T>(step: () => T): T {
    const before = this.#bytes;
    try {
      return step();
    } catch (error) {
      this.#takeBack();
      this.#bytes = before;
      throw error;
    } finally {
      this.#undoKeys = [];
      this.#undoValues = [];
      this.#undoMore = [];
    }
  }

  /** Runs a part of a step: when it throws, what it has written is taken back, and the step may go on. */
  attempt<T>(part: () => T): T {
    const keys = this.#undoKeys.length;
    const more = this.#undoMore.length;
    const before = this.#bytes;
    try {
      return part();
    } catch (error) {
      this.#takeBack(keys, more);
      this.#bytes = before;
      throw error;
    }
  }

  /** Ends the batch and begins the next; until `committed` or `failed` its writes are read from here. */
  seal(): Write[] {
    const writes: Write[] = [];
    for (const [key, value] of this.#current) writes.push({ key, value: value ?? undefined });
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

  #set(key: Bytes, value: Pending): void {
    this.#undoKeys.push(key);
    this.#undoValues.push(this.#current.get(key));
    this.#current.set(key, value);
  }

  /** Takes back what was done since so many keys and others were noted. */
  #takeBack(keys = 0, more = 0): void {
    for (let i = this.#undoKeys.length - 1; i >= keys; i--) {
      const old = this.#undoValues[i];
      if (old === undefined) this.#current.delete(this.#undoKeys[i]!);
      else this.#current.set(this.#undoKeys[i]!, old);
    }
    this.#undoKeys.length = this.#undoValues.length = keys;
    for (const undo of this.#undoMore.splice(more).reverse()) undo();
  }
}
