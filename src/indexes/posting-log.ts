import type { Bytes } from '../base/bytes.js';
import { boostUnit, type Block, type BlockWriter } from '../search/posting-block.js';

/** Bytes that the log has at first. */
const firstBytes = 1 << 16;
/** Tokens of a document that there is room for at first. */
const tokensAtFirst = 1_024;
const termsAtFirst = 1_024;
/** What is kept of a term, the number of its documents first. */
const termMembers = 4;
const frequencyMember = 1;
const firstMember = 2;
const lastMember = 3;
/** What a term takes in memory beside its key, roughly. */
const termOverheadBytes = 200;
/** What a posting takes beside its bytes when the log is put in order. */
const postingOverheadBytes = 8;

/** What a term of the document under way has in common with others of its field. */
export interface TermField {
  length: number;
  boost: number;
}

/**
 * The postings of documents in the order in which they come, gathered without an object for each: of every document a run of
 * `term frequency length boost position…`, all varints. Terms have numbers here. `sorted` gives them term by term.
 */
export class PostingLog {
  readonly keys: Bytes[] = [];
  readonly #terms = new Map<Bytes, number>();
  /**
   * Of each term the number of its documents, and in the document under way how often it stands there and its first and last
   * token. They stand side by side: with a number of lists, every token would wait for as many places in memory.
   */
  #members = new Uint32Array(termsAtFirst * termMembers);
  /** Tokens of the document under way, those of a term linked in their order. */
  #positions = new Uint32Array(tokensAtFirst);
  #nextToken = new Uint32Array(tokensAtFirst);
  #tokens = 0;
  /** Its terms. */
  #docTerms = new Uint32Array(tokensAtFirst);
  #docTermCount = 0;
  /** The fields that they stand in. */
  #docFields: TermField[] = [];
  /** Those of them that it is listed under. */
  readonly #listed: number[] = [];
  #log = new Uint8Array(firstBytes);
  #end = 0;
  #total = 0;
  readonly #docEnds: number[] = [];
  #keyBytes = 0;

  /** About what it takes in memory. */
  get bytes(): number {
    const terms = this.#keyBytes + this.keys.length * termOverheadBytes;
    return this.#end + this.#total * postingOverheadBytes + terms;
  }

  /** Documents that were ended. */
  get docs(): number {
    return this.#docEnds.length;
  }

  /** The number of a term; undefined where there is none. */
  known(key: Bytes): number | undefined {
    return this.#terms.get(key);
  }

