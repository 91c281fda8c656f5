/** Slots for each word at least, so that few words meet in one. */
const slotsPerWord = 2;
/** Small: each of thousands of fields has a table of its own. */
const slotsAtFirst = 1 << 5;
const charactersAtFirst = 1 << 7;
/** What a slot has: the hash of a word, where its characters begin, one more than their number or 0 in a free slot, its number. */
const slotMembers = 4;
/** What a word takes in memory beside its characters, roughly. */
export const wordOverheadBytes = 48;
const startMember = 1;
const lengthMember = 2;
const numberMember = 3;

/** FNV-1a, on characters. */
const hashFactor = 0x01000193;

/**
 * Numbers by words, found as they stand in a list of characters: no string is made of a word that is known. Words have no
 * characters beyond the first plane.
 */
export class WordTable {
  /** All that is known of a word stands side by side, as it is read together. */
  #slots = new Int32Array(slotsAtFirst * slotMembers);
  #mask = slotsAtFirst - 1;
  #count = 0;
  #characters = new Uint16Array(charactersAtFirst);
  #charactersEnd = 0;

  /** The seed is where hashes begin, so that it can't be known which words meet. */
  constructor(private readonly seed: number) {}

  /** The number of the word between two places; undefined where it is not known. */
  find(text: Uint16Array, start: number, end: number): number | undefined {
    const slots = this.#slots;
    const known = this.#characters;
    const hash = hashOf(this.seed, text, start, end);
    const length = end - start;
    next: for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const slot = place * slotMembers;
      const found = slots[slot + lengthMember]!;
      if (found === 0) return undefined;
      if (slots[slot] !== hash || found !== length + 1) continue;
      const from = slots[slot + startMember]!;
      for (let i = 0; i < length; i++) if (known[from + i] !== text[start + i]) continue next;
      return slots[slot + numberMember];
    }
  }

  /** Adds a word that is not known. */
  add(text: Uint16Array, start: number, end: number, value: number): void {
    const from = this.#charactersEnd;
    this.#charactersEnd += end - start;
    while (this.#charactersEnd > this.#characters.length) this.#growCharacters();
    for (let i = start; i < end; i++) this.#characters[from + i - start] = text[i]!;
    if (++this.#count * slotsPerWord > this.#mask) this.#growSlots();
    this.#put(hashOf(this.seed, text, start, end), from, end - start + 1, value);
  }

  /** Gives words other numbers, listed by those before; forgets those that have none. Gives about what is kept takes in memory. */
  renumber(numbers: Int32Array): number {
    const before = this.#slots;
    const known = this.#characters;
    const numberIn = (slot: number): number | undefined => {
      const number = before[slot + lengthMember] === 0 ? undefined : numbers[before[slot + numberMember]!];
      return number === undefined || number < 0 ? undefined : number;
    };
    this.#makeRoom(before, numberIn);
    for (let slot = 0; slot < before.length; slot += slotMembers) {
      const length = before[slot + lengthMember]!;
      const number = numberIn(slot);
      if (number === undefined) continue;
      const start = before[slot + startMember]!;
      const from = this.#charactersEnd;
      this.#charactersEnd += length - 1;
      for (let i = 0; i < length - 1; i++) this.#characters[from + i] = known[start + i]!;
      this.#count++;
      this.#put(before[slot]!, from, length, number);
    }
    return this.#count * wordOverheadBytes + this.#charactersEnd * Uint16Array.BYTES_PER_ELEMENT;
  }

  /** Empties the table, with no more room than for words that are kept of those before. */
  #makeRoom(before: Int32Array, numberIn: (slot: number) => number | undefined): void {
    let words = 0;
    let characters = 0;
    for (let slot = 0; slot < before.length; slot += slotMembers) {
      if (numberIn(slot) === undefined) continue;
      words++;
      characters += before[slot + lengthMember]! - 1;
    }
    let slots = slotsAtFirst;
    while (words * slotsPerWord > slots - 1) slots *= 2;
    let room = charactersAtFirst;
    while (characters > room) room *= 2;
    this.#slots = new Int32Array(slots * slotMembers);
    this.#mask = slots - 1;
    this.#characters = new Uint16Array(room);
    this.#charactersEnd = this.#count = 0;
  }

  #put(hash: number, start: number, length: number, number: number): void {
    let place = hash & this.#mask;
    while (this.#slots[place * slotMembers + lengthMember] !== 0) place = (place + 1) & this.#mask;
    const slot = place * slotMembers;
    this.#slots[slot] = hash;
    this.#slots[slot + startMember] = start;
    this.#slots[slot + lengthMember] = length;
    this.#slots[slot + numberMember] = number;
  }

  #growSlots(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let slot = 0; slot < before.length; slot += slotMembers) {
      const length = before[slot + lengthMember]!;
      if (length === 0) continue;
      this.#put(before[slot]!, before[slot + startMember]!, length, before[slot + numberMember]!);
    }
  }

  #growCharacters(): void {
    const larger = new Uint16Array(this.#characters.length * 2);
    larger.set(this.#characters);
    this.#characters = larger;
  }
}

function hashOf(seed: number, text: Uint16Array, start: number, end: number): number {
  let hash = seed | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text[i]!, hashFactor);
  // The low bits choose the slot.
  return (hash ^ (hash >>> 15)) >>> 1;
}
