import { asBytes, type Bytes } from '../base/bytes.js';
import type { SkippedList } from '../base/merge-sorted.js';
import type { DocEntry, DocsQuery, DocTable, LocalReader } from './group-reader.js';

/** Fewer records of a group are not read at a time. */
const recordsLeast = 8;

/** The records of one group that a query is about. */
export class GroupList implements SkippedList<DocEntry> {
  #start: Bytes;
  #end: Bytes;

  constructor(
    private readonly collection: LocalReader,
    private readonly table: DocTable,
    private readonly query: DocsQuery,
  ) {
    this.#start = query.start;
    this.#end = query.end;
  }

  at(place: number): DocEntry | undefined {
    return this.#read({ offset: place, limit: 1, headBytes: 1 })[0];
  }

  pass(_count: number, { key }: DocEntry): void {
    if (this.query.reverse) this.#end = key;
    else this.#start = asBytes(`${key}\0`);
  }

  *entries(atOnce: number): Generator<DocEntry> {
    while (this.#start < this.#end) {
      const found = this.#read({ offset: 0, limit: Math.max(recordsLeast, atOnce) });
      yield* found;
      if (found.length === 0) return;
      this.pass(found.length, found.at(-1)!);
    }
  }

  #read(more: Pick<DocsQuery, 'offset' | 'limit' | 'headBytes'>): DocEntry[] {
    const { query } = this;
    return this.collection.docs(this.table, { ...query, ...more, start: this.#start, end: this.#end });
  }
}
