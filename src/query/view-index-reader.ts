import { asBytes, type Bytes } from '../base/bytes.js';
import { encodeKey } from '../json/order-key.js';
import type { Bound } from '../indexes/tree/row.js';
import type { ViewRange, ViewReader } from '../indexes/view-reader.js';
import type { IndexReader, IndexRow, Place, Seen } from './index-reader.js';
import { compareBounds, type KeyBound, type KeyRange } from './key-ranges.js';

/** The index of a view whose keys are the values of fields. */
export class ViewIndexReader implements IndexReader {
  constructor(
    private readonly reader: ViewReader,
    /** Of an index that is divided by partitions: the one that is asked for, as keys name it. */
    private readonly partition: string | undefined,
    readonly seen: Seen | undefined,
  ) {}

  rows(range: KeyRange, descending: boolean, behind: Place | undefined): Iterable<IndexRow> {
    return this.reader.rows(this.#range(range, descending, behind), {
      descending,
      skip: 0,
      limit: Infinity,
    });
  }

  count(range: KeyRange): number {
    return this.reader.place(this.#range(range, false, undefined), false).within;
  }

  #range({ low, high }: KeyRange, descending: boolean, behind: Place | undefined): ViewRange {
    const from = this.#bound(low, false);
    const to = this.#bound(high, true);
    if (behind === undefined) return { low: from, high: to };
    const here: Bound = { key: this.#encode(behind.key), id: behind.id, after: !descending };
    const place: KeyBound = { values: behind.key, after: descending };
    if (descending) return { low: from, high: isOutside(high, place, 1) ? here : to };
    return { low: isOutside(low, place, -1) ? here : from, high: to };
  }

  /** Before or behind all keys that begin with these values. */
  #bound(bound: KeyBound | undefined, isHigh: boolean): Bound | undefined {
    if (bound === undefined && this.partition === undefined) return undefined;
    const { values, after } = bound ?? { values: [], after: isHigh };
    // Without the ends of the lists it is a beginning, and stands before all keys that begin so.
    const prefix = this.#encode(values).slice(0, this.partition === undefined ? -1 : -2);
    return { key: after ? asBytes(`${prefix}\xff`) : prefix, after: false };
  }

  #encode(values: readonly unknown[]): Bytes {
    return encodeKey(this.partition === undefined ? values : [this.partition, values]);
  }
}

/** Whether a bound of a range lies farther out than a place that was reached. */
const isOutside = (bound: KeyBound | undefined, place: KeyBound, side: 1 | -1): boolean =>
  bound === undefined || compareBounds(bound, place) * side >= 0;
