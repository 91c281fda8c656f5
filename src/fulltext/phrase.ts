import type { Work } from './work.js';

/** One term of a phrase, and where it stands in a document. */
export interface PhraseWord {
  /** Its place in the phrase. */
  at: number;
  /** In their order. */
  positions: readonly number[];
}

/**
 * How often a phrase stands in a document. Positions are compared less the place of their term in the phrase, so that those of
 * an exact phrase are the same number. With a slop, the numbers may differ by so much, and the closer ones count for more.
 */
export function phraseFrequency(words: readonly PhraseWord[], slop: number, work: Work): number {
  return slop === 0 ? exactFrequency(words, work) : sloppyFrequency(words, slop, work);
}

/** The rarest term says where a phrase may begin. */
function exactFrequency(words: readonly PhraseWord[], work: Work): number {
  const [rarest, ...others] = words.toSorted((a, b) => a.positions.length - b.positions.length);
  let starts: readonly number[] = rarest!.positions.map((position) => position - rarest!.at);
  work.spend(starts.length);
  for (const word of others) {
    starts = startsWith(starts, word, work);
    if (starts.length === 0) return 0;
  }
  return starts.length;
}

/** A few numbers are looked up one by one among this many times more. */
const seekFactor = 16;

/** Those of the starts behind which the word stands. */
function startsWith(starts: readonly number[], { at, positions }: PhraseWord, work: Work): readonly number[] {
  const isSought = starts.length * seekFactor < positions.length;
  work.spend(
    isSought ? starts.length * Math.ceil(Math.log2(positions.length)) : starts.length + positions.length,
  );
  const found: number[] = [];
  let i = 0;
  for (let j = 0; j < starts.length; j++) {
    const start = starts[j]!;
    if (isSought) i = firstFrom(positions, start + at);
    else while (i < positions.length && positions[i]! < start + at) i++;
    if (positions[i] === start + at) found.push(start);
  }
  return found;
}

function firstFrom(list: readonly number[], least: number): number {
  let low = 0;
  for (let high = list.length; low < high;) {
    const middle = (low + high) >> 1;
    if (list[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Moves on the term that stands first until one has no more positions; every narrow enough window counts once. */
function sloppyFrequency(words: readonly PhraseWord[], slop: number, work: Work): number {
  const all = words.reduce((sum, { positions }) => sum + positions.length, 0);
  work.spend(all * Math.ceil(Math.log2(words.length + 1)));
  const heap = words.map(({ at, positions }) => ({ at, positions, i: 0, value: positions[0]! - at }));
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i);
  let high = heap.reduce((most, { value }) => Math.max(most, value), -Infinity);
  let frequency = 0;
  let lastLow = -Infinity;
  for (;;) {
    const first = heap[0]!;
    const start = first.value;
    const width = high - start;
    if (width <= slop && start > lastLow) {
      frequency += 1 / (1 + width);
      lastLow = start;
    }
    if (++first.i >= first.positions.length) return frequency;
    first.value = first.positions[first.i]! - first.at;
    high = Math.max(high, first.value);
    sink(heap, 0);
  }
}

/** Moves what stands at a place of a heap down until the lesser ones are above it. */
function sink(heap: { value: number }[], place: number): void {
  const moved = heap[place]!;
  let at = place;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.value < heap[child]!.value) child++;
    if (heap[child]!.value >= moved.value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = moved;
}
