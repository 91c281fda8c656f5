import type { Collector } from './cursor.js';

/** Counts documents that match, and keeps none. */
export class MatchCounter implements Collector {
  readonly isFull = false;
  readonly isHeavy = false;
  matched = 0;

  take(): void {
    this.matched++;
  }
}
