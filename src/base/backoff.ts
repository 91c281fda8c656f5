/** How long to wait after failures. */
export interface Backoff {
  /** After the first failure. */
  firstMs: number;
  /** After any number of them. */
  longestMs: number;
}

/** The time to wait before the next attempt: twice as long after each failure in a row. `failures` is at least 1. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1));
}
