import { Inner } from './inner.js';
import { LeafRow, type Leaf } from './leaf.js';
import type { NodeSource } from './node-source.js';
import type { Bound, Compare, Row } from './row.js';
import type { TreeNode } from './tree-node.js';
import type { TreeState } from './tree-state.js';

/**
 * A place in a tree: the nodes from the root to a leaf and the entry in each. It stands before a row; only the end of the
 * tree stands before none, and is told by the root alone with an entry behind its last.
 */
export class TreePath {
  /** Rows before this place. */
  readonly rank: number;

  constructor(
    readonly nodes: readonly TreeNode[],
    readonly entries: readonly number[],
  ) {
    let rank = 0;
    for (let level = 0; level < nodes.length; level++) rank += nodes[level]!.rowsBefore(entries[level]!);
    this.rank = rank;
  }

  static start(source: NodeSource, state: TreeState): TreePath {
    return descend(source, [source.node(state.root)], [0], state.height);
  }

  static end(source: NodeSource, state: TreeState): TreePath {
    const root = source.node(state.root);
    return new TreePath([root], [root.length]);
  }

  static at(bound: Bound, compare: Compare, source: NodeSource, state: TreeState): TreePath {
    const nodes: TreeNode[] = [];
    const entries: number[] = [];
    let node = source.node(state.root);
    while (node instanceof Inner) {
      const at: number = node.seekIn(1, node.length, bound, compare) - 1;
      nodes.push(node);
      entries.push(at);
      node = source.node(node.children[at]!);
    }
    nodes.push(node);
    entries.push(node.seekIn(0, node.length, bound, compare));
    return settle(source, nodes, entries);
  }

  /** The row behind this place. */
  row(source: NodeSource): Row {
    return new LeafRow(this.nodes.at(-1) as Leaf, this.entries.at(-1)!, source);
  }

  /** The row before this place. */
  rowBefore(source: NodeSource): Row {
    let level = this.nodes.length - 1;
    while (this.entries[level] === 0) level--;
    let node = this.nodes[level]!;
    let at = this.entries[level]! - 1;
    while (node instanceof Inner) {
      node = source.node(node.children[at]!);
      at = node.length - 1;
    }
    return new LeafRow(node as Leaf, at, source);
  }

  /** The place of a bound that is not before this one. It is looked for from here on, for it is often near. */
  onTo(bound: Bound, compare: Compare, source: NodeSource): TreePath {
    const leaf = this.nodes.at(-1)!;
    if (!(leaf instanceof Inner) && !leaf.isBefore(leaf.length - 1, bound, compare))
      return this.#within(leaf.seek(this.entries.at(-1)!, bound, compare));
    const nodes: TreeNode[] = [];
    const entries: number[] = [];
    let node = this.nodes[0]!;
    let isSame = true;
    for (let level = 0; ; level++) {
      nodes.push(node);
      const from: number = isSame ? (this.entries[level] ?? 0) : 0;
      if (!(node instanceof Inner)) {
        entries.push(node.seek(from, bound, compare));
        return settle(source, nodes, entries);
      }
      const at: number = node.seek(from + 1, bound, compare) - 1;
      isSame &&= at === this.entries[level];
      entries.push(at);
      node = isSame ? this.nodes[level + 1]! : source.node(node.children[at]!);
    }
  }

  /** The place of a bound that is not behind this one. */
  backTo(bound: Bound, compare: Compare, source: NodeSource): TreePath {
    const leaf = this.nodes.at(-1)!;
    if (!(leaf instanceof Inner) && leaf.isBefore(0, bound, compare))
      return this.#within(leaf.seekIn(1, this.entries.at(-1)!, bound, compare));
    const nodes: TreeNode[] = [];
    const entries: number[] = [];
    let node = this.nodes[0]!;
    let isSame = true;
    for (let level = 0; ; level++) {
      nodes.push(node);
      const end: number = isSame
        ? Math.min((this.entries[level] ?? node.length) + 1, node.length)
        : node.length;
      if (!(node instanceof Inner)) {
        entries.push(node.seekIn(0, end, bound, compare));
        return settle(source, nodes, entries);
      }
      const at: number = node.seekIn(1, Math.max(end, 1), bound, compare) - 1;
      isSame &&= at === this.entries[level];
      entries.push(at);
      node = isSame ? this.nodes[level + 1]! : source.node(node.children[at]!);
    }
  }

  /** Another place in the same leaf. */
  #within(at: number): TreePath {
    const entries = this.entries.slice();
    entries[entries.length - 1] = at;
    return new TreePath(this.nodes, entries);
  }
}

/** Follows the first entries down to a leaf. */
function descend(source: NodeSource, nodes: TreeNode[], entries: number[], height: number): TreePath {
  while (nodes.length < height) {
    const parent = nodes.at(-1) as Inner;
    nodes.push(source.node(parent.children[entries.at(-1)!]!));
    entries.push(0);
  }
  return new TreePath(nodes, entries);
}

/** A place behind the last entry of a leaf is the one before the first of the next leaf. */
function settle(source: NodeSource, nodes: TreeNode[], entries: number[]): TreePath {
  const height = nodes.length;
  while (entries.at(-1)! >= nodes.at(-1)!.length && nodes.length > 1) {
    nodes.pop();
    entries.pop();
    entries[entries.length - 1]! += 1;
  }
  const isEnd = entries.at(-1)! >= nodes.at(-1)!.length;
  return isEnd ? new TreePath(nodes, entries) : descend(source, nodes, entries, height);
}
