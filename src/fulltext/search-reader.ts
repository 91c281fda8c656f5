import { fromBytes, type Bytes } from '../base/bytes.js';
import type { Row } from '../indexes/tree/row.js';
import { lengthOf } from '../indexes/search-numbers.js';
import type { ViewReader } from '../indexes/view-reader.js';
import {
  counterKey,
  docKey,
  docNumber,
  lengthKey,
  partitionPrefix,
  readDoc,
  readDocNumber,
  type IndexedDoc,
} from '../search/postings.js';

const all = { descending: false, skip: 0, limit: Infinity };

/** Numbers of documents, from the first to before the last. */
export interface DocRange {
  from: number;
  to: number;
}

/** The documents of a term in the order of their numbers, with what is known of it there. */
export interface Postings {
  docs: number[];
  values: Bytes[];
}

/** A search index as it is at one moment. */
export class SearchReader {
  readonly #prefix: Bytes;

  constructor(
    private readonly reader: ViewReader,
    partition: Bytes | undefined,
  ) {
    this.#prefix = partitionPrefix(partition);
  }

  /** All numbers of documents are below this one. */
  get end(): number {
    const at = { key: counterKey, after: false };
    const [counter] = this.reader.rows({ low: at, high: { ...at, after: true } }, all);
    return counter === undefined ? 1 : Number(counter.value);
  }

  get docs(): number {
    return this.count(docKey);
  }

  /** Documents that have a row under this key. */
  count(key: Bytes): number {
    const low = this.#prefix + key;
    const range = { low: { key: low, after: false }, high: { key: low, after: true } };
    return this.reader.place(range, false).within;
  }

  /** Documents with a field, and the terms that it has on average. */
  field(name: string): { docs: number; averageLength: number } {
    const key = this.#prefix + lengthKey(name);
    const range = { low: { key, after: false }, high: { key, after: true } };
    const docs = this.reader.place(range, false).within;
    let total = 0;
    for (const piece of this.reader.pieces(range)) {
      for (const row of piece.rows ?? []) total += lengthOf(row);
      for (const sum of piece.reductions ?? []) total += Number(sum);
    }
    return { docs, averageLength: docs === 0 ? 0 : total / docs };
  }

  postings(key: Bytes, range: DocRange): Postings {
    const docs: number[] = [];
    const values: Bytes[] = [];
    for (const row of this.#rowsOf(key, range)) {
      docs.push(readDocNumber(row.id));
      values.push(row.value);
    }
    return { docs, values };
  }

  /** What stands under a key for one document. */
  posting(key: Bytes, doc: number): Bytes | undefined {
    const [row] = this.#rowsOf(key, { from: doc, to: doc + 1 });
    return row?.value;
  }

  /** The documents of a range. */
  *allDocs(range: DocRange): Generator<{ doc: number; value: Bytes }> {
    for (const row of this.#rowsOf(docKey, range)) yield { doc: readDocNumber(row.id), value: row.value };
  }

  doc(number: number): IndexedDoc | undefined {
    const value = this.posting(docKey, number);
    return value === undefined ? undefined : readDoc(value);
  }

  #rowsOf(key: Bytes, { from, to }: DocRange): Iterable<Row> {
    const whole = this.#prefix + key;
    return this.reader.rows(
      {
        low: { key: whole, id: docNumber(from), after: false },
        high: { key: whole, id: docNumber(to), after: false },
      },
      all,
    );
  }

  /** Rows from one place up to before a key. `place` is a key, or a row that comes after. */
  *rows(place: Place, end: Bytes): Generator<{ key: Bytes; doc: number; place: Place }> {
    const low =
      place.id === undefined
        ? { key: this.#prefix + place.key, after: place.isAfter }
        : { key: this.#prefix + place.key, id: place.id, after: true };
    for (const row of this.reader.rows({ low, high: { key: this.#prefix + end, after: false } }, all)) {
      const key = row.key.slice(this.#prefix.length);
      yield { key, doc: readDocNumber(row.id), place: { key, id: row.id, isAfter: true } };
    }
  }
}

/** Where a walk over rows goes on: at a key, behind it, or behind one of its documents. */
export interface Place {
  key: Bytes;
  id?: Bytes;
  isAfter: boolean;
}

/** The term of a key that begins with those of its field. */
export const termOf = (key: Bytes, fieldKey: Bytes): string => fromBytes(key.slice(fieldKey.length));
