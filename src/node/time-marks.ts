/** A moment, in seconds since 1970, and a sequence that the database had reached by then. */
export type TimeMark = readonly [seconds: number, seq: string];

/** Marks that are kept of a database. */
const marksMax = 60;

/**
 * Adds the newest mark. A list that is full loses the mark whose absence matters least: the one in the shortest gap, as a
 * share of its age. So marks of the last day stay close together, and those of years ago far apart.
 */
export function withMark(marks: readonly TimeMark[], newest: TimeMark): TimeMark[] {
  const all = [...marks, newest];
  while (all.length > marksMax) all.splice(leastNeeded(all), 1);
  return all;
}

/** Never the first or the last. */
function leastNeeded(marks: readonly TimeMark[]): number {
  const [now] = marks.at(-1)!;
  let least = 1;
  let leastShare = Infinity;
  for (let i = 1; i < marks.length - 1; i++) {
    const [before] = marks[i - 1]!;
    const [after] = marks[i + 1]!;
    const share = (after - before) / (now - before);
    if (share < leastShare) [least, leastShare] = [i, share];
  }
  return least;
}

/** The newest sequence that was reached at that time or before it: all later changes come after it. */
export function sequenceAt(marks: readonly TimeMark[], seconds: number): string {
  return marks.findLast(([at]) => at <= seconds)?.[1] ?? '0';
}
