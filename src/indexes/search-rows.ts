import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { TimeSlice } from '../base/turns.js';
import type { Analyzer } from '../search/analysis/analyzer.js';
import {
  docKey,
  encodeDoc,
  encodePosting,
  lengthKey,
  numberKey,
  partitionPrefix,
  termKey,
  termsKey,
  type DocValues,
} from '../search/postings.js';
import type { Emitted } from './doc-rows.js';
import { compareBytes } from '../json/compare-keys.js';
import type { Row } from './tree/row.js';

/** Longer terms are not indexed. */
const termBytesMax = 4_096;
/** What is kept of a text to sort by. */
const sortCharactersMax = 128;
/** Texts of the same field stand this far apart, so that no phrase reaches from one into the next. */
const gap = 100;

interface Options {
  store?: unknown;
  index?: unknown;
  facet?: unknown;
  boost?: unknown;
}

/** The terms of one field of a document. */
interface FieldTerms {
  length: number;
  /** The next position. */
  next: number;
  boost: number;
  terms: Map<string, number[]>;
}

/** Gathers what an index function has said about one document, and makes rows of it. */
class DocFields {
  readonly #fields = new Map<string, FieldTerms>();
  readonly #numbers = new Map<string, Set<number>>();
  readonly #values: DocValues = {};
  #tokens = 0;

  constructor(private readonly analyzer: Analyzer) {}

  async add(name: string, value: unknown, options: Options, slice: TimeSlice): Promise<void> {
    const { store, index, facet, boost } = options;
    if (isOn(store, false)) this.#store(name, value as string | number | boolean);
    if (typeof value === 'number') this.#addNumber(name, value, isOn(index, true));
    else if (isOn(index, true))
      await this.#addText(
        name,
        String(value),
        factor(boost),
        typeof value === 'string' && !isExact(index),
        slice,
      );
    if (facet === true && typeof value === 'string' && value !== '')
      (own((this.#values.f ??= {}), name) ?? (this.#values.f[name] = [])).push(value);
  }

  #store(name: string, value: string | number | boolean): void {
    const stored = (this.#values.s ??= {});
    const before = own(stored, name);
    if (before === undefined) define(stored, name, value);
    else if (Array.isArray(before)) before.push(value);
    else stored[name] = [before, value];
  }

  #addNumber(name: string, value: number, isIndexed: boolean): void {
    const numbers = this.#numbers.get(name) ?? new Set();
    if (isIndexed) this.#numbers.set(name, numbers.add(value));
    const values = (this.#values.v ??= {});
    const before = own(values, name);
    if (Array.isArray(before)) before.push(value);
    else define(values, name, [value]);
  }

  async #addText(
    name: string,
    text: string,
    boost: number,
    isAnalyzed: boolean,
    slice: TimeSlice,
  ): Promise<void> {
    const values = (this.#values.v ??= {});
    if (own(values, name) === undefined) define(values, name, text.slice(0, sortCharactersMax));
    let field = this.#fields.get(name);
    if (field === undefined)
      this.#fields.set(name, (field = { length: 0, next: 0, boost: 1, terms: new Map() }));
    field.boost *= boost;
    const base = field.length === 0 ? 0 : field.next + gap;
    const tokens = isAnalyzed ? this.analyzer.tokens(name, text) : [{ term: text, position: 0 }];
    for (const { term, position } of tokens) {
      if ((++this.#tokens & 63) === 0 && slice.isOver) await slice.next();
      if (term === '') continue;
      field.length++;
      field.next = base + position + 1;
      const positions = field.terms.get(term);
      if (positions === undefined) field.terms.set(term, [base + position]);
      else positions.push(base + position);
    }
  }

  rows(): Emitted[] {
    const rows: Emitted[] = [{ key: docKey, value: toBytes(JSON.stringify(this.#values)) }];
    for (const [name, { length, boost, terms }] of this.#fields) {
      rows.push({ key: lengthKey(name), value: String(length) });
      const prefix = termsKey(name);
      for (const [term, positions] of terms) {
        const key = prefix + toBytes(term.toWellFormed());
        if (key.length < termBytesMax) rows.push({ key, value: encodePosting(positions, length, boost) });
      }
    }
    for (const [name, numbers] of this.#numbers) {
      if (!this.#fields.has(name)) rows.push({ key: lengthKey(name), value: '0' });
      for (const number of numbers) rows.push({ key: numberKey(name, number), value: '' });
    }
    return rows;
  }
}

const own = <T>(object: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Also for a name such as `__proto__`. */
function define<T>(object: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

function isOn(option: unknown, otherwise: boolean): boolean {
  if (typeof option === 'boolean') return option;
  if (typeof option !== 'string') return otherwise;
  return !['no', 'false'].includes(option.toLowerCase());
}

const isExact = (index: unknown): boolean =>
  typeof index === 'string' && index.toLowerCase().startsWith('not_analyzed');

const factor = (boost: unknown): number =>
  typeof boost === 'number' && boost >= 0 && boost <= 1_000_000 ? boost : 1;

/** The rows of what an index function has said about one document: calls as `[name,value]` and their options. */
export async function fieldRows(
  analyzer: Analyzer,
  calls: readonly Emitted[],
  slice: TimeSlice,
): Promise<readonly Emitted[]> {
  if (calls.length === 0) return calls;
  const fields = new DocFields(analyzer);
  for (const { key, value } of calls) {
    const [name, given] = JSON.parse(fromBytes(key)) as [string, unknown];
    // Numbers that JSON cannot write have become null.
    if (given === null) continue;
    await fields.add(name.toWellFormed(), given, (JSON.parse(fromBytes(value)) ?? {}) as Options, slice);
  }
  return fields.rows();
}

type NumberedRow = Row & { id: Bytes };

/** The same as rows of the tree, in their order; the document's number, which stands as their id, is not known yet. */
export function searchRows(
  id: Bytes,
  partition: Bytes | undefined,
  emitted: readonly Emitted[],
): NumberedRow[] {
  const prefix = partitionPrefix(partition);
  const rowOf = (key: Bytes, value: Bytes): NumberedRow => ({
    key: prefix + key,
    id: '',
    n: 0,
    keyText: '',
    value,
  });
  const rows = emitted.map(({ key, value }) => rowOf(key, key === docKey ? encodeDoc(id, value) : value));
  if (rows.length > 0) rows.push(rowOf(termKey('_id', fromBytes(id)), encodePosting([0], 1, 1)));
  return rows.sort((a, b) => compareBytes(a.key, b.key));
}
