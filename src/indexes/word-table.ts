/** Slots for each word at least, so that few words meet in one. */
const slotsPerWord = 2;
/** Small: each of thousands of fields has a table of its own. */
const slotsAtFirst = 1 << 5;
const charactersAtFirst = 1 << 7;
const wordsAtFirst = 1 << 4;
const wordMembers = 4;

/** FNV-1a, on characters. */
const hashFactor = 0x01000193;

/**
 * Numbers by words, found as they stand in a text: no string is made of a word that is known. Words have no characters
 * beyond the first plane.
 */
export class WordTable {
  /** The place of a word in the lists, and one more; 0 where a slot is free. */
  #slots = new Uint32Array(slotsAtFirst);
  #characters = new Uint16Array(charactersAtFirst);
  #charactersEnd = 0;
  /** For each word its hash, where its characters begin and end, and its number: side by side, as they are read together. */
  #words = new Int32Array(wordsAtFirst * wordMembers);
  #count = 0;

  /** The seed is where hashes begin, so that it can't be known which words meet. */
  constructor(private readonly seed: number) {}

  /** The number of the word between two places of a text; undefined where it is not known. */
  find(text: string, start: number, end: number): number | undefined {
    const hash = hashOf(this.seed, text, start, end);
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]!;
      if (entry === 0) return undefined;
      const word = (entry - 1) * wordMembers;
      if (this.#words[word] === hash && this.#equals(word, text, start, end)) return this.#words[word + 3];
    }
  }

  #equals(word: number, text: string, start: number, end: number): boolean {
    const from = this.#words[word + 1]!;
    const length = end - start;
    if (this.#words[word + 2]! - from !== length) return false;
    for (let i = 0; i < length; i++)
      if (this.#characters[from + i] !== text.charCodeAt(start + i)) return false;
    return true;
  }

  /** Adds a word that is not known. */
  add(text: string, start: number, end: number, value: number): void {
    const hash = hashOf(this.seed, text, start, end);
    const from = this.#charactersEnd;
    this.#charactersEnd += end - start;
    while (this.#charactersEnd > this.#characters.length) this.#growCharacters();
    for (let i = start; i < end; i++) this.#characters[from + i - start] = text.charCodeAt(i);
    const word = this.#count++;
    if (this.#count * wordMembers > this.#words.length) this.#growWords();
    this.#words.set([hash, from, this.#charactersEnd, value], word * wordMembers);
    if (this.#count * slotsPerWord > this.#slots.length) this.#growSlots();
    else this.#put(word);
  }

  #put(word: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#words[word * wordMembers]! & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = word + 1;
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let word = 0; word < this.#count; word++) this.#put(word);
  }

  #growWords(): void {
    const larger = new Int32Array(this.#words.length * 2);
    larger.set(this.#words);
    this.#words = larger;
  }

  #growCharacters(): void {
    const larger = new Uint16Array(this.#characters.length * 2);
    larger.set(this.#characters);
    this.#characters = larger;
  }
}

function hashOf(seed: number, text: string, start: number, end: number): number {
  let hash = seed | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), hashFactor);
  // The low bits choose the slot.
  return (hash ^ (hash >>> 15)) >>> 1;
}
