import { asBytes, u48, type Bytes } from '../../base/bytes.js';
import type { Store } from '../../storage/store.js';
import { IndexDamage, readOptional } from '../index-damage.js';
import { Inner } from './inner.js';
import { Leaf, type ValueSource } from './leaf.js';
import type { NodeCache } from './node-cache.js';
import { innerKind, type TreeNode } from './tree-node.js';

export const recordKey = (prefix: Bytes, id: number): Bytes => asBytes(prefix + u48(id));

/**
 * Reads the records of one tree. What the state of a tree names is in the store as long as that state holds; so a record
 * that is missing is lost, or an update has been committed since the state was read. Readers may begin again then.
 */
export class NodeSource implements ValueSource {
  constructor(
    private readonly store: Pick<Store, 'get'>,
    private readonly prefix: Bytes,
    private readonly cache?: NodeCache,
    /** Of the tree that is read: tells whether it is still the same. */
    private readonly root = 0,
  ) {}

  value(record: number): Bytes {
    const value = readOptional(() => this.store.get(recordKey(this.prefix, record)));
    if (value === undefined) throw this.#damage(`its record ${record} is missing or damaged`);
    return value;
  }

  node(id: number): TreeNode {
    const cached = this.cache?.get(this.prefix, id);
    if (cached !== undefined) return cached;
    const text = this.value(id);
    let node: TreeNode;
    try {
      node = text.charCodeAt(0) === innerKind ? new Inner(text) : new Leaf(text);
    } catch (error) {
      throw this.#damage((error as Error).message);
    }
    this.cache?.add(this.prefix, id, node);
    return node;
  }

  leaf(id: number): Leaf {
    const node = this.node(id);
    if (node instanceof Leaf) return node;
    throw this.#damage(`its record ${id} is no leaf`);
  }

  inner(id: number): Inner {
    const node = this.node(id);
    if (node instanceof Inner) return node;
    throw this.#damage(`its record ${id} is no inner node`);
  }

  #damage(what: string): IndexDamage {
    this.cache?.onDamage?.(this.prefix, this.root);
    return new IndexDamage(what);
  }
}
