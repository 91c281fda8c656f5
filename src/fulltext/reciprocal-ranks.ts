/** Weakens the difference between the first ranks; the usual value. */
const rankOffset = 60;

/** Merges ranked lists: what stands at rank r of a list gets 1 / (60 + r) for it, counted from 1. */
export function reciprocalRanks(lists: readonly (readonly number[])[]): Map<number, number> {
  const scores = new Map<number, number>();
  for (const list of lists)
    for (const [i, item] of list.entries())
      scores.set(item, (scores.get(item) ?? 0) + 1 / (rankOffset + i + 1));
  return scores;
}
