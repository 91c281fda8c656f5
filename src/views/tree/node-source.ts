import { u48, type Bytes } from '../../base/bytes.js';
import type { Store } from '../../storage/store.js';
import { Inner } from './inner.js';
import { Leaf, type ValueSource } from './leaf.js';
import type { NodeCache } from './node-cache.js';
import { innerKind, type TreeNode } from './tree-node.js';

/**
 * A node or value that the state of the tree names is not in the store: somebody has committed an update since the state
 * was read. Who reads on must begin again with the new state, behind the last row it has seen.
 */
class TreeMoved extends Error {
  constructor(id: number) {
    super(`the view's tree has changed: record ${id} is gone`);
    this.name = 'TreeMoved';
  }
}

export const recordKey = (prefix: Bytes, id: number): Bytes => prefix + u48(id);

/** Reads the records of one tree. */
export class NodeSource implements ValueSource {
  constructor(
    private readonly store: Pick<Store, 'get'>,
    private readonly prefix: Bytes,
    private readonly cache?: NodeCache,
  ) {}

  value(record: number): Bytes {
    const value = this.store.get(recordKey(this.prefix, record));
    if (value === undefined) throw new TreeMoved(record);
    return value;
  }

  node(id: number): TreeNode {
    const cached = this.cache?.get(this.prefix, id);
    if (cached !== undefined) return cached;
    const text = this.value(id);
    const node = text.charCodeAt(0) === innerKind ? new Inner(text) : new Leaf(text);
    this.cache?.add(this.prefix, id, node);
    return node;
  }

  leaf(id: number): Leaf {
    return this.node(id) as Leaf;
  }

  inner(id: number): Inner {
    return this.node(id) as Inner;
  }
}
