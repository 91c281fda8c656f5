import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { decoding } from '../indexes/index-damage.js';
import { decodeTotals, rowTotals, type BlockTotals } from '../indexes/search-blocks.js';
import type { Row } from '../indexes/tree/row.js';
import type { ViewRange, ViewReader } from '../indexes/view-reader.js';
import { bytesMax, Postings, type PostingPlace } from '../search/posting-block.js';
import { vectorBytes } from '../search/vectors.js';
import { prefixEnd } from '../storage/store.js';
import type { BlockCursor, BlockCursors } from './block-cursors.js';
import type { Work } from './work.js';
import {
  counterKey,
  docKey,
  docNumber,
  lengthKey,
  partitionPrefix,
  readDoc,
  readDocNumber,
  vectorKey,
  vectorsKey,
  type IndexedDoc,
} from '../search/postings.js';

const all = { descending: false, skip: 0, limit: Infinity };
/** Where most values are not looked at, or none. */
const withoutValues = { ...all, defersValues: true };
const last = { descending: true, skip: 0, limit: 1 };

/** Numbers of documents, from the first to before the last. */
export interface DocRange {
  from: number;
  to: number;
}

/** A search index as it is at one moment. */
export class SearchReader {
  readonly #prefix: Bytes;

  constructor(
    private readonly reader: ViewReader,
    partition: Bytes | undefined,
    /** For a search that asks for ranges in their order. */
    private readonly cursors?: BlockCursors,
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
    const key = asBytes(this.#prefix + docKey);
    return this.reader.place({ low: { key, after: false }, high: { key, after: true } }, false).within;
  }

  /** Documents that are listed under a key. */
  count(key: Bytes): number {
    return this.#totals(key).docs;
  }

  /** Documents with a field, and the terms that all of them have in it. */
  field(name: string): BlockTotals {
    return this.#totals(lengthKey(name));
  }

  /** Postings from one key to before another: no fewer than the documents that have one. */
  countBetween(start: Bytes, end: Bytes): number {
    return this.#sum({
      low: { key: asBytes(this.#prefix + start), after: false },
      high: { key: asBytes(this.#prefix + end), after: false },
    }).docs;
  }

  #totals(key: Bytes): BlockTotals {
    const whole = asBytes(this.#prefix + key);
    return this.#sum({ low: { key: whole, after: false }, high: { key: whole, after: true } });
  }

  #sum(range: ViewRange): BlockTotals {
    const totals = { docs: 0, length: 0 };
    const add = ({ docs, length }: BlockTotals): void => {
      totals.docs += docs;
      totals.length += length;
    };
    for (const piece of this.reader.pieces(range)) {
      const { rows } = piece;
      if (rows !== undefined) add(decoding(() => rowTotals(rows)));
      else for (const each of piece.decoded(decodeTotals)) add(each as BlockTotals);
    }
    return totals;
  }

  /** The documents of a range that are listed under a key. */
  postings(
    key: Bytes,
    { from, to }: DocRange,
    { hasPositions = false, work }: { hasPositions?: boolean; work?: Work } = {},
  ): Postings {
    const cursors = this.cursors?.of(this.reader);
    const cursor = cursors?.get(key);
    const postings = new Postings(hasPositions);
    if (cursor !== undefined && from >= cursor.from && to <= cursor.end) {
      const { block, place } = cursor;
      const start = place !== undefined && from >= place.from ? place.posting : undefined;
      if (block !== undefined)
        cursor.place = { from, posting: decoding(() => postings.add(block, from, to, start)) };
      return postings;
    }
    const whole = asBytes(this.#prefix + key);
    const start = from === 0 ? undefined : this.#blockBefore(whole, from);
    const bounds = { low: { key: whole, id: start, after: false }, high: { key: whole, after: true } };
    const next: BlockCursor = { from, end: Infinity, block: undefined };
    for (const { id, value } of this.reader.rows(bounds, all)) {
      const block = { first: readDocNumber(id), value };
      if (block.first >= to) {
        next.end = block.first;
        break;
      }
      if (value.length > bytesMax) work?.read(Math.max(from, block.first), value.length);
      if (next.block !== undefined) next.from = to;
      next.block = block;
      decoding(() => postings.add(block, from, to));
    }
    cursors?.set(key, next);
    return postings;
  }

  /** Those of a list of documents, in their order, that are listed under a key: only blocks that may have one are read. */
  postingsOf(key: Bytes, docs: readonly number[], work?: Work): Postings {
    const whole = asBytes(this.#prefix + key);
    const postings = new Postings();
    let block: { first: number; value: Bytes } | undefined;
    /** Where the document before was looked for: this one comes behind it. */
    let place: PostingPlace | undefined;
    let next = -1;
    for (const doc of docs) {
      if (doc >= next) {
        place = undefined;
        const [row, behind] = this.#blocksFrom(whole, doc);
        block = row && { first: readDocNumber(row.id), value: row.value };
        if (block !== undefined && block.value.length > bytesMax) work?.read(doc, block.value.length);
        next = behind === undefined ? Infinity : readDocNumber(behind.id);
      }
      if (block !== undefined) place = decoding(() => postings.add(block!, doc, doc + 1, place));
    }
    return postings;
  }

  /** The block that may have a document, and the one behind it. */
  #blocksFrom(key: Bytes, doc: number): Row[] {
    const start = this.#blockBefore(key, doc);
    const range = { low: { key, id: start, after: false }, high: { key, after: true } };
    return [...this.reader.rows(range, { ...all, limit: 2 })];
  }

  /** The number of the block that may have a document; undefined where it would be in the first. */
  #blockBefore(key: Bytes, doc: number): Bytes | undefined {
    const range = { low: { key, after: false }, high: { key, id: docNumber(doc), after: true } };
    const [row] = this.reader.rows(range, last);
    return row?.id;
  }

  /** The documents of a range. The values of their rows are read when they are asked for. */
  *allDocs({ from, to }: DocRange): Generator<{ doc: number; row: Row }> {
    const key = asBytes(this.#prefix + docKey);
    const low = { key, id: docNumber(from), after: false };
    const high = { key, id: docNumber(to), after: false };
    for (const row of this.reader.rows({ low, high }, withoutValues))
      yield { doc: readDocNumber(row.id), row };
  }

  doc(number: number): IndexedDoc | undefined {
    const [found] = this.allDocs({ from: number, to: number + 1 });
    return found && readDoc(found.row.value);
  }

  /** The vectors of a field that have so many dimensions, from the one of a document on. */
  *vectors(field: string, dimensions: number, from: number): Generator<{ doc: number; value: Bytes }> {
    const key = asBytes(this.#prefix + vectorKey(field, dimensions));
    const range = { low: { key, id: docNumber(from), after: false }, high: { key, after: true } };
    for (const { id, value } of this.reader.rows(range, all)) {
      if (value.length !== vectorBytes(dimensions)) throw new CorruptRecord('a vector has the wrong length');
      yield { doc: readDocNumber(id), value };
    }
  }

  /** The dimensions of some vector of a field; undefined where it has none. */
  vectorDimensions(field: string): number | undefined {
    const start = asBytes(this.#prefix + vectorsKey(field));
    const range = { low: { key: start, after: false }, high: { key: prefixEnd(start), after: false } };
    const [row] = this.reader.rows(range, { ...all, limit: 1 });
    return row && readDocNumber(row.key.slice(start.length));
  }

  /** Blocks from one place up to before a key. `place` is a key, or a block that comes after. */
  *blocks(place: Place, end: Bytes): Generator<{ key: Bytes; row: Row; place: Place }> {
    const from = asBytes(this.#prefix + place.key);
    const low =
      place.id === undefined ? { key: from, after: place.isAfter } : { key: from, id: place.id, after: true };
    for (const row of this.reader.rows(
      { low, high: { key: asBytes(this.#prefix + end), after: false } },
      withoutValues,
    )) {
      const key = row.key.slice(this.#prefix.length);
      yield { key, row, place: { key, id: row.id, isAfter: true } };
    }
  }
}

/** The documents of a block. */
export function docsOf({ id, value }: Row): readonly number[] {
  const postings = new Postings();
  decoding(() => postings.add({ first: readDocNumber(id), value }, 0, Infinity));
  return postings.docs;
}

/** Where a walk over rows goes on: at a key, behind it, or behind one of its blocks. */
export interface Place {
  key: Bytes;
  id?: Bytes;
  isAfter: boolean;
}

/** The term of a key that begins with those of its field. */
export const termOf = (key: Bytes, fieldKey: Bytes): string => fromBytes(key.slice(fieldKey.length));
