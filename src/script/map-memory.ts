import { BoundedMap } from '../base/bounded-map.js';
import type { MapGroup } from './map-plan.js';

const programsMax = 100;

/** What a thread remembers of the map functions that it has run. */
export class MapMemory {
  /** How the functions of a program are run, by its id: a matter of their texts alone. */
  readonly plans = new BoundedMap<string, readonly MapGroup[]>(programsMax);
  /**
   * Documents for which functions needed too much memory, by database and program, then by function. To try one costs
   * seconds, so there is an end to it: a function that has had enough of them is not run any more.
   */
  readonly exceeded = new BoundedMap<string, Map<number, Set<string>>>(programsMax);
}
