import { invalidRev, revPosMax, type Rev } from './rev.js';
import {
  fromPath,
  indexOfRev,
  inheritLeaves,
  makeNode,
  markRawAs,
  type RevInfo,
  type RevNode,
  type RevPath,
  type RevTree,
} from './tree.js';

/**
 * Growing a tree: by an edit made here, and by a history that another replica made.
 *
 * A replicated history is a line of revisions, often a fragment: it may start above the oldest revision known here
 * or reach below it. Every pair of neighbours in it says "this is the parent of that", and the merged tree is the
 * union of what the tree and the history say. Being a union is what makes the result independent of the order in
 * which histories arrive; it also lets one history join two branches whose connection had been unknown.
 */
export type Merged = {
  /** The same object as before exactly when the outcome is `unchanged`. */
  readonly tree: RevTree;
  readonly outcome: MergeOutcome;
  /** Whether the tree took the info, and so refers to its body now. */
  readonly stored: boolean;
  /** Revisions that ceased to be leaves. */
  readonly superseded: readonly RevNode[];
};

/**
 * `new_leaf`: the history continues a leaf, or begins the tree. `new_branch`: it makes one leaf more than there was.
 * `internal_node`: no new leaf, but an inner revision got its body, or older ancestors became known.
 */
export type MergeOutcome = 'new_leaf' | 'new_branch' | 'internal_node' | 'unchanged';

/** Adds an edit made on a leaf. */
export function extend(tree: RevTree, parent: RevNode, rev: Rev, info: RevInfo): Merged {
  const at = indexOfRev(tree, parent.pos, parent.hash);
  checkExtension(tree[at], rev);
  // The same edit may have come before, by replication and without its ancestors.
  if (indexOfRev(tree, rev.pos, rev.hash) >= 0) {
    return merge(tree, { start: rev.pos, hashes: [rev.hash, parent.hash] }, info);
  }
  const nodes = tree.slice();
  addChild(nodes, at, rev.pos, rev.hash, info);
  markRawAs(nodes, tree, [rev.hash]);
  const superseded = [tree[at]!];
  inheritLeaves(nodes, tree, new Set(superseded));
  return { tree: nodes, outcome: 'new_leaf', stored: true, superseded };
}

export function checkExtension(parent: RevNode | undefined, rev: Rev): void {
  if (rev.pos > revPosMax) throw invalidRev();
  if (!parent?.leaf || rev.pos !== parent.pos + 1) throw new Error('an edit continues a leaf of its tree');
}

/** Adds a replicated history; `info` belongs to its newest revision. */
export function merge(tree: RevTree | undefined, path: RevPath, info: RevInfo): Merged {
  checkPath(path);
  if (tree === undefined) {
    return { tree: fromPath(path, info), outcome: 'new_leaf', stored: true, superseded: [] };
  }
  const nodes = tree.slice();
  const { joined, ...rest } = mergeInto(nodes, knownOf(tree, path), path, info);
  if (rest.outcome === 'unchanged') return { tree, ...rest };
  const merged = joined ? parentsFirst(nodes) : nodes;
  markRawAs(merged, tree, path.hashes);
  if (!joined) inheritLeaves(merged, tree, new Set(rest.superseded));
  return { tree: merged, ...rest };
}

export function checkPath({ start, hashes }: RevPath): void {
  if (start > revPosMax || hashes.length === 0 || start < hashes.length - 1) throw invalidRev();
}

/** What a merge has done to the nodes it was given. `joined`: new ancestors may stand behind their children. */
type MergedInto = Omit<Merged, 'tree'> & { readonly joined: boolean };

/** Adds a history to nodes, in place. `known` has, for each revision of the path, its index among them, or -1. */
export function mergeInto(
  nodes: RevNode[],
  known: readonly number[],
  path: RevPath,
  info: RevInfo,
): MergedInto {
  const newest = known.findIndex((index) => index >= 0);
  if (newest < 0) {
    const by = nodes.length;
    for (const node of fromPath(path, info)) nodes.push(moved(node, by));
    return { outcome: 'new_branch', stored: true, superseded: [], joined: false };
  }
  const joint = known[newest]!;
  const continued = nodes[joint]!;
  const superseded: RevNode[] = [];
  const stored = newest > 0 || (!continued.leaf && continued.body === 0 && info.body !== 0);
  if (newest > 0) {
    if (continued.leaf) superseded.push(continued);
    grow(nodes, joint, path, newest, info);
  } else if (stored) nodes[joint] = withInfo(continued, info);

  const joined = joinAncestors(nodes, path, known, newest, superseded);
  return { outcome: outcomeOf(newest, continued, stored || joined), stored, superseded, joined };
}

