import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { TimeSlice } from '../base/turns.js';
import type { Analyzer } from '../search/analysis/analyzer.js';
import { isWord, tokenLengthMax } from '../search/analysis/tokenizers.js';
import { readCharacters, wordEnd, wordStart } from '../search/analysis/word-scan.js';
import { lengthKey, numberKey, termKey, vectorKey, type DocValues } from '../search/postings.js';
import { encodeVector, isVector } from '../search/vectors.js';
import { BatchField } from './batch-field.js';
import type { Emitted } from './doc-rows.js';
import { factor, isExact, isOn, type IndexOptions } from './index-options.js';
import type { PostingLog } from './posting-log.js';
import { defaultFieldName } from './text-definition.js';
import { wordOverheadBytes } from './word-table.js';

/** Longer terms are not indexed. */
const termBytesMax = 4_096;
/** What is kept of a text to sort by. */
export const sortCharactersMax = 128;
/** Texts of the same field stand this far apart, so that no phrase reaches from one into the next. */
const gap = 100;
/** What a field takes in memory, with few words, roughly. */
const fieldOverheadBytes = 2_000;
/** Tokens after which the time is looked at. */
const tokensAtOnce = 64;
/** Room for the characters of a text; that for longer ones is not kept. */
const charactersAtFirst = 1 << 12;
const charactersKept = 1 << 16;

interface FieldName {
  prefix: Bytes;
  name: string;
}

/** In place of the number of a term: the word is left out, with or without its position. */
const leftOut = -1;
const noWord = -2;

/** Gathers what index functions say about documents. */
export class SearchFields {
  readonly #fields = new Map<Bytes, Map<string, BatchField>>();
  #ofDoc: BatchField[] = [];
  #values: DocValues = {};
  #vectors = new Map<Bytes, Bytes>();
  #doc = 0;
  #tokens = 0;
  #fieldBytes = 0;
  #wordBytes = 0;
  #characters = new Uint16Array(charactersAtFirst);

  constructor(
    private readonly log: PostingLog,
    private readonly analyzer: Analyzer,
    /** Of the tables of words. */
    private readonly seed: number,
  ) {}

  /** Reads calls as `[name,value]` and their options into the log. Gives what else is kept of the document, as JSON. */
  async add(prefix: Bytes, id: Bytes, calls: readonly Emitted[], slice: TimeSlice): Promise<Bytes> {
    this.#begin();
    for (const { key, value } of calls) {
      const [name, given, type] = JSON.parse(fromBytes(key)) as [string, unknown, string | undefined];
      // Numbers that JSON cannot write have become null.
      if (given === null) continue;
      const options = value === 'null' ? {} : ((JSON.parse(fromBytes(value)) ?? {}) as IndexOptions);
      const field = { prefix, name: name.toWellFormed() };
      if (Array.isArray(given)) this.#vector(field, given, options);
      else if (type !== undefined) await this.#typed(field, type, given as string | number, options, slice);
      else await this.#call(field, given as string | number | boolean, options, slice);
    }
    return this.#end(prefix, id);
  }

