/** A set of documents, one bit for each number: an eighth of a byte for each document of the index. */
export class DocBits {
  readonly #words: Uint32Array;

  constructor(readonly end: number) {
    this.#words = new Uint32Array((end >>> 5) + 1);
  }

  add(doc: number): void {
    if (doc < this.end) this.#words[doc >>> 5]! |= 1 << (doc & 31);
  }

  has(doc: number): boolean {
    return doc < this.end && (this.#words[doc >>> 5]! & (1 << (doc & 31))) !== 0;
  }

  get count(): number {
    let count = 0;
    for (const word of this.#words) if (word !== 0) count += bitsOf(word);
    return count;
  }

  /** Keeps those that the other has too. Both are of the same index. */
  intersect(other: DocBits): void {
    for (let i = 0; i < this.#words.length; i++) this.#words[i]! &= other.#words[i] ?? 0;
  }

  unite(other: DocBits): void {
    for (let i = 0; i < this.#words.length; i++) this.#words[i]! |= other.#words[i] ?? 0;
  }

  /** Those of a range, in order. */
  between(from: number, to: number): number[] {
    const docs: number[] = [];
    for (let word = from >>> 5; word <= to >>> 5 && word < this.#words.length; word++) {
      const bits = this.#words[word]!;
      if (bits === 0) continue;
      for (let bit = 0; bit < 32; bit++) {
        const doc = word * 32 + bit;
        if ((bits & (1 << bit)) !== 0 && doc >= from && doc < to) docs.push(doc);
      }
    }
    return docs;
  }
}

function bitsOf(word: number): number {
  let bits = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