function outcomeOf(newest: number, continued: RevNode, changed: boolean): MergeOutcome {
  if (newest > 0) return continued.leaf ? 'new_leaf' : 'new_branch';
  return changed ? 'internal_node' : 'unchanged';
}

/** For each revision of the path its index in the tree, or -1. One pass over the tree, however long the path is. */
function knownOf(tree: RevTree, { start, hashes }: RevPath): number[] {
  const known = new Array<number>(hashes.length).fill(-1);
  for (let i = 0; i < tree.length; i++) {
    const node = tree[i]!;
    const at = start - node.pos;
    if (at >= 0 && at < hashes.length && hashes[at] === node.hash) known[at] = i;
  }
  return known;
}

/** Puts the unknown newer end of the path, its first `count` revisions, on top of the node at `from`. */
function grow(
  nodes: RevNode[],
  from: number,
  { start, hashes }: RevPath,
  count: number,
  info: RevInfo,
): void {
  let at = from;
  for (let i = count - 1; i >= 0; i--)
    at = addChild(nodes, at, start - i, hashes[i]!, i === 0 ? info : unknownInfo);
}

/**
 * Follows the path down from its newest known revision. Where the tree knows no parent, the path's next revision
 * becomes it, be it new or the tip of another branch. Where the tree knows another parent, the rest is not believed.
 */
function joinAncestors(
  nodes: RevNode[],
  { start, hashes }: RevPath,
  known: readonly number[],
  newest: number,
  superseded: RevNode[],
): boolean {
  let joined = false;
  let at = known[newest]!;
  for (let i = newest + 1; i < hashes.length; i++) {
    const node = nodes[at]!;
    let parent = known[i]!;
    if (node.parent < 0) {
      joined = true;
      if (parent < 0) parent = nodes.push(makeNode(start - i, hashes[i]!, -1, false, 0, false)) - 1;
      else if (nodes[parent]!.leaf) {
        superseded.push(nodes[parent]!);
        nodes[parent] = asInner(nodes[parent]!);
      }
      nodes[at] = withParent(node, parent);
    } else if (node.parent !== parent) break;
    at = parent;
  }
  return joined;
}

/** Restores the order that new ancestors broke: a parent's generation is below its children's, so sorting does. */
export function parentsFirst(nodes: readonly RevNode[]): RevNode[] {
  const order = nodes.map((_, index) => index).sort((a, b) => nodes[a]!.pos - nodes[b]!.pos || a - b);
  const placeOf = new Array<number>(nodes.length);
  order.forEach((index, place) => (placeOf[index] = place));
  return order.map((index) => {
    const node = nodes[index]!;
    return node.parent < 0 ? node : withParent(node, placeOf[node.parent]!);
  });
}

const unknownInfo: RevInfo = { deleted: false, body: 0 };

export function addChild(nodes: RevNode[], parent: number, pos: number, hash: string, info: RevInfo): number {
  if (nodes[parent]!.leaf) nodes[parent] = asInner(nodes[parent]!);
  return nodes.push(makeNode(pos, hash, parent, info.deleted, info.body, true)) - 1;
}

const asInner = (node: RevNode): RevNode =>
  makeNode(node.pos, node.hash, node.parent, node.deleted, node.body, false);

const withInfo = (node: RevNode, info: RevInfo): RevNode =>
  makeNode(node.pos, node.hash, node.parent, info.deleted, info.body, node.leaf);

const withParent = (node: RevNode, parent: number): RevNode =>
  makeNode(node.pos, node.hash, parent, node.deleted, node.body, node.leaf);

const moved = (node: RevNode, by: number): RevNode =>
  node.parent < 0 ? node : withParent(node, node.parent + by);
