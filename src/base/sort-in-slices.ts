import type { Runtime } from './runtime.js';

/** What is sorted at a stretch: it takes a few milliseconds, whatever is compared. */
const runLengthUsual = 4_096;

/** Sorts a list as `sort` does, and lets others run meanwhile. Where comparing is cheap, longer runs need fewer merges. */
export async function sortInSlices<T>(
  list: T[],
  compare: (a: T, b: T) => number,
  runtime: Runtime,
  runLength = runLengthUsual,
): Promise<T[]> {
  if (list.length <= runLength) return list.sort(compare);
  const slice = runtime.slice();
  let from: T[] = [];
  for (let at = 0; at < list.length; at += runLength) {
    for (const each of list.slice(at, at + runLength).sort(compare)) from.push(each);
    if (slice.isOver) await slice.next();
  }
  let to = new Array<T>(list.length);
  for (let width = runLength; width < list.length; width *= 2) {
    for (let low = 0; low < list.length; low += 2 * width)
      await merge(from, to, low, Math.min(low + width, list.length), Math.min(low + 2 * width, list.length));
    [from, to] = [to, from];
  }
  return from;

  async function merge(source: readonly T[], target: T[], low: number, middle: number, high: number) {
    let left = low;
    let right = middle;
    // What grows with time often is in order already.
    if (middle < high && compare(source[middle - 1]!, source[middle]!) <= 0) middle = right = high;
    for (let at = low; at < high; at++) {
      const isLeft = right >= high || (left < middle && compare(source[left]!, source[right]!) <= 0);
      target[at] = isLeft ? source[left++]! : source[right++]!;
      if ((at & 1_023) === 0 && slice.isOver) await slice.next();
    }
  }
}
