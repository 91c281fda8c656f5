import { compareHashes, invalidRev, isRawHash, type Rev } from './rev.js';
import { indexOf } from './tree-index.js';

/**
 * The history of one document.
 *
 * Replicas edit a document without asking each other, so its history is not a line but a tree; with histories cut
 * short (stemming, partial replication) it is even a forest. Its leaves are the document's current versions: one of
 * them is shown as the document, the winner, and the others are its conflicts. What matters is that two replicas
 * which know the same revisions agree on the winner, in whatever order they learned of them.
 *
 * The shape: one flat array of nodes, each naming its parent by index. Nearly every document is a single line of
 * edits, and then the array is that line, oldest first, and costs what a list costs. What always holds:
 *
 *  1. the array is never empty (a document without revisions has no tree), and never changed once made;
 *  2. a parent stands before its children, and its `pos` is one less than theirs;
 *  3. a revision occurs once. A history that gives a known revision another parent is not believed in that point:
 *     hashes cover the parent, so such a history cannot come from an honest replica;
 *  4. `leaf` is true exactly for nodes without children.
 *
 * Inner nodes keep the body they had as leaves until compaction forgets it. Ancestors that were only named by a
 * replicated history never had one: their `body` is 0.
 *
 * Growing is in `merge.ts`, shrinking in `prune.ts`, the stored form in `codec.ts`.
 */
export type RevTree = readonly RevNode[];

export type RevNode = Rev & {
  /** Index of the parent; -1 for a root. */
  readonly parent: number;
  readonly deleted: boolean;
  /** Where the body is kept, a number only the caller understands; 0 when it is not kept. */
  readonly body: number;
  readonly leaf: boolean;
};

/** What is known of a revision beyond its place in the tree. */
export type RevInfo = { readonly deleted: boolean; readonly body: number };

/** A revision with its ancestors: `start` is the newest one's generation, the hashes go from the newest down. */
export type RevPath = { readonly start: number; readonly hashes: readonly string[] };

/** The one place where nodes are made, so that all have the same hidden class. */
export const makeNode = (
  pos: number,
  hash: string,
  parent: number,
  deleted: boolean,
  body: number,
  leaf: boolean,
): RevNode => ({ pos, hash, parent, deleted, body, leaf });

export const singleNode = (rev: Rev, info: RevInfo): RevTree => [
  makeNode(rev.pos, rev.hash, -1, info.deleted, info.body, true),
];

export function fromPath({ start, hashes }: RevPath, info: RevInfo): RevTree {
  const last = hashes.length - 1;
  if (last < 0 || start < last) throw invalidRev();
  const nodes: RevNode[] = [];
  for (let i = last; i > 0; i--) nodes.push(makeNode(start - i, hashes[i]!, last - i - 1, false, 0, false));
  nodes.push(makeNode(start, hashes[0]!, last - 1, info.deleted, info.body, true));
  return nodes;
}

/** Negative when `a` is the better leaf: live beats deleted, then the longer history, then the greater hash. */
function compareLeaves(a: RevNode, b: RevNode): number {
  if (a.deleted !== b.deleted) return a.deleted ? 1 : -1;
  return b.pos - a.pos || compareHashes(b.hash, a.hash);
}

/** The same order where all hashes are raw ones, whose digits sort as their bytes do. */
function compareRawLeaves(a: RevNode, b: RevNode): number {
  if (a.deleted !== b.deleted) return a.deleted ? 1 : -1;
  return b.pos - a.pos || (a.hash === b.hash ? 0 : a.hash > b.hash ? -1 : 1);
}

const leafOrderOf = (tree: RevTree): typeof compareLeaves =>
  tree.length >= rawTreeNodesMin && isRawTree(tree) ? compareRawLeaves : compareLeaves;

/** Trees that are known to have raw hashes alone. Smaller ones are not worth remembering. */
const rawTrees = new WeakSet<RevTree>();
const rawTreeNodesMin = 64;

export function markRaw(tree: RevTree): void {
  if (tree.length >= rawTreeNodesMin) rawTrees.add(tree);
}

/** Marks a tree that was made of another one and the given hashes, if that one is marked and they are raw. */
export function markRawAs(tree: RevTree, before: RevTree, hashes: readonly string[]): void {
  if (rawTrees.has(before) && hashes.every(isRawHash)) markRaw(tree);
}

/** Whether all hashes are raw. */
export function isRawTree(tree: RevTree): boolean {
  if (rawTrees.has(tree)) return true;
  if (!tree.every(({ hash }) => isRawHash(hash))) return false;
  markRaw(tree);
  return true;
}

