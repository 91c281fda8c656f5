import type { Bytes } from '../base/bytes.js';
import type { Store, Write } from '../storage/store.js';
import { decodeRowKeys, encodeRowKeys, rowsOf, type Emitted } from './doc-rows.js';
import { sortRows, type KeyOrder } from './key-order.js';
import type { OpenIndex } from './open-index.js';
import type { Row, RowKey } from './tree/row.js';
import type { TreeState } from './tree/tree-state.js';

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
   * The writes that bring the index up to date with the batch: to its tree, read from `store`, and to the notes of which rows
   * a document has. `ids` names all documents of the batch in their order, which the store takes them in fastest. `fresh` says
   * that none of them can have rows in the index yet, which spares looking for them.
   */
  async apply(
    index: OpenIndex,
    store: Pick<Store, 'get'>,
    ids: readonly Bytes[],
    fresh: boolean,
  ): Promise<{ writes: readonly Write[]; notes: readonly Write[]; tree: TreeState }> {
    const inserts: Row[] = [];
    const removals: RowKey[] = [];
    const notes: Write[] = [];
    for (const id of ids) {
      const rows = this.#docs.get(id);
      if (rows === undefined) continue;
      const key = index.keys.doc(id);
      const noted = fresh ? undefined : index.store.get(key);
      for (const row of rows) inserts.push(row);
      if (noted !== undefined) removals.push(...withoutRepeats(decodeRowKeys(id, noted), rows, this.order));
      if (rows.length > 0) notes.push({ key, value: encodeRowKeys(rows) });
      else if (noted !== undefined) notes.push({ key, value: undefined });
    }
    if (inserts.length === 0 && removals.length === 0) return { writes: [], notes, tree: index.state.tree };
    const { writes, state } = await index
      .writer(store)
      .update(sortRows(removals, this.order), sortRows(inserts, this.order));
    return { writes, notes, tree: state };
  }
}

const noRows: readonly Row[] = [];

/** An old row whose key the document has again is replaced, not removed. */
function withoutRepeats(old: readonly RowKey[], rows: readonly Row[], order: KeyOrder): RowKey[] {
  return old.filter((key) => !rows.some((row) => row.n === key.n && order.compare(row.key, key.key) === 0));
}
