/** A map of limited size: the entry that was stored or read longest ago is removed first. */
export class BoundedMap<Key, Value> {
  /** The least recently used first. */
  readonly #entries = new Map<Key, Value>();
  /** The key that was used last, which is at the end already. */
  #latest: Key | undefined;

  constructor(private readonly sizeMax: number | (() => number)) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#latest) return value;
    this.#moveToEnd(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.#moveToEnd(key, value);
    const { sizeMax } = this;
    const most = typeof sizeMax === 'number' ? sizeMax : sizeMax();
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= most) return;
      this.#entries.delete(oldest);
    }
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  #moveToEnd(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#latest = key;
  }
}