/** The leaf that is shown as the document. */
export function winner(tree: RevTree): RevNode {
  const sorted = tree.length < rememberedLeavesMin ? undefined : sortedLeaves.get(tree);
  if (sorted !== undefined) return sorted[0]!;
  const compare = leafOrderOf(tree);
  let best: RevNode | undefined;
  for (const node of tree) {
    if (node.leaf && (best === undefined || compare(node, best) < 0)) best = node;
  }
  return best!;
}

/** All leaves, best first: the winner, the conflicts, and last the deleted ones. */
export function leaves(tree: RevTree): readonly RevNode[] {
  const sorted = tree.length < rememberedLeavesMin ? undefined : sortedLeaves.get(tree);
  if (sorted !== undefined) return sorted;
  const found: RevNode[] = [];
  for (const node of tree) if (node.leaf) found.push(node);
  if (found.length < 2) return found;
  found.sort(leafOrderOf(tree));
  if (found.length >= rememberedLeavesMin) sortedLeaves.set(tree, found);
  return found;
}

/** The leaves of trees that have many, in their order: sorting them takes longer than all else that a change needs. */
const sortedLeaves = new WeakMap<RevTree, readonly RevNode[]>();
const rememberedLeavesMin = 256;

/**
 * Puts the leaves of a tree in order with the help of those of the tree that it has grown out of, if these are: its nodes
 * are those of the other one and, behind them, new ones. `superseded`: leaves of the other one that are none any more.
 */
export function inheritLeaves(tree: RevTree, before: RevTree, superseded: ReadonlySet<RevNode>): void {
  const known = sortedLeaves.get(before);
  if (known === undefined) return;
  const compare = leafOrderOf(tree);
  const added: RevNode[] = [];
  for (let i = before.length; i < tree.length; i++) if (tree[i]!.leaf) added.push(tree[i]!);
  added.sort(compare);
  const sorted: RevNode[] = [];
  let next = 0;
  for (const leaf of known) {
    if (superseded.has(leaf)) continue;
    while (next < added.length && compare(added[next]!, leaf) < 0) sorted.push(added[next++]!);
    sorted.push(leaf);
  }
  while (next < added.length) sorted.push(added[next++]!);
  sortedLeaves.set(tree, sorted);
}

export function leafCount(tree: RevTree): number {
  let count = 0;
  for (const node of tree) if (node.leaf) count++;
  return count;
}

/** From the end, because most questions are about the newest revisions. */
export function indexOfRev(tree: RevTree, pos: number, hash: string): number {
  const index = indexOf(tree);
  if (index !== undefined) return index.indexOf(pos, hash);
  for (let i = tree.length - 1; i >= 0; i--) {
    const node = tree[i]!;
    if (node.pos === pos && node.hash === hash) return i;
  }
  return -1;
}

export const find = (tree: RevTree, rev: Rev): RevNode | undefined =>
  tree[indexOfRev(tree, rev.pos, rev.hash)];

/** The node and its known ancestors, newest first. */
export function pathOf(tree: RevTree, node: RevNode): RevNode[] {
  const path: RevNode[] = [];
  for (let at: RevNode | undefined = node; at !== undefined; at = tree[at.parent]) path.push(at);
  return path;
}

/** The leaves that continue the node, best first; the node itself when it is a leaf. */
export function leavesBelow(tree: RevTree, node: RevNode): readonly RevNode[] {
  if (node.leaf) return [node];
  const top = indexOfRev(tree, node.pos, node.hash);
  if (top < 0) return [];
  const only = indexOf(tree)?.onlyLeafBelow(top) ?? -1;
  if (only >= 0) return [tree[only]!];
  // A parent stands before its children, so one pass finds all that descends from the node.
  const below = new Uint8Array(tree.length);
  below[top] = 1;
  for (let i = top + 1; i < tree.length; i++) {
    const { parent } = tree[i]!;
    if (parent >= 0) below[i] = below[parent]!;
  }
  return leaves(tree.filter((_, i) => below[i] === 1));
}

/** Those of the revisions that the tree does not hold, as they were asked for. */
export const missing = (tree: RevTree, revs: readonly Rev[]): Rev[] =>
  revs.filter((rev) => indexOfRev(tree, rev.pos, rev.hash) < 0);

/**
 * Leaves that could be ancestors of what is missing, best first. A replicator that sends a missing revision needs to
 * send only what changed since one of them.
 */
export function possibleAncestors(tree: RevTree, missingRevs: readonly Rev[]): RevNode[] {
  let highest = 0;
  for (const rev of missingRevs) highest = Math.max(highest, rev.pos);
  return leaves(tree).filter((leaf) => leaf.pos < highest);
}
