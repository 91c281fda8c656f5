import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import { allIds, type DocEntry, type DocsQuery, type LocalReader } from '../shard/group-reader.js';
import { idKey } from '../shard/keys.js';
import { decodeWinner, hasLongId } from '../shard/doc-record.js';
import { prefixEnd } from '../storage/store.js';
import type { IndexReader, IndexRow, Place } from './index-reader.js';
import type { KeyBound, KeyRange } from './key-ranges.js';

/** Rows that are read at once, and held in memory. Most queries end after a few: the first reads are small. */
const rowsAtFirst = 16;
const rowsAtOnce = 256;
const bytesAtOnce = 1024 * 1024;

/** The documents themselves, in the order of their ids: the index that every database has. */
export class PrimaryReader implements IndexReader {
  readonly #space: { start: Bytes; end: Bytes };

  constructor(
    private readonly collection: LocalReader,
    partition: { start: Bytes; end: Bytes } | undefined,
  ) {
    this.#space = partition ?? allIds;
  }

  *rows({ low, high }: KeyRange, descending: boolean, behind: Place | undefined): Generator<IndexRow> {
    let start = low === undefined ? this.#space.start : this.#key(low);
    let end = high === undefined ? this.#space.end : this.#key(high);
    if (behind !== undefined) {
      const key = idKey(behind.id);
      if (descending && key < end) end = key;
      if (!descending && key >= start) start = asBytes(`${key}\0`);
    }
    for (let limit = rowsAtFirst; start < end; limit = Math.min(2 * limit, rowsAtOnce)) {
      const found = this.#read({ start, end, reverse: descending, limit });
      for (const { key, value } of found) {
        const id = hasLongId(value) ? decodeWinner(value).longId! : key;
        yield { id, keyText: asBytes('[]'), record: value };
      }
      const last = found.at(-1)?.key;
      if (last === undefined) return;
      if (descending) end = last;
      else start = asBytes(`${last}\0`);
    }
  }

  /** The first rows of a range. The caller may yield in between, and the store may be replaced meanwhile. */
  #read(query: DocsQuery): DocEntry[] {
    return this.collection.docs('live', { ...query, bytesMax: bytesAtOnce });
  }

  /** Ids are texts, and other values stand before them all. */
  #key({ values, after, beginning }: KeyBound): Bytes {
    const { start, end } = this.#space;
    const [value] = values;
    if (typeof value !== 'string') return start;
    const key =
      beginning === undefined
        ? asBytes(idKey(toBytes(value.toWellFormed())) + (after ? '\0' : ''))
        : prefixEnd(idKey(toBytes(beginning.toWellFormed())));
    return key < start ? start : key > end ? end : key;
  }
}
