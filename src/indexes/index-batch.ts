import type { Bytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import { idKey } from '../shard/keys.js';
import type { Store, Write } from '../storage/store.js';
import { decodeRowKeys, encodeRowKeys, rowsOf, type Emitted } from './doc-rows.js';
import { sortRowsInSlices, type KeyOrder } from './key-order.js';
import type { OpenIndex } from './open-index.js';
import { compareRows, type Row, type RowKey } from './tree/row.js';
import type { TreeState } from './tree/tree-state.js';

/** What each row takes in memory beside its texts, roughly. */
const rowOverheadBytes = 120;

/** What a batch comes to: writes to the tree, and to the notes of what it has of a document. */
export interface AppliedBatch {
  writes: readonly Write[];
  /** Made when what was committed before can be read. */
  notes: () => readonly Write[] | Promise<readonly Write[]>;
  tree: TreeState;
}

/** What is gathered of documents until it pays to bring it into an index. */
export interface Batch {
  /** About what it takes in memory. */
  readonly bytes: number;
  /** Gives a promise where there is much to do. */
  add(id: Bytes, emitted: readonly Emitted[]): void | Promise<void>;
  /**
   * The writes that bring the index up to date with the batch: to its tree, read from `store`, and to the notes of which rows
   * a document has. `ids` names all documents of the batch in the order of their keys. `fresh` says
   * that none of them can have rows in the index yet, which spares looking for them.
   */
  apply(
    index: OpenIndex,
    store: Pick<Store, 'get'>,
    ids: readonly Bytes[],
    fresh: boolean,
  ): Promise<AppliedBatch>;
  /** An empty batch for the same index, after this one was applied; this one must not be used any more. */
  next(): Batch;
}

/** Documents and their rows, gathered until it pays to bring them into an index. Of a document, what came last counts. */
export class IndexBatch implements Batch {
  readonly #docs = new Map<Bytes, readonly Row[]>();
  #bytes = 0;

  constructor(
    private readonly order: KeyOrder,
    private readonly partitioned: boolean,
    private readonly runtime: Runtime,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  next(): IndexBatch {
    return new IndexBatch(this.order, this.partitioned, this.runtime);
  }

  add(id: Bytes, emitted: readonly Emitted[]): void | Promise<void> {
    const rows =
      emitted.length === 0 ? noRows : rowsOf(id, emitted, this.order, this.partitioned, this.runtime);
    return rows instanceof Promise ? rows.then((all) => this.#add(id, all)) : this.#add(id, rows);
  }

  #add(id: Bytes, rows: readonly Row[]): void {
    this.#docs.set(id, rows);
    this.#bytes += id.length + rowOverheadBytes;
    for (const { key, keyText, value } of rows)
      this.#bytes += key.length + keyText.length + value.length + rowOverheadBytes;
  }

  async apply(
    index: OpenIndex,
    store: Pick<Store, 'get'>,
    ids: readonly Bytes[],
    fresh: boolean,
  ): Promise<AppliedBatch> {
    const inserts: Row[] = [];
    const removals: RowKey[] = [];
    if (fresh) return this.#applyFresh(index, store, ids);
    const notes = index.notes();
    let repeats = 0;
    const slice = this.runtime.slice();
    for (const id of ids) {
      if (slice.isOver) await slice.next();
      const rows = this.#docs.get(id);
      if (rows === undefined) continue;
      const key = idKey(id);
      const noted = notes.get(key);
      for (const row of rows) inserts.push(row);
      if (noted !== undefined) {
        repeats += removeOthers(decodeRowKeys(id, noted), rows, this.order, removals);
      }
      const note = rows.length > 0 ? encodeRowKeys(rows) : undefined;
      if (note !== noted) notes.set(key, note);
    }
    const noteWrites = notes.finish();
    if (inserts.length === 0 && removals.length === 0)
      return { writes: [], notes: () => noteWrites, tree: index.state.tree };
    const { writes, state } = await index
      .writer(store)
      .update(
        await sortRowsInSlices(removals, this.order, this.runtime),
        await sortRowsInSlices(inserts, this.order, this.runtime),
        repeats > 0,
      );
    return { writes, notes: () => noteWrites, tree: state };
  }

  /** Only the tree is looked at first, of which the newest nodes may still be on their way to the store. */
  async #applyFresh(
    index: OpenIndex,
    store: Pick<Store, 'get'>,
    ids: readonly Bytes[],
  ): Promise<AppliedBatch> {
    const inserts: Row[] = [];
    const slice = this.runtime.slice();
    for (const rows of this.#docs.values()) {
      for (const row of rows) inserts.push(row);
      if (slice.isOver) await slice.next();
    }
    const sorted = await sortRowsInSlices(inserts, this.order, this.runtime);
    const { writes, state } = await index.writer(store).update([], sorted);
    return { writes, notes: () => this.#freshNotes(index, ids), tree: state };
  }

  async #freshNotes(index: OpenIndex, ids: readonly Bytes[]): Promise<readonly Write[]> {
    const slice = this.runtime.slice();
    const notes = index.notes();
    for (const id of ids) {
      const rows = this.#docs.get(id);
      if (rows !== undefined) notes.set(idKey(id), encodeRowKeys(rows));
      if (slice.isOver) await slice.next();
    }
    return notes.finish();
  }
}

const noRows: readonly Row[] = [];

/**
 * Adds a document's old rows to the removals, but for those whose key it has again: they are replaced. Gives the number of
 * these. Both lists are in order.
 */
function removeOthers(
  old: readonly RowKey[],
  rows: readonly Row[],
  { compare }: KeyOrder,
  removals: RowKey[],
): number {
  let at = 0;
  let repeats = 0;
  for (const key of old) {
    let order = -1;
    while (at < rows.length && (order = compareRows(compare, rows[at]!, key)) < 0) at++;
    if (at < rows.length && order === 0) repeats++;
    else removals.push(key);
  }
  return repeats;
}
