import type { Bytes } from '../../base/bytes.js';
import type { MemoBudget, TreeNode } from './tree-node.js';

/**
 * Decoded nodes of all trees, up to so many bytes. A node never changes and its id is never used again, so what is
 * here is never stale; nodes that are no longer part of a tree are evicted like unused ones.
 *
 * There are two generations: what is used moves to the younger one, and when that has half of the bytes the older one is
 * dropped.
 */
export class NodeCache implements MemoBudget {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngBytes = 0;
  /** Called with the prefix and the root of a tree of which a record is lost or does not decode. */
  onDamage: ((prefix: Bytes, root: number) => void) | undefined;

  constructor(private readonly bytesMax: number) {}

  get(prefix: Bytes, id: number): TreeNode | undefined {
    const young = this.#young.get(prefix)?.get(id);
    if (young !== undefined) return young;
    const old = this.#old.get(prefix)?.get(id);
    if (old !== undefined) this.add(prefix, id, old);
    return old;
  }

  add(prefix: Bytes, id: number, node: TreeNode): void {
    let nodes = this.#young.get(prefix);
    if (nodes === undefined) this.#young.set(prefix, (nodes = new Map()));
    nodes.set(id, node);
    node.budget = this;
    this.charge(costOf(node));
  }

  charge(bytes: number): void {
    this.#youngBytes += bytes;
    if (this.#youngBytes < this.bytesMax / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}

type Generation = Map<Bytes, Map<number, TreeNode>>;

/** The text, the table and the keys of each entry, and what readers have it remember. */
const costOf = ({ text, length, memoBytes }: TreeNode): number =>
  text.length + length * 100 + 500 + memoBytes;