  /** The same for a text index of declarative queries: keys of values, and strings without a key. */
  async addValues(prefix: Bytes, id: Bytes, rows: readonly Emitted[], slice: TimeSlice): Promise<Bytes> {
    this.#begin();
    for (const { key, value } of rows) {
      if (key === '') await this.#text(this.#field(prefix, defaultFieldName), fromBytes(value), slice);
      else this.log.list(this.log.term(asBytes(prefix + key)), 0);
      if (this.#isTimeToLook() && slice.isOver) await slice.next();
    }
    return this.#end(prefix, id);
  }

  /** Goes on with other numbers of terms, which are listed by those before; words of terms that have none are forgotten. */
  restart(numbers: Int32Array): void {
    this.#wordBytes = 0;
    for (const ofPrefix of this.#fields.values())
      for (const { words } of ofPrefix.values()) this.#wordBytes += words.renumber(numbers);
  }

  /** About what the fields take in memory beside their words and terms. */
  get fieldBytes(): number {
    return this.#fieldBytes;
  }

  /** About what the words take in memory: many, of which some are kept, may be of one term. */
  get wordBytes(): number {
    return this.#wordBytes;
  }

  #begin(): void {
    this.#doc++;
    this.#ofDoc = [];
    this.#values = {};
    this.#vectors = new Map();
  }

  /** The vectors of the document that was added last, by their keys. */
  get vectors(): ReadonlyMap<Bytes, Bytes> {
    return this.#vectors;
  }

  #vector({ prefix, name }: FieldName, vector: readonly unknown[], { store }: IndexOptions): void {
    if (!isVector(vector)) return;
    if (isOn(store, false)) define((this.#values.s ??= {}), name, [...vector]);
    const key = asBytes(prefix + vectorKey(name, vector.length));
    if (!this.#vectors.has(key)) this.log.mention(this.log.term(key));
    this.#vectors.set(key, encodeVector(vector));
  }

  #end(prefix: Bytes, id: Bytes): Bytes {
    this.log.add(this.log.term(asBytes(prefix + termKey('_id', fromBytes(id)))), 0, { length: 1, boost: 1 });
    this.#list();
    return toBytes(JSON.stringify(this.#values));
  }

  async #call(
    { prefix, name }: FieldName,
    value: string | number | boolean,
    { store, index, facet, boost }: IndexOptions,
    slice: TimeSlice,
  ): Promise<void> {
    if (isOn(store, false)) this.#store(name, value);
    if (typeof value === 'number') {
      if (isOn(index, true)) this.#field(prefix, name).numbers.push(value);
      this.#keepNumber(name, value);
    } else if (isOn(index, true)) {
      const text = String(value);
      const values = (this.#values.v ??= {});
      if (own(values, name) === undefined) define(values, name, text.slice(0, sortCharactersMax));
      const field = this.#field(prefix, name);
      field.boost *= factor(boost);
      if (typeof value === 'string' && !isExact(index)) await this.#text(field, text, slice);
      else if (text !== '') this.#token(field, this.#termOf(field, text), this.#base(field));
    }
    if (facet === true && typeof value === 'string') this.#facet(name, value);
  }

  /** A call of Nouveau's `index`: strings are facets and terms, texts are words, numbers can be sorted by and counted. */
  async #typed(
    { prefix, name }: FieldName,
    type: string,
    value: string | number,
    { store }: IndexOptions,
    slice: TimeSlice,
  ): Promise<void> {
    if (type === 'stored' || store === true) this.#store(name, value);
    if (type === 'text') await this.#text(this.#field(prefix, name), String(value), slice);
    else if (type === 'string') {
      const field = this.#field(prefix, name);
      const text = String(value);
      if (text !== '') this.#token(field, this.#termOf(field, text), this.#base(field));
      this.#facet(name, text);
    } else if (type === 'double' && typeof value === 'number') {
      this.#field(prefix, name).numbers.push(value);
      this.#keepNumber(name, value);
    }
  }

  #facet(name: string, text: string): void {
    if (text === '') return;
    const facets = (this.#values.f ??= {});
    const before = own(facets, name);
    if (before === undefined) define(facets, name, [text]);
    else before.push(text);
  }

  #store(name: string, value: string | number | boolean): void {
    const stored = (this.#values.s ??= {});
    const before = own(stored, name);
    if (before === undefined) define(stored, name, value);
    else if (Array.isArray(before)) before.push(value);
    else stored[name] = [before, value];
  }

  #keepNumber(name: string, value: number): void {
    const values = (this.#values.v ??= {});
    const before = own(values, name);
    if (Array.isArray(before)) before.push(value);
    else define(values, name, [value]);
  }

  #field(prefix: Bytes, name: string): BatchField {
    let ofPrefix = this.#fields.get(prefix);
    if (ofPrefix === undefined) this.#fields.set(prefix, (ofPrefix = new Map()));
    let field = ofPrefix.get(name);
    if (field === undefined) {
      field = new BatchField(name, prefix, this.analyzer.ofWord(name), this.seed);
      ofPrefix.set(name, field);
      this.#fieldBytes += fieldOverheadBytes + 2 * name.length;
    }
    if (field.doc !== this.#doc) {
      Object.assign(field, { doc: this.#doc, length: 0, boost: 1, next: 0, numbers: [] });
      this.#ofDoc.push(field);
    }
    return field;
  }

  #base(field: BatchField): number {
    return field.length === 0 ? 0 : field.next + gap;
  }

  async #text(field: BatchField, text: string, slice: TimeSlice): Promise<void> {
    const base = this.#base(field);
    if (field.ofWord !== undefined) {
      const characters = this.#room(text.length);
      if (readCharacters(text, characters))
        return await this.#words(field, characters, text.length, base, slice);
    }
    for (const { term, position } of this.analyzer.tokens(field.name, text)) {
      if (this.#isTimeToLook() && slice.isOver) await slice.next();
      if (term !== '') this.#token(field, this.#termOf(field, term), base + position);
    }
  }

  #room(length: number): Uint16Array {
    if (length <= this.#characters.length) return this.#characters;
    const larger = new Uint16Array(Math.max(length, this.#characters.length * 2));
    if (length <= charactersKept) this.#characters = larger;
    return larger;
  }

  async #words(
    field: BatchField,
    characters: Uint16Array,
    length: number,
    base: number,
    slice: TimeSlice,
  ): Promise<void> {
    let position = base;
    let tooLongUntil = -1;
    for (let start = wordStart(characters, 0, length); start < length;) {
      const end = wordEnd(characters, start, length);
      if (start === tooLongUntil || end - start > tokenLengthMax) tooLongUntil = end;
      else {
        const term = field.words.find(characters, start, end) ?? this.#learn(field, characters, start, end);
        if (term !== noWord) {
          if (term !== leftOut) this.#token(field, term, position);
          position++;
        }
      }
      start = wordStart(characters, end, length);
      if (this.#isTimeToLook() && slice.isOver) await slice.next();
    }
  }

  #isTimeToLook(): boolean {
    return ++this.#tokens % tokensAtOnce === 0;
  }

  /** The term of a word that is met for the first time. */
  #learn(field: BatchField, characters: Uint16Array, start: number, end: number): number {
    const word = String.fromCharCode(...characters.subarray(start, end));
    const changed = field.ofWord!(word);
    const term = !isWord(word) ? noWord : changed === '' ? leftOut : this.#termOf(field, changed);
    field.words.add(characters, start, end, term);
    this.#wordBytes += wordOverheadBytes + (end - start) * Uint16Array.BYTES_PER_ELEMENT;
    return term;
  }

  #termOf(field: BatchField, term: string): number {
    const key = asBytes(field.key + toBytes(term.toWellFormed()));
    return key.length - field.prefix.length < termBytesMax ? this.log.term(key) : leftOut;
  }

  /** Terms that are too long to be indexed count for the length of the field all the same. */
  #token(field: BatchField, term: number, position: number): void {
    field.length++;
    field.next = position + 1;
    if (term !== leftOut) this.log.add(term, position, field);
  }

  /** Notes which fields and numbers the document has. */
  #list(): void {
    for (const { name, prefix, length, numbers } of this.#ofDoc) {
      this.log.list(this.log.term(asBytes(prefix + lengthKey(name))), length);
      for (const number of new Set(numbers))
        this.log.list(this.log.term(asBytes(prefix + numberKey(name, number))), 0);
    }
  }
}

const own = <T>(object: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Also for a name such as `__proto__`. */
function define<T>(object: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
