import { toBytes, type Bytes } from '../base/bytes.js';
import type { Collection } from '../shard/collection.js';
import { idKey } from '../shard/keys.js';
import { decodeWinner, hasLongId } from '../shard/doc-record.js';
import { prefixEnd, type Store } from '../storage/store.js';
import type { IndexReader, IndexRow, Place } from './index-reader.js';
import type { KeyBound, KeyRange } from './key-ranges.js';

/** A store may gather all that is asked for before it gives the first; most queries end after a few. */
const rowsAtOnce = 200;

/** The documents themselves, in the order of their ids: the index that every database has. */
export class PrimaryReader implements IndexReader {
  readonly #store: Store;
  readonly #prefix: Bytes;
  readonly #space: { start: Bytes; end: Bytes };

  constructor(collection: Collection, partition: { start: Bytes; end: Bytes } | undefined) {
    const { livePrefix } = collection.keys;
    this.#store = collection.store;
    this.#prefix = livePrefix;
    this.#space =
      partition === undefined
        ? { start: livePrefix, end: prefixEnd(livePrefix) }
        : { start: livePrefix + partition.start, end: livePrefix + partition.end };
  }

  *rows({ low, high }: KeyRange, descending: boolean, behind: Place | undefined): Generator<IndexRow> {
    let start = low === undefined ? this.#space.start : this.#key(low);
    let end = high === undefined ? this.#space.end : this.#key(high);
    if (behind !== undefined) {
      const key = this.#prefix + idKey(behind.id);
      if (descending && key < end) end = key;
      if (!descending && key >= start) start = `${key}\0`;
    }
    for (let rows = rowsAtOnce; rows === rowsAtOnce && start < end;) {
      let last = '';
      rows = 0;
      const range = { start, end, reverse: descending, limit: rowsAtOnce };
      for (const { key, value } of this.#store.entries(range)) {
        rows++;
        last = key;
        const id = hasLongId(value) ? decodeWinner(value).longId! : key.slice(this.#prefix.length);
        yield { id, keyText: '[]', record: value };
      }
      if (descending) end = last;
      else start = `${last}\0`;
    }
  }

  /** Ids are texts, and other values stand before them all. */
  #key({ values, after, beginning }: KeyBound): Bytes {
    const { start, end } = this.#space;
    const [value] = values;
    if (typeof value !== 'string') return start;
    const key =
      beginning === undefined
        ? this.#prefix + idKey(toBytes(value.toWellFormed())) + (after ? '\0' : '')
        : prefixEnd(this.#prefix + idKey(toBytes(beginning.toWellFormed())));
    return key < start ? start : key > end ? end : key;
  }
}
