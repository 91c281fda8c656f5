import { compareRevs } from './rev.js';
import type { RevNode, RevTree } from './tree.js';

/**
 * The leaves in the order in which CouchDB lists them by `_bulk_get`: tree by tree, the one with the latest root first, and in
 * each tree branch by branch, in the order of revisions.
 */
export function leavesByBranch(tree: RevTree): RevNode[] {
  const children = new Map<number, number[]>();
  for (const [i, { parent }] of tree.entries()) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [i]);
    else siblings.push(i);
  }
  const ordered = (parent: number): number[] =>
    (children.get(parent) ?? []).sort((a, b) => compareRevs(tree[a]!, tree[b]!));
  const list: RevNode[] = [];
  // The last one on the stack comes first.
  const stack = ordered(-1);
  while (stack.length > 0) {
    const at = stack.pop()!;
    if (tree[at]!.leaf) list.push(tree[at]!);
    else for (const child of ordered(at).reverse()) stack.push(child);
  }
  return list;
}
