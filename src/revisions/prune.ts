import { compareRevs, type Rev } from './rev.js';
import { indexOfRev, makeNode, markRawAs, type RevNode, type RevTree } from './tree.js';

/**
 * Shrinking a tree: stemming drops the oldest ancestors, purging drops whole branches, compaction drops the bodies of
 * revisions that are no longer current. None of them ever turns an inner revision into a leaf, which would bring an
 * outdated version of the document back to life.
 */

/**
 * Keeps, of each leaf's history, the `limit` newest revisions, and at least the leaf. A revision that several leaves
 * share stays as long as any of them needs it.
 */
export function stem(tree: RevTree, limit: number): RevTree {
  if (tree.length <= limit) return tree;
  // For each node, how much is left of the limit on the way down from the leaf that needs it most.
  const left = new Float64Array(tree.length);
  let kept = 0;
  for (let i = tree.length - 1; i >= 0; i--) {
    const { leaf, parent } = tree[i]!;
    if (leaf) left[i] = Math.max(limit, 1);
    if (left[i] === 0) continue;
    kept++;
    if (parent >= 0) left[parent] = Math.max(left[parent]!, left[i]! - 1);
  }
  return kept === tree.length ? tree : only(tree, (index) => left[index]! > 0);
}

export type Purged = {
  /** Undefined when no revision is left, and with them the document. */
  readonly tree: RevTree | undefined;
  /** The leaves among the given revisions, in ascending order. */
  readonly removed: Rev[];
};

/**
 * Removes leaves, each with the ancestors that belong to no other branch. Revisions that are unknown or no leaves are
 * passed over.
 */
export function removeLeaves(tree: RevTree, revs: readonly Rev[]): Purged {
  const childCount = new Int32Array(tree.length);
  for (const node of tree) if (node.parent >= 0) childCount[node.parent]!++;
  const gone = new Uint8Array(tree.length);
  const removed: Rev[] = [];
  let left = tree.length;
  for (const rev of revs) {
    let at = indexOfRev(tree, rev.pos, rev.hash);
    if (at < 0 || !tree[at]!.leaf || gone[at] === 1) continue;
    removed.push({ pos: rev.pos, hash: rev.hash });
    while (at >= 0 && childCount[at] === 0) {
      gone[at] = 1;
      left--;
      at = tree[at]!.parent;
      if (at >= 0) childCount[at]!--;
    }
  }
  removed.sort(compareRevs);
  if (left === 0) return { tree: undefined, removed };
  return { tree: left === tree.length ? tree : only(tree, (index) => gone[index] === 0), removed };
}

export type Forgotten = { readonly tree: RevTree; readonly forgotten: number[] };

/**
 * Lets go of the bodies of inner revisions and names them, at most `max`; the tree is the same object when there were
 * none.
 */
export function forgetInnerBodies(tree: RevTree, max = Infinity): Forgotten {
  const forgotten: number[] = [];
  const bare = tree.map((node) => {
    if (node.leaf || node.body === 0 || forgotten.length >= max) return node;
    forgotten.push(node.body);
    return makeNode(node.pos, node.hash, node.parent, node.deleted, 0, false);
  });
  if (forgotten.length === 0) return { tree, forgotten };
  markRawAs(bare, tree, []);
  return { tree: bare, forgotten };
}

/** The nodes of `before` whose bodies `after` does not refer to: what stemming or purging leaves to be deleted. */
export function lostBodies(before: RevTree, after: RevTree | undefined): RevNode[] {
  if (before === after) return [];
  const held = new Set(after?.map((node) => node.body));
  return before.filter(({ body }) => body !== 0 && !held.has(body));
}

/** The nodes that pass; a node whose parent does not becomes a root. */
function only(tree: RevTree, passes: (index: number) => boolean): RevTree {
  const placeOf = new Int32Array(tree.length).fill(-1);
  const nodes: RevNode[] = [];
  tree.forEach((node, index) => {
    if (!passes(index)) return;
    const parent = node.parent < 0 ? -1 : placeOf[node.parent]!;
    placeOf[index] = nodes.length;
    nodes.push(
      parent === node.parent
        ? node
        : makeNode(node.pos, node.hash, parent, node.deleted, node.body, node.leaf),
    );
  });
  markRawAs(nodes, tree, []);
  return nodes;
}
