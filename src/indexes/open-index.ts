import type { Runtime } from '../base/runtime.js';
import type { Store } from '../storage/store.js';
import { isSearchMap, type ViewDefinition } from './definition.js';
import { IndexKeys } from './index-keys.js';
import type { IndexState } from './index-state.js';
import { keyOrder, type KeyOrder } from './key-order.js';
import { NoteBlocks, SingleNotes, type Notes } from './note-blocks.js';
import { joinBlockRows } from './search-blocks.js';
import type { NodeCache } from './tree/node-cache.js';
import type { Reducer } from './tree/reducer.js';
import { TreeReader } from './tree/tree-reader.js';
import { TreeWriter } from './tree/tree-writer.js';

/** One index, opened for writing. */
export class OpenIndex {
  readonly keys: IndexKeys;
  readonly order: KeyOrder;

  constructor(
    readonly store: Store,
    number: number,
    readonly view: ViewDefinition,
    public state: IndexState,
    private readonly reducers: readonly Reducer[],
    private readonly runtime: Runtime,
    private readonly nodes: NodeCache,
  ) {
    this.keys = new IndexKeys(number);
    this.order = keyOrder(view.raw);
  }

  get isSearch(): boolean {
    return isSearchMap(this.view.map);
  }

  /** What it has noted of the documents of its rows, as far as that is committed. */
  notes(): Notes {
    return this.state.hasNoteBlocks
      ? new NoteBlocks(this.store, this.keys.notes)
      : new SingleNotes(this.store, this.keys.docs);
  }

  /** The tree, read from where it is whole: the store, or the store and what is on its way there. */
  reader(store: Pick<Store, 'get'>): TreeReader {
    return new TreeReader(store, this.keys.tree, this.state.tree, this.order.compare, this.nodes);
  }

  writer(store: Pick<Store, 'get'>): TreeWriter {
    const join = this.isSearch ? joinBlockRows : undefined;
    return new TreeWriter(
      store,
      this.keys.tree,
      this.state.tree,
      this.order.compare,
      this.reducers,
      this.runtime,
      this.nodes,
      join,
      (writes) => this.store.write(writes).committed,
    );
  }
}
