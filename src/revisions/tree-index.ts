import type { Rev } from './rev.js';

/** A tree, as far as the index looks at it. */
type Nodes = readonly (Rev & { readonly parent: number; readonly leaf: boolean })[];

/**
 * Finds nodes of a large tree by their revision, and the leaves below them, without walking over the tree each time.
 * A hash nearly always occurs once; where it occurs again with another generation, the pair of both is the key.
 */
export class TreeIndex {
  readonly #byHash = new Map<string, number>();
  #byRev: Map<string, number> | undefined;
  #onlyLeaves: Int32Array | undefined;

  constructor(private nodes: Nodes) {
    for (let i = 0; i < nodes.length; i++) this.add(i);
  }

  /** Takes up a node that was appended. */
  add(index: number): void {
    const { pos, hash } = this.nodes[index]!;
    if (this.#byHash.has(hash)) (this.#byRev ??= new Map<string, number>()).set(`${pos}-${hash}`, index);
    else this.#byHash.set(hash, index);
  }

  /** Goes over to other nodes that begin with the same revisions. */
  moveTo(nodes: Nodes): void {
    this.nodes = nodes;
    this.#onlyLeaves = undefined;
  }

  /** The node's index, or -1. */
  indexOf(pos: number, hash: string): number {
    const index = this.#byHash.get(hash);
    if (index === undefined) return -1;
    return this.nodes[index]!.pos === pos ? index : (this.#byRev?.get(`${pos}-${hash}`) ?? -1);
  }

  /** The index of the leaf that continues a node where there is exactly one; negative where there are several. */
  onlyLeafBelow(index: number): number {
    this.#onlyLeaves ??= onlyLeaves(this.nodes);
    return this.#onlyLeaves[index]!;
  }
}

const several = -2;

/** For each node the index of the one leaf below it, or a negative number. A parent stands before its children. */
function onlyLeaves(nodes: Nodes): Int32Array {
  const only = new Int32Array(nodes.length).fill(-1);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { leaf, parent } = nodes[i]!;
    if (leaf) only[i] = i;
    if (parent >= 0) only[parent] = only[parent] === -1 ? only[i]! : several;
  }
  return only;
}

/** In smaller trees, and for the first look-ups in any, a walk costs less than the making of an index. */
const indexedNodesMin = 256;
const walksMax = 8;

/** Trees never change once they are made: what was found out about one holds as long as there is the tree. */
const indexes = new WeakMap<Nodes, TreeIndex | number>();

export function indexOf(tree: Nodes): TreeIndex | undefined {
  if (tree.length < indexedNodesMin) return undefined;
  const known = indexes.get(tree) ?? 0;
  if (known instanceof TreeIndex) return known;
  const index = known < walksMax ? undefined : new TreeIndex(tree);
  indexes.set(tree, index ?? known + 1);
  return index;
}

/** Takes a tree's index, if it has one, for a tree that grows out of it. The old tree makes another if it is asked again. */
export function takeIndex(tree: Nodes): TreeIndex | undefined {
  const known = indexes.get(tree);
  if (!(known instanceof TreeIndex)) return undefined;
  indexes.delete(tree);
  return known;
}

/** Keeps an index with a tree that has the nodes which the index knows. */
export function keepIndex(tree: Nodes, index: TreeIndex): void {
  if (tree.length < indexedNodesMin) return;
  index.moveTo(tree);
  indexes.set(tree, index);
}
