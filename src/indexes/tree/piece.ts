import type { Bytes } from '../../base/bytes.js';
import { Inner } from './inner.js';
import { LeafRow, type Leaf } from './leaf.js';
import type { NodeSource } from './node-source.js';
import type { Row, RowEnd } from './row.js';
import type { TreeNode } from './tree-node.js';
import type { TreePath } from './tree-path.js';

/** Beyond the marks of groups, among what nodes remember. */
const decodedMark = 501;

/** A few rows are sooner reduced again than remembered. */
const rememberedRowsMin = 4;

/**
 * A part of a range that lies within one node: neighbouring children of an inner node, of which the reductions are
 * stored, or neighbouring rows of a leaf. Exactly one of `reductions` and `rows` is there.
 *
 * `parsed` is a place for what the reader has made of it, such as the combined value. It lives in the decoded node, so
 * that the next query that meets the same piece (another range over the same subtrees, the same group) finds it there.
 * It is dropped with the node or earlier; what is there must never be changed.
 */
export class Piece {
  constructor(
    readonly node: TreeNode,
    readonly from: number,
    readonly to: number,
    private readonly reducer: number,
    private readonly source: NodeSource,
  ) {}

  get count(): number {
    return this.node.rowsBefore(this.to) - this.node.rowsBefore(this.from);
  }

  /** The stored reductions of subtrees, in the order of the tree. */
  get reductions(): readonly Bytes[] | undefined {
    const { node, from, to } = this;
    if (!(node instanceof Inner)) return undefined;
    const reductions: Bytes[] = [];
    for (let i = from; i < to; i++) reductions.push(node.reduction(i, this.reducer));
    return reductions;
  }

  /** The same, decoded. Those of a whole node are kept with it: the next range ends elsewhere in it. */
  decoded(decode: (reduction: Bytes) => unknown): readonly unknown[] {
    const { node, from, to, reducer } = this;
    const mark = decodedMark + reducer;
    let all = node.memo(0, node.length, mark) as unknown[] | undefined;
    if (all === undefined) {
      all = [];
      for (let i = 0; i < node.length; i++) all.push(decode((node as Inner).reduction(i, reducer)));
      node.remember(0, node.length, mark, all);
    }
    return from === 0 && to === node.length ? all : all.slice(from, to);
  }

  /** Rows of a leaf. */
  get rows(): readonly Row[] | undefined {
    const { node, from, to } = this;
    if (node instanceof Inner) return undefined;
    const rows: Row[] = [];
    for (let i = from; i < to; i++) rows.push(new LeafRow(node as Leaf, i, this.source));
    return rows;
  }

  /** The row at one end. */
  endRow(end: RowEnd): Row {
    let { node } = this;
    let at = end === 'first' ? this.from : this.to - 1;
    while (node instanceof Inner) {
      node = this.source.node(node.children[at]!);
      at = end === 'first' ? 0 : node.length - 1;
    }
    return new LeafRow(node as Leaf, at, this.source);
  }

  get parsed(): unknown {
    return this.node.memo(this.from, this.to, this.reducer);
  }

  set parsed(value: unknown) {
    if (!(this.node instanceof Inner) && this.to - this.from < rememberedRowsMin) return;
    this.node.remember(this.from, this.to, this.reducer, value);
  }
}

/** The row at one end of neighbouring pieces. */
export const endRowOf = (pieces: readonly Piece[], end: RowEnd): Row =>
  (end === 'first' ? pieces[0]! : pieces.at(-1)!).endRow(end);

/** The pieces between two places, the first before the second. */
export function piecesBetween(a: TreePath, b: TreePath, reducer: number, source: NodeSource): Piece[] {
  const pieces: Piece[] = [];
  const add = (node: TreeNode, from: number, to: number): void => {
    if (from < to) pieces.push(new Piece(node, from, to, reducer, source));
  };
  const parted = partingLevel(a, b);
  // An entry on the way up is covered as a whole where all below it was.
  let isWhole = true;
  for (let level = a.nodes.length - 1; level > parted; level--) {
    const node = a.nodes[level]!;
    const from = firstCovered(a, level, isWhole);
    isWhole = from === 0;
    if (!isWhole) add(node, from, node.length);
  }
  add(a.nodes[parted]!, firstCovered(a, parted, isWhole), b.entries[parted]!);
  for (let level = parted + 1; level < b.nodes.length; level++) add(b.nodes[level]!, 0, b.entries[level]!);
  return pieces;
}

/** The first level on which the places have different entries. */
function partingLevel(a: TreePath, b: TreePath): number {
  let level = 0;
  while (level < a.nodes.length - 1 && a.entries[level] === b.entries[level]) level++;
  return level;
}

/** The first entry that lies behind the place with all that is below it. */
function firstCovered(path: TreePath, level: number, isWhole: boolean): number {
  const isRow = level === path.nodes.length - 1;
  return path.entries[level]! + (isRow || isWhole ? 0 : 1);
}
