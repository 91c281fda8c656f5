/**
 * Long work on one thread is done in slices: after each, the event loop turns once, so that requests, timers and commits are
 * served in between. A `setImmediate` for each job alone would not do: with a hundred jobs at work, one turn of the loop would
 * run a slice of every one of them. So the jobs share a budget for each turn; those beyond it wait for the next turn, in the
 * order in which they came.
 *
 * Awaiting a socket's `drain` or any other promise is no substitute. A write that the kernel accepts at once is drained in the
 * same turn, and a reader that is fast enough would keep the loop from ever turning.
 */

/** How long one slice of work lasts, and about how long all of them together last in one turn of the loop. */
export const sliceMs = 8;

const waiting: (() => void)[] = [];
let turnEndsAt: number | undefined;

/** Resolves in a later turn of the event loop, in which there is time for a slice of work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    setImmediate(runNext);
  });
}

function runNext(): void {
  const now = performance.now();
  if (turnEndsAt === undefined) {
    turnEndsAt = now + sliceMs;
    // Queued before anything else that waits for the next turn, and so the first to run there.
    setImmediate(endTurn);
  } else if (now > turnEndsAt) {
    setImmediate(runNext);
    return;
  }
  waiting.shift()!();
}

function endTurn(): void {
  turnEndsAt = undefined;
}

/** How long requests are served as they come in within one turn of the loop. */
const requestsMs = 16;

let requestsEndAt: number | undefined;

/**
 * Whether the requests that this turn has served took so long that the next one had better wait for a later turn. A hundred
 * connections may become readable at once, and what each of them asks for may take milliseconds.
 */
export function isTurnFull(): boolean {
  if (requestsEndAt !== undefined) return performance.now() > requestsEndAt;
  requestsEndAt = performance.now() + requestsMs;
  setImmediate(endRequests);
  return false;
}

function endRequests(): void {
  requestsEndAt = undefined;
}

/** The time that a job may take before it has to let others run. */
export class TimeSlice {
  #endsAt = performance.now() + sliceMs;

  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets others run. Asked only where `isOver`, so that no promise is made for nothing. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endsAt = performance.now() + sliceMs;
  }
}

/** The same as `map`, for lists that take longer than others can wait. */
export async function inSlices<T, R>(list: readonly T[], make: (each: T) => R): Promise<R[]> {
  const slice = new TimeSlice();
  const made: R[] = [];
  for (const each of list) {
    made.push(make(each));
    if (slice.isOver) await slice.next();
  }
  return made;
}

/** Does work that is divided into small steps, and gives its result. */
export async function finishInSlices<R>(steps: Generator<void, R>): Promise<R> {
  const slice = new TimeSlice();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (slice.isOver) await slice.next();
  }
}
