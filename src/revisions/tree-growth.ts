import { addChild, checkExtension, checkPath, mergeInto, parentsFirst, type Merged } from './merge.js';
import type { Rev } from './rev.js';
import { keepIndex, takeIndex, TreeIndex } from './tree-index.js';
import {
  inheritLeaves,
  markRawAs,
  winner,
  type RevInfo,
  type RevNode,
  type RevPath,
  type RevTree,
} from './tree.js';

/** What became of one of several additions. */
type Added = Pick<Merged, 'stored' | 'superseded'> & { changed: boolean };

/**
 * A tree that grows by several edits at once. Each does what `merge` or `extend` would do, at the price of its own
 * length instead of the whole tree's: the nodes are copied once, found by an index, and ordered once at the end.
 */
export class TreeGrowth {
  readonly #nodes: RevNode[];
  /** Undefined once a tree was given that has it now. */
  #index: TreeIndex | undefined;
  /** Of all revisions that came. */
  readonly #hashes: string[] = [];
  /** Of those that were leaves before. */
  readonly #superseded = new Set<RevNode>();
  #liveLeaves = 0;
  #joined = false;
  #changed = false;

  constructor(private readonly before: RevTree | undefined) {
    this.#nodes = before?.slice() ?? [];
    this.#index = before && takeIndex(before);
    this.#index?.moveTo(this.#nodes);
    for (const { leaf, deleted } of this.#nodes) if (leaf && !deleted) this.#liveLeaves++;
  }

  get isEmpty(): boolean {
    return this.#nodes.length === 0;
  }

  /** Whether the winner is. */
  get isDeleted(): boolean {
    return this.#liveLeaves === 0;
  }

  find({ pos, hash }: Rev): RevNode | undefined {
    return this.#nodes[this.#indexOf(pos, hash)];
  }

  winner(): RevNode {
    return winner(this.#nodes);
  }

  /** The tree as it is now; the one that was given as long as nothing has changed it. What is known of it goes with it. */
  tree(): RevTree | undefined {
    if (!this.#changed) {
      if (this.before !== undefined) this.#leaveIndexTo(this.before);
      return this.before;
    }
    const tree = this.#joined ? parentsFirst(this.#nodes) : this.#nodes.slice();
    if (this.before !== undefined) markRawAs(tree, this.before, this.#hashes);
    if (this.#joined) return tree;
    this.#leaveIndexTo(tree);
    if (this.before !== undefined) inheritLeaves(tree, this.before, this.#superseded);
    return tree;
  }

  #leaveIndexTo(tree: RevTree): void {
    if (this.#index !== undefined) keepIndex(tree, this.#index);
    this.#index = undefined;
  }

  #indexOf(pos: number, hash: string): number {
    return (this.#index ??= new TreeIndex(this.#nodes)).indexOf(pos, hash);
  }

  merge(path: RevPath, info: RevInfo): Added {
    checkPath(path);
    const { start, hashes } = path;
    const known = hashes.map((hash, i) => this.#indexOf(start - i, hash));
    const length = this.#nodes.length;
    const { outcome, stored, superseded, joined } = mergeInto(this.#nodes, known, path, info);
    const leaf = outcome === 'new_leaf' || outcome === 'new_branch' ? info : undefined;
    this.#joined ||= joined;
    return this.#added(length, leaf, { changed: outcome !== 'unchanged', stored, superseded });
  }

  /** Adds an edit made on a leaf. */
  extend(parent: RevNode, rev: Rev, info: RevInfo): Added {
    const at = this.#indexOf(parent.pos, parent.hash);
    checkExtension(this.#nodes[at], rev);
    if (this.#indexOf(rev.pos, rev.hash) >= 0) {
      return this.merge({ start: rev.pos, hashes: [rev.hash, parent.hash] }, info);
    }
    const continued = this.#nodes[at]!;
    const length = this.#nodes.length;
    addChild(this.#nodes, at, rev.pos, rev.hash, info);
    return this.#added(length, info, { changed: true, stored: true, superseded: [continued] });
  }

  #added(from: number, leaf: RevInfo | undefined, added: Added): Added {
    for (let i = from; i < this.#nodes.length; i++) {
      this.#index?.add(i);
      this.#hashes.push(this.#nodes[i]!.hash);
    }
    if (leaf?.deleted === false) this.#liveLeaves++;
    for (const node of added.superseded) {
      this.#superseded.add(node);
      if (!node.deleted) this.#liveLeaves--;
    }
    this.#changed ||= added.changed;
    return added;
  }
}
