import type { TimeSlice } from '../../base/turns.js';
import type { Child, Inner } from './inner.js';

/** A node that an update changes. */
export interface Visit {
  readonly id: number;
  readonly parent: Visit | undefined;
  /** Its place in the parent. */
  readonly index: number;
  /** The changes that belong into it. */
  readonly from: number;
  readonly to: number;
  /** The node itself, where it has children. */
  inner?: Inner;
  /** What becomes of its children, in order; those not named stay. */
  readonly replaced: Replacement[];
}

/** The children from `from` to below `to` give way to others. */
interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly children: readonly Child[];
}

/** Drops the visits of other leaves, and of the nodes above them that have none left. */
export async function keepOnly(
  levels: Visit[][],
  isKept: (leaf: Visit) => boolean,
  slice: TimeSlice,
): Promise<void> {
  let kept: Visit[] = [];
  for (const visit of levels[0]!) {
    if (isKept(visit)) kept.push(visit);
    if (slice.isOver) await slice.next();
  }
  for (let height = 0; height < levels.length; height++) {
    levels[height] = kept;
    const parents = new Set(kept.map(({ parent }) => parent));
    kept = levels[height + 1]?.filter((visit) => parents.has(visit)) ?? [];
  }
}

/** Visits of neighbours under one parent, together. */
export function runsOf(visits: readonly Visit[]): Visit[][] {
  const runs: Visit[][] = [];
  let last: Visit | undefined;
  for (const visit of visits) {
    if (last !== undefined && visit.parent === last.parent && visit.index === last.index + 1)
      runs.at(-1)!.push(visit);
    else runs.push([visit]);
    last = visit;
  }
  return runs;
}
