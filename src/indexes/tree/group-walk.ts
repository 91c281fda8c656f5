import { noBytes, type Bytes } from '../../base/bytes.js';
import { Inner } from './inner.js';
import { LeafRow, type Leaf } from './leaf.js';
import type { NodeSource } from './node-source.js';
import type { Piece } from './piece.js';
import type { Compare, Row } from './row.js';
import type { TreeNode } from './tree-node.js';

/** How rows belong together, and what they come to. */
export interface Grouping<State> {
  /** Tells apart what is remembered for several groupings of one tree: a small number, or undefined to remember nothing. */
  readonly mark: number | undefined;
  /** What the keys of a group have in common: keys of one group, and no others, compare as equal by it. */
  groupOf(key: Bytes): Bytes;
  /** As the group is shown, by the JSON text of its first key. */
  textOf(keyText: Bytes): Bytes;
  rows(rows: readonly Row[]): State;
  merge(states: readonly State[]): State;
  decode(reduction: Bytes): State;
}

/** A group, or what one node has of it. Others see it too: it must not be changed, but for what is left open here. */
export interface GroupPart<State> {
  readonly group: Bytes;
  readonly text: Bytes;
  readonly state: State;
  /** A place for what is made of the state. */
  shown?: unknown;
}

/** A list of groups is remembered where it is short, and much shorter than the rows it stands for. */
const rememberedMax = 256;
const rowsPerGroupMin = 4;

/**
 * Reduces group by group. Nodes that lie within one group are not read: what is stored of them is enough. What a whole
 * node comes to is kept with it, so that the next query finds it there, also when other parts of the tree have changed.
 */
export class GroupWalk<State> {
  constructor(
    private readonly source: NodeSource,
    private readonly compare: Compare,
    private readonly grouping: Grouping<State>,
  ) {}

  groups(pieces: readonly Piece[]): Iterable<GroupPart<State>> {
    const [first] = pieces;
    // Of a whole tree, the root may have remembered all.
    return pieces.length === 1 && isWhole(first!)
      ? this.#groupsOf(first!.node)
      : this.#whole(this.#parts(pieces));
  }

  /** Whole groups out of parts, of which those of one group follow each other. */
  *#whole(parts: Iterable<GroupPart<State>>): Generator<GroupPart<State>> {
    let open: GroupPart<State>[] = [];
    for (const part of parts) {
      if (open.length > 0 && this.compare(open[0]!.group, part.group) !== 0) {
        yield this.#joined(open);
        open = [];
      }
      open.push(part);
    }
    if (open.length > 0) yield this.#joined(open);
  }

  *#parts(pieces: readonly Piece[]): Generator<GroupPart<State>> {
    for (const piece of pieces)
      yield* isWhole(piece) ? this.#groupsOf(piece.node) : this.#entries(piece.node, piece.from, piece.to);
  }

  #joined(parts: readonly GroupPart<State>[]): GroupPart<State> {
    if (parts.length === 1) return parts[0]!;
    const { group, text } = parts[0]!;
    return { group, text, state: this.grouping.merge(parts.map(({ state }) => state)) };
  }

  #groupsOf(node: TreeNode): Iterable<GroupPart<State>> {
    const { mark } = this.grouping;
    const known = mark === undefined ? undefined : node.memo(0, node.length, mark);
    return known === undefined ? this.#remembering(node) : (known as readonly GroupPart<State>[]);
  }

  *#remembering(node: TreeNode): Generator<GroupPart<State>> {
    const { mark } = this.grouping;
    const rows = node.rowsBefore(node.length);
    const most = mark === undefined ? 0 : Math.min(rememberedMax, rows / rowsPerGroupMin);
    const list: GroupPart<State>[] = [];
    for (const group of this.#whole(this.#entries(node, 0, node.length))) {
      if (list.length <= most) list.push(group);
      yield group;
    }
    if (list.length <= most) node.remember(0, node.length, mark!, list);
  }

  #entries(node: TreeNode, from: number, to: number): Iterable<GroupPart<State>> {
    return node instanceof Inner ? this.#children(node, from, to) : this.#rows(node as Leaf, from, to);
  }

  *#children(node: Inner, from: number, to: number): Generator<GroupPart<State>> {
    const { groupOf, decode } = this.grouping;
    let group = groupOf(node.key(from));
    let before: Bytes | undefined;
    for (let i = from; i < to; i++) {
      const next = i + 1 < node.length ? groupOf(node.key(i + 1)) : undefined;
      if (next !== undefined && this.compare(group, next) === 0) {
        // All that is in it stands between two keys of one group.
        const isNew = before === undefined || this.compare(before, group) !== 0;
        const text = isNew ? this.#firstText(node.children[i]!) : noBytes;
        yield { group, text, state: decode(node.reduction(i, 0)) };
        before = group;
      } else {
        for (const part of this.#groupsOf(this.source.node(node.children[i]!))) {
          before = part.group;
          yield part;
        }
        group = next ?? group;
      }
    }
  }

  #firstText(id: number): Bytes {
    let node = this.source.node(id);
    while (node instanceof Inner) node = this.source.node(node.children[0]!);
    return this.grouping.textOf((node as Leaf).keyText(0));
  }

  *#rows(leaf: Leaf, from: number, to: number): Generator<GroupPart<State>> {
    const { groupOf, textOf } = this.grouping;
    for (let start = from; start < to;) {
      const group = groupOf(leaf.key(start));
      let end = start + 1;
      while (end < to && this.compare(group, groupOf(leaf.key(end))) === 0) end++;
      const rows: Row[] = [];
      for (let i = start; i < end; i++) rows.push(new LeafRow(leaf, i, this.source));
      yield { group, text: textOf(leaf.keyText(start)), state: this.grouping.rows(rows) };
      start = end;
    }
  }
}

const isWhole = ({ node, from, to }: Piece): boolean => from === 0 && to === node.length;
