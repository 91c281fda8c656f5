import type { Bytes } from '../base/bytes.js';
import type { Write } from '../storage/store.js';
import { decodeRowKeys, encodeRowKeys, rowsOf, type Emitted } from './doc-rows.js';
import { sortRows, type KeyOrder } from './key-order.js';
import type { OpenIndex } from './open-index.js';
import type { Row, RowKey } from './tree/row.js';

/** What each row takes in memory beside its texts, roughly. */
const rowOverheadBytes = 120;

/** Documents and their rows, gathered until it pays to bring them into an index. Of a document, what came last counts. */
export class IndexBatch {
  readonly #docs = new Map<Bytes, readonly Row[]>();
  #bytes = 0;

  constructor(
    private readonly order: KeyOrder,
    private readonly partitioned: boolean,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#docs.size;
  }

  add(id: Bytes, emitted: readonly Emitted[]): void {
    const rows = emitted.length === 0 ? noRows : rowsOf(id, emitted, this.order, this.partitioned);
    this.#docs.set(id, rows);
    this.#bytes += id.length + rowOverheadBytes;
    for (const { key, keyText, value } of rows)
      this.#bytes += key.length + keyText.length + value.length + rowOverheadBytes;
  }

  /**
   * The writes that bring the index up to date with the batch. `fresh` says that none of the documents can have rows in
   * the index yet, which spares looking for them.
   */
  async apply(
    index: OpenIndex,
    fresh: boolean,
  ): Promise<{ writes: Write[]; tree: OpenIndex['state']['tree'] }> {
    const inserts: Row[] = [];
    const removals: RowKey[] = [];
    const notes: Write[] = [];
    // The store takes keys faster in their order, which is that of the ids.
    for (const id of [...this.#docs.keys()].sort()) {
      const rows = this.#docs.get(id)!;
      const key = index.keys.doc(id);
      const noted = fresh ? undefined : index.store.get(key);
      for (const row of rows) inserts.push(row);
      if (noted !== undefined) removals.push(...withoutRepeats(decodeRowKeys(id, noted), rows, this.order));
      if (rows.length > 0) notes.push({ key, value: encodeRowKeys(rows) });
      else if (noted !== undefined) notes.push({ key, value: undefined });
    }
    if (inserts.length === 0 && removals.length === 0) return { writes: notes, tree: index.state.tree };
    const { writes, state } = await index
      .writer()
      .update(sortRows(removals, this.order), sortRows(inserts, this.order));
    for (const note of notes) writes.push(note);
    return { writes, tree: state };
  }
}

const noRows: readonly Row[] = [];

/** An old row whose key the document has again is replaced, not removed. */
function withoutRepeats(old: readonly RowKey[], rows: readonly Row[], order: KeyOrder): RowKey[] {
  return old.filter((key) => !rows.some((row) => row.n === key.n && order.compare(row.key, key.key) === 0));
}
