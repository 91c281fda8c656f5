import { nodeBytesMax } from './tree-node.js';

/** A node that is larger than it should be has no more entries than this, so that trees of huge keys stay flat. */
const entriesMin = 4;

/** How full nodes are where there are several: room for a few more rows before they have to be divided. */
const fillMax = 0.9;

/** A node with less than this in it is joined with a neighbour. */
export const sparseBytes = nodeBytesMax / 4;

/** Sizes of entries in their order. */
export interface Sizes {
  readonly sizes: readonly number[];
  /** How many bytes more an entry has where it begins a node. */
  readonly extras?: readonly number[];
  readonly total: number;
  /** Bytes of a node before its entries. */
  readonly headBytes: number;
}

/**
 * Where nodes end when the entries are put into as few as is good: all about as full as the others, or, where entries
 * are `appended` again and again, full ones and a last one for the rest, which the next entries will fill.
 */
export function divide({ sizes, extras, total, headBytes }: Sizes, appended: boolean): number[] {
  const room = nodeBytesMax - headBytes;
  const count = total <= room ? 1 : Math.ceil(total / (nodeBytesMax * fillMax));
  const goal = appended ? nodeBytesMax * fillMax : total / count;
  const ends: number[] = [];
  let begin = 0;
  let bytes = 0;
  let behind = 0;
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]!;
    const isEnough = appended ? bytes >= goal : behind >= goal * (ends.length + 1);
    if (i - begin >= entriesMin && (bytes + size > room || (count > 1 && isEnough))) {
      ends.push(i);
      begin = i;
      bytes = 0;
    }
    bytes += size;
    if (i === begin) bytes += extras?.[i] ?? 0;
    behind += size;
  }
  if (sizes.length > 0) ends.push(sizes.length);
  return ends;
}
