import type { Followed } from './status.js';

interface NodeState {
  isStarted: boolean;
  isRemoved: boolean;
  isStale: boolean;
}

export const removedProblem = 'this node was removed from the cluster; it counts again when it is restarted';

/** Why a node should not be asked, if so. */
export function problemOf(
  { isStarted, isRemoved, isStale }: NodeState,
  followed: Iterable<Pick<Followed, 'replica'>>,
): string | undefined {
  if (!isStarted) return 'this node is opening its stores, and follows the streams when it has';
  if (isRemoved) return removedProblem;
  for (const { replica } of followed) {
    const { lost, stuck } = replica;
    if (lost !== undefined || stuck !== undefined) return lost?.message ?? stuck;
  }
  return isStale ? 'this node is cut off from the cluster' : undefined;
}
