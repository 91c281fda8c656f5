import type { Bytes } from '../base/bytes.js';
import { boostBit, boostUnit, onceBit } from '../search/posting-block.js';
import { headShift, LogReader, SortedLog } from './sorted-log.js';
import { TermKeys } from './term-keys.js';

/** Bytes that the log has at first. */
const firstBytes = 1 << 16;
/** Tokens of a document that there is room for at first. */
const tokensAtFirst = 1_024;
const termsAtFirst = 1_024;
const docsAtFirst = 256;
/** What is kept of a term, the number of its documents first. */
const termMembers = 4;
const frequencyMember = 1;
const firstMember = 2;
const lastMember = 3;
/** What is kept of a document: where its postings and its terms end. */
const docMembers = 2;
/** What a posting takes beside its bytes: its term, and two numbers more when the log is put in order. */
const postingOverheadBytes = 12;
/** A number that is written takes no more than this. */
const varintMax = 5;
/** Bodies of fewer bytes than this have a head of one byte. */
const shortBody = 1 << 5;

/** What a term of the document under way has in common with others of its field. */
export interface TermField {
  length: number;
  boost: number;
}

/**
 * The postings of documents in the order in which they come, gathered without an object for each: of every document a run of
 * `term head body`. The body is what stands in a block (`posting-block.ts`), the head its length and its flags. Terms have
 * numbers here. `sorted` gives the postings term by term.
 */
export class PostingLog {
  readonly keys = new TermKeys();
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
  /** The terms of all documents; those of the document under way that it is listed under come first. */
  #terms = new Uint32Array(tokensAtFirst);
  #termsEnd = 0;
  #log = new Uint8Array(firstBytes);
  #end = 0;
  #ends = new Uint32Array(docsAtFirst * docMembers);
  #docs = 0;

  /** About what it takes in memory. */
  get bytes(): number {
    return this.#end + this.#termsEnd * postingOverheadBytes + this.keys.size_bytes;
  }

  /** Documents that were ended. */
  get docs(): number {
    return this.#docs;
  }

  /** Documents of a term. */
  docsOf(term: number): number {
    return this.#members[term * termMembers]!;
  }

  /** Forgets all but some terms, as `TermKeys.keep` does. */
  restart(kept: Uint32Array): Int32Array {
    this.#members.fill(0, 0, this.keys.count * termMembers);
    this.#end = this.#termsEnd = this.#docs = 0;
    return this.keys.keep(kept);
  }

  /** The number of a term, which is new or known. */
  term(key: Bytes): number {
    const term = this.keys.number(key);
    if (term * termMembers >= this.#members.length) this.#members = doubled(this.#members);
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
    this.mention(term);
    this.#members[term * termMembers]!++;
    this.#reserve(0);
    const headAt = putVarint(this.#log, this.#end, term);
    const end = putVarint(this.#log, putVarint(this.#log, headAt + 1, 0), length);
    this.#log[headAt] = (end - headAt - 1) << headShift;
    this.#end = end;
  }

  /** Names a key among the terms of the document under way that has no postings. */
  mention(term: number): void {
    if (this.#termsEnd === this.#terms.length) this.#terms = doubled(this.#terms);
    this.#terms[this.#termsEnd++] = term;
  }

  /** Ends the document under way; gives the number by which `sorted` and `terms` name it. */
  endDoc(): number {
    for (let i = 0; i < this.#docTermCount; i++) this.#posting(this.#docTerms[i]!, this.#docFields[i]!);
    while (this.#termsEnd + this.#docTermCount > this.#terms.length) this.#terms = doubled(this.#terms);
    this.#terms.set(this.#docTerms.subarray(0, this.#docTermCount), this.#termsEnd);
    this.#termsEnd += this.#docTermCount;
    this.#docTermCount = this.#tokens = 0;
    if ((this.#docs + 1) * docMembers > this.#ends.length) this.#ends = doubled(this.#ends);
    this.#ends[this.#docs * docMembers] = this.#end;
    this.#ends[this.#docs * docMembers + 1] = this.#termsEnd;
    return this.#docs++;
  }

  #posting(term: number, { length, boost }: TermField): void {
    const members = this.#members;
    const at = term * termMembers;
    const frequency = members[at + frequencyMember]!;
    members[at]!++;
    members[at + frequencyMember] = 0;
    this.#reserve(frequency);
    const log = this.#log;
    const headAt = putVarint(log, this.#end, term);
    let end = headAt + 1;
    const thousandths = Math.round(boost * boostUnit);
    if (frequency !== 1) end = putVarint(log, end, frequency);
    end = putVarint(log, end, length);
    if (thousandths !== boostUnit) end = putVarint(log, end, thousandths);
    let before = 0;
    for (let token = members[at + firstMember]!, left = frequency; left > 0; left--) {
      const position = this.#positions[token]!;
      end = putVarint(log, end, position - before);
      before = position;
      token = this.#nextToken[token]!;
    }
    const bytes = end - headAt - 1;
    const flags = (frequency === 1 ? onceBit : 0) | (thousandths === boostUnit ? 0 : boostBit);
    if (bytes < shortBody) log[headAt] = (bytes << headShift) | flags;
    else {
      const head = bytes * (1 << headShift) + flags;
      const bodyAt = headAt + varintMax;
      log.copyWithin(bodyAt, headAt + 1, end);
      const from = putVarint(log, headAt, head);
      log.copyWithin(from, bodyAt, bodyAt + bytes);
      end = from + bytes;
    }
    this.#end = end;
  }

  /** The terms of a document, in `list` between two places. */
  terms(doc: number): { list: Uint32Array; from: number; to: number } {
    const from = doc === 0 ? 0 : this.#ends[doc * docMembers - 1]!;
    return { list: this.#terms, from, to: this.#ends[doc * docMembers + 1]! };
  }

  #growTokens(): void {
    this.#positions = doubled(this.#positions);
    this.#nextToken = doubled(this.#nextToken);
    this.#docTerms = doubled(this.#docTerms);
  }

  /** Makes room for a posting with so many positions. */
  #reserve(positions: number): void {
    const least = this.#end + (positions + 2 * varintMax) * varintMax;
    if (least <= this.#log.length) return;
    const larger = new Uint8Array(Math.max(this.#log.length * 2, least));
    larger.set(this.#log);
    this.#log = larger;
  }

  /** The postings term by term. `numberOf` gives the number of each document in the index, 0 for those that don't count. */
  sorted(numberOf: Uint32Array): SortedLog {
    const terms = this.keys.count;
    const starts = new Uint32Array(terms + 1);
    for (let term = 0; term < terms; term++)
      starts[term + 1] = starts[term]! + this.#members[term * termMembers]!;
    const places = new Uint32Array(starts[terms]!);
    const docs = new Uint32Array(starts[terms]!);
    const next = starts.slice();
    const reader = new LogReader(this.#log);
    let isInOrder = true;
    let isWhole = true;
    let lastNumber = 0;
    for (let doc = 0; doc < this.#docs; doc++) {
      const end = this.#ends[doc * docMembers]!;
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
        reader.skip();
      }
    }
    return new SortedLog(this.#log, starts, places, docs, isInOrder, isWhole);
  }
}

function doubled(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(list.length * 2);
  larger.set(list);
  return larger;
}

/** Gives where the next byte goes. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest = rest >>> 7;
  }
  bytes[end++] = rest;
  return end;
}
