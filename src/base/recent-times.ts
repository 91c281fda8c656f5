const latestMax = 1_024;

/** Durations, or other amounts: how many there were, their sum, and the latest of them, for quantiles. */
export class RecentTimes {
  /** The oldest is overwritten; their order does not matter. */
  readonly latest: number[] = [];
  count = 0;
  sum = 0;

  observe(amount: number): void {
    this.latest[this.count++ % latestMax] = amount;
    this.sum += amount;
  }
}
