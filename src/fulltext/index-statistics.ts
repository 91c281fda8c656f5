import type { Bytes } from '../base/bytes.js';
import type { SearchReader } from './search-reader.js';

/** What relevance is reckoned from: numbers of the indexes of all groups together, so that scores don't depend on groups. */
export class IndexStatistics {
  readonly #fields = new Map<string, { docs: number; averageLength: number }>();
  readonly #counts = new Map<Bytes, number>();

  constructor(private readonly readers: () => readonly SearchReader[]) {}

  /** Documents that are listed under a key, of which one group has so many. */
  count(key: Bytes, ofOneGroup: number): number {
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const readers = this.readers();
    const count =
      readers.length === 1 ? ofOneGroup : readers.reduce((sum, reader) => sum + reader.count(key), 0);
    this.#counts.set(key, count);
    return count;
  }

  /** Documents with a field, and the terms that it has on average: the same for all terms of a query. */
  field(name: string): { docs: number; averageLength: number } {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    let docs = 0;
    let length = 0;
    for (const reader of this.readers()) {
      const totals = reader.field(name);
      docs += totals.docs;
      length += totals.length;
    }
    const field = { docs, averageLength: docs === 0 ? 0 : length / docs };
    this.#fields.set(name, field);
    return field;
  }
}
