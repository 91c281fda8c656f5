import type { Bytes } from '../base/bytes.js';

const bytesAtFirst = 1 << 14;
const keysAtFirst = 1 << 10;
/** What a key takes in memory beside its bytes, roughly. */
const keyOverheadBytes = 200;

/** The keys of a batch's terms, numbered in the order in which they come: as strings, and as bytes one behind the other. */
export class TermKeys {
  strings: Bytes[] = [];
  /** So many, from the first one on, are in the order of their bytes. */
  inOrder = 0;
  readonly #numbers = new Map<Bytes, number>();
  #bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  /** Where each key ends in the bytes, behind a 0 for the first to begin at. */
  #ends = new Uint32Array(keysAtFirst);

  get count(): number {
    return this.strings.length;
  }

  /** About what they take in memory. */
  get size_bytes(): number {
    return this.#ends[this.count]! + this.count * keyOverheadBytes;
  }

  /** The bytes of the keys with numbers up to now: those of one end where those of the next begin. */
  get bytes(): { all: Uint8Array; ends: Uint32Array } {
    return { all: this.#bytes, ends: this.#ends };
  }

  known(key: Bytes): number | undefined {
    return this.#numbers.get(key);
  }

  /** The number of a key, which is new or known. */
  number(key: Bytes): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const start = this.#ends[this.count]!;
    const end = start + key.length;
    if (end > this.#bytes.length) this.#growBytes(end);
    if (this.count + 2 > this.#ends.length) this.#growEnds();
    this.#bytes.latin1Write(key, start);
    // A string of its own: joined ones are slower to read, and may keep the whole text that a part of them comes from.
    const flat = this.#bytes.latin1Slice(start, end);
    const number = this.strings.push(flat) - 1;
    this.#ends[number + 1] = end;
    this.#numbers.set(flat, number);
    return number;
  }

  /** Forgets all but some, which are given in the order of their bytes and numbered anew. Gives their numbers by the old ones, -1 for others. */
  keep(kept: Uint32Array): Int32Array {
    const renumbered = new Int32Array(this.count).fill(-1);
    for (let number = 0; number < kept.length; number++) renumbered[kept[number]!] = number;
    const strings = Array.from(kept, (number) => this.strings[number]!);
    for (const [before, key] of this.strings.entries())
      if (renumbered[before] === -1) this.#numbers.delete(key);
    for (let number = 0; number < strings.length; number++) this.#numbers.set(strings[number]!, number);
    this.strings = strings;
    this.inOrder = strings.length;
    let end = 0;
    for (let number = 0; number < strings.length; number++) {
      end += this.#bytes.latin1Write(strings[number]!, end);
      this.#ends[number + 1] = end;
    }
    return renumbered;
  }

  #growBytes(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, least));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }

  #growEnds(): void {
    const larger = new Uint32Array(this.#ends.length * 2);
    larger.set(this.#ends);
    this.#ends = larger;
  }
}
