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
export function keepOnly(levels: Visit[][], isKept: (leaf: Visit) => boolean): void {
  let kept = levels[0]!.filter(isKept);
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
