import { readU48 } from '../base/bytes.js';
import { upToBytes } from './list-range.js';
import type { Bytes, Commit, Entry, NumberedEntry, Range, Store, StoreSize, Write } from './store.js';

/**
 * A store that keeps everything in memory and forgets it on close: for tests and `--in-memory`.
 *
 * Sorted keys lie in chunks of at most `chunkKeysMax`, found by binary search over the chunks' first keys; values lie
 * in a map beside them. Iterations gather what they will show when they begin, so that no write disturbs them.
 */
export class MemoryStore implements Store {
  readonly #values = new Map<Bytes, Bytes>();
  #chunks: Bytes[][] = [[]];
  #bytes = 0;

  get(key: Bytes): Bytes | undefined {
    return this.#values.get(key);
  }

  getUncached(key: Bytes): Bytes | undefined {
    return this.get(key);
  }

  entries(range: Range): Iterable<Entry> {
    const { keyFrom = 0 } = range;
    return this.#gather(range).map((key) => ({ key: key.slice(keyFrom), value: this.#values.get(key)! }));
  }

  keys(range: Range): Iterable<Bytes> {
    const { keyFrom = 0 } = range;
    return keyFrom === 0 ? this.#gather(range) : this.#gather(range).map((key) => key.slice(keyFrom));
  }

  list(range: Range, bytesMax: number): Entry[] {
    return upToBytes(this.entries(range), range, bytesMax);
  }

  listNumbered(range: Range): NumberedEntry[] {
    return this.#gather(range).map((key) => ({
      key: readU48(key, key.length - 6),
      value: this.#values.get(key)!,
    }));
  }

  #gather({ start, end, reverse = false, offset = 0, limit = Infinity }: Range): Bytes[] {
    const found: Bytes[] = [];
    let skip = offset;
    if (limit <= 0) return found;
    for (const key of reverse ? this.#backward(start, end) : this.#forward(start, end)) {
      if (skip-- > 0) continue;
      found.push(key);
      if (found.length >= limit) break;
    }
    return found;
  }

  count({ start, end }: { start: Bytes; end: Bytes }): number {
    if (start >= end) return 0;
    const first = this.#chunkOf(start);
    const last = this.#chunkOf(end);
    const from = lowerBound(this.#chunks[first]!, start);
    const to = lowerBound(this.#chunks[last]!, end);
    if (first === last) return to - from;
    let count = this.#chunks[first]!.length - from + to;
    for (let at = first + 1; at < last; at++) count += this.#chunks[at]!.length;
    return count;
  }

  write(batch: readonly Write[]): Commit {
    for (const { key, value } of batch) {
      if (value === undefined) this.#remove(key);
      else this.#put(key, value);
    }
    const done = Promise.resolve();
    return { committed: done, flushed: done };
  }

  refresh(): void {}

  size(): StoreSize {
    return { file_bytes: this.#bytes, used_bytes: this.#bytes };
  }

  keyCount(): number {
    return this.#values.size;
  }

  copyTo(): Promise<void> {
    return Promise.reject(new Error('an in-memory store has no folder to copy to'));
  }

  close(): Promise<void> {
    this.#values.clear();
    this.#chunks = [[]];
    this.#bytes = 0;
    return Promise.resolve();
  }

  *#forward(start: Bytes, end: Bytes): Iterable<Bytes> {
    for (let at = this.#chunkOf(start); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!;
      const from = chunk[0] !== undefined && chunk[0] >= start ? 0 : lowerBound(chunk, start);
      for (const key of chunk.slice(from)) {
        if (key >= end) return;
        yield key;
      }
    }
  }

  *#backward(start: Bytes, end: Bytes): Iterable<Bytes> {
    for (let at = this.#chunkOf(end); at >= 0; at--) {
      const chunk = this.#chunks[at]!;
      for (const key of chunk.slice(0, lowerBound(chunk, end)).reverse()) {
        if (key < start) return;
        yield key;
      }
    }
  }

  #put(key: Bytes, value: Bytes): void {
    const old = this.#values.get(key);
    this.#values.set(key, value);
    if (old !== undefined) {
      this.#bytes += value.length - old.length;
      return;
    }
    this.#bytes += key.length + value.length;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > chunkKeysMax) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1));
  }

  #remove(key: Bytes): void {
    const old = this.#values.get(key);
    if (old === undefined) return;
    this.#values.delete(key);
    this.#bytes -= key.length + old.length;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** The chunk that holds `key`, or would. */
  #chunkOf(key: Bytes): number {
    let low = 0;
    let high = this.#chunks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#chunks[middle]![0]! <= key) low = middle;
      else high = middle;
    }
    return low;
  }
}

const chunkKeysMax = 512;

/** The position of the first key that is not below `key`. */
function lowerBound(keys: readonly Bytes[], key: Bytes): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