  /** The number of a term, which is new or known. */
  term(key: Bytes): number {
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    // A string of its own: joined ones are slower to read, and may keep the whole text that a part of them comes from.
    const flat = Buffer.from(key, 'latin1').toString('latin1');
    const term = this.keys.push(flat) - 1;
    this.#terms.set(flat, term);
    if (this.keys.length * termMembers > this.#members.length) this.#members = doubled(this.#members);
    this.#keyBytes += key.length;
    return term;
  }

  /** A term stands at a place of the document under way. */
  add(term: number, position: number, field: TermField): void {
    if (this.#tokens === this.#positions.length) this.#growTokens();
    const token = this.#tokens++;
    this.#positions[token] = position;
    const members = this.#members;
    const at = term * termMembers;
    if (members[at + frequencyMember]!++ === 0) {
      members[at + firstMember] = token;
      this.#docFields[this.#docTermCount] = field;
      this.#docTerms[this.#docTermCount++] = term;
    } else this.#nextToken[members[at + lastMember]!] = token;
    members[at + lastMember] = token;
  }

  /** The document under way is listed under a term, without a place. */
  list(term: number, length: number): void {
    this.#listed.push(term);
    this.#members[term * termMembers]!++;
    this.#numbers(term, 0, length, boostUnit);
  }

  /** Names a key among the terms of the document under way that has no postings. */
  mention(term: number): void {
    this.#listed.push(term);
  }

  /** Ends the document under way; gives its terms, and the number by which `sorted` names it. */
  endDoc(): { doc: number; terms: Uint32Array } {
    for (let i = 0; i < this.#docTermCount; i++) {
      const term = this.#docTerms[i]!;
      const at = term * termMembers;
      const frequency = this.#members[at + frequencyMember]!;
      const { length, boost } = this.#docFields[i]!;
      this.#members[at]!++;
      this.#numbers(term, frequency, length, Math.round(boost * boostUnit));
      let before = 0;
      for (let token = this.#members[at + firstMember]!, left = frequency; left > 0; left--) {
        const position = this.#positions[token]!;
        this.#number(position - before);
        before = position;
        token = this.#nextToken[token]!;
      }
      this.#members[at + frequencyMember] = 0;
    }
    const terms = new Uint32Array(this.#listed.length + this.#docTermCount);
    terms.set(this.#listed);
    terms.set(this.#docTerms.subarray(0, this.#docTermCount), this.#listed.length);
    this.#total += terms.length;
    this.#listed.length = this.#docTermCount = this.#tokens = 0;
    return { doc: this.#docEnds.push(this.#end) - 1, terms };
  }

  #growTokens(): void {
    this.#positions = doubled(this.#positions);
    this.#nextToken = doubled(this.#nextToken);
    this.#docTerms = doubled(this.#docTerms);
  }

  /** The postings term by term. `numberOf` gives the number of each document in the index, 0 for those that don't count. */
  sorted(numberOf: Uint32Array): SortedLog {
    const starts = new Uint32Array(this.keys.length + 1);
    for (let term = 0; term < this.keys.length; term++)
      starts[term + 1] = starts[term]! + this.#members[term * termMembers]!;
    const places = new Uint32Array(this.#total);
    const docs = new Uint32Array(this.#total);
    const next = starts.slice();
    const reader = new LogReader(this.#log);
    let isInOrder = true;
    let isWhole = true;
    let lastNumber = 0;
    for (const [doc, end] of this.#docEnds.entries()) {
      const number = numberOf[doc]!;
      if (number !== 0) {
        if (number < lastNumber) isInOrder = false;
        lastNumber = number;
      } else isWhole = false;
      while (reader.at < end) {
        const term = reader.number();
        const slot = next[term]!++;
        places[slot] = reader.at;
        docs[slot] = number;
        reader.skipPosting();
      }
    }
    return new SortedLog(this.#log, starts, places, docs, isInOrder, isWhole);
  }

  #numbers(term: number, frequency: number, length: number, boost: number): void {
    this.#number(term);
    this.#number(frequency);
    this.#number(length);
    this.#number(boost);
  }

  #number(value: number): void {
    if (this.#end + 8 > this.#log.length) {
      const larger = new Uint8Array(this.#log.length * 2);
      larger.set(this.#log);
      this.#log = larger;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#log[this.#end++] = (rest & 0x7f) | 0x80;
      rest = rest >>> 7;
    }
    this.#log[this.#end++] = rest;
  }
}

function doubled(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(list.length * 2);
  larger.set(list);
  return larger;
}

class LogReader {
  at = 0;

  constructor(private readonly log: Uint8Array) {}

  number(): number {
    let byte = this.log[this.at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = this.log[this.at++]!;
      value |= (byte & 0x7f) << shift;
    }
    return value;
  }

  /** All of a posting but its term. */
  skipPosting(): void {
    const frequency = this.number();
    for (let left = frequency + 2; left > 0; left--) while (this.log[this.at++]! >= 0x80);
  }
}

/** A log put in order. */
export class SortedLog {
  readonly #reader: LogReader;

  constructor(
    log: Uint8Array,
    private readonly starts: Uint32Array,
    private readonly places: Uint32Array,
    private readonly docs: Uint32Array,
    private readonly isInOrder: boolean,
    /** Whether all documents count. */
    private readonly isWhole: boolean,
  ) {
    this.#reader = new LogReader(log);
  }

  /** Where the postings of a term stand, in the order of their documents, without those that don't count. */
  slots(term: number): number[] {
    const slots: number[] = [];
    for (let slot = this.starts[term]!; slot < this.starts[term + 1]!; slot++)
      if (this.docs[slot] !== 0) slots.push(slot);
    return this.isInOrder ? slots : slots.sort((a, b) => this.docs[a]! - this.docs[b]!);
  }

  /** The same as the first slot and the one behind the last, where all documents count and are in order. */
  run(term: number): readonly [from: number, to: number] | undefined {
    return this.isInOrder && this.isWhole ? [this.starts[term]!, this.starts[term + 1]!] : undefined;
  }

  doc(slot: number): number {
    return this.docs[slot]!;
  }

  /** Writes a posting; gives the block before where it is full. */
  write(slot: number, writer: BlockWriter): Block | undefined {
    const reader = this.#reader;
    reader.at = this.places[slot]!;
    const frequency = reader.number();
    const full = writer.begin(this.docs[slot]!, frequency, reader.number(), reader.number());
    for (let left = frequency; left > 0; left--) writer.number(reader.number());
    return full;
  }
}
