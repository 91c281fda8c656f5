/** Time as the rest of the code sees it, so that a test can put its own in place. */
export interface Clock {
  /** Milliseconds since 1970: for what is shown or stored. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start: for durations and deadlines. Never goes back. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
