/** Items of several sources that are in order, in one order. Of items that are equal, those of earlier sources come first. */
export function* mergeSorted<T>(
  sources: readonly Iterable<T>[],
  compare: (a: T, b: T) => number,
): Generator<T> {
  const iterators = sources.map((source) => source[Symbol.iterator]());
  try {
    const heads = iterators.map((iterator) => iterator.next());
    for (;;) {
      let first = -1;
      for (let i = 0; i < heads.length; i++) {
        if (heads[i]!.done) continue;
        if (first < 0 || compare(heads[i]!.value as T, heads[first]!.value as T) < 0) first = i;
      }
      if (first < 0) return;
      yield heads[first]!.value as T;
      heads[first] = iterators[first]!.next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}

/** A sorted list that can be looked into without going through it. */
export interface SkippedList<T> {
  /** The item at that place, counted from 0 behind those that were passed over. */
  at(place: number): T | undefined;
  /** Passes over the next items, of which this is the last. */
  pass(count: number, last: T): void;
}

/**
 * Passes over the first items of several sorted lists, as if they were one list; gives how many there were.
 *
 * Of all lists the item is looked at that stands at the n-th part of what is left. Up to the smallest of these items there
 * are no more than what is left, so its list is moved behind it. This takes a number of looks that grows with the logarithm.
 */
export function skipMerged<T>(
  lists: readonly SkippedList<T>[],
  count: number,
  compare: (a: T, b: T) => number,
): number {
  let left = count;
  for (let step = stepOf(left, lists); left > 0;) {
    let first: { list: SkippedList<T>; item: T } | undefined;
    for (const list of lists) {
      const item = list.at(step - 1);
      if (item !== undefined && (first === undefined || compare(item, first.item) < 0))
        first = { list, item };
    }
    if (first === undefined && step === 1) break;
    if (first === undefined) {
      step = Math.ceil(step / 2);
      continue;
    }
    first.list.pass(step, first.item);
    left -= step;
    step = Math.min(step, stepOf(left, lists));
  }
  return count - left;
}

const stepOf = (left: number, lists: readonly unknown[]): number =>
  Math.max(1, Math.floor(left / lists.length));
