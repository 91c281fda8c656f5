/**
 * How often a phrase stands in a document. The positions of each term come less their place in the phrase, so that those of
 * an exact phrase are the same number. With a slop, the numbers may differ by so much, and the closer ones count for more.
 */
export function phraseFrequency(positions: readonly (readonly number[])[], slop: number): number {
  const [first, ...others] = positions as [readonly number[], ...(readonly number[])[]];
  if (slop === 0) {
    const sets = others.map((list) => new Set(list));
    return first.filter((at) => sets.every((set) => set.has(at))).length;
  }
  return sloppyFrequency(positions, slop);
}

/** Moves on the term that stands first until one has no more positions; every narrow enough window counts once. */
function sloppyFrequency(positions: readonly (readonly number[])[], slop: number): number {
  const at = positions.map(() => 0);
  let frequency = 0;
  let lastLow = -Infinity;
  for (;;) {
    let low = 0;
    let high = 0;
    for (let i = 1; i < positions.length; i++) {
      if (positions[i]![at[i]!]! < positions[low]![at[low]!]!) low = i;
      if (positions[i]![at[i]!]! > positions[high]![at[high]!]!) high = i;
    }
    const start = positions[low]![at[low]!]!;
    const width = positions[high]![at[high]!]! - start;
    if (width <= slop && start > lastLow) {
      frequency += 1 / (1 + width);
      lastLow = start;
    }
    if (++at[low]! >= positions[low]!.length) return frequency;
  }
}
