import { Runtime, type Timer } from '../../src/base/runtime.js';
import type { Random } from '../model/random.js';

/** Later timers do not overtake work that is waiting. */
const nearMs = 20;

interface Event {
  at: number;
  work: () => void;
}

/** Virtual time that all runtimes of a run share. */
export class SimulatedClock {
  monotonicMs = 1_000;
  /** What is to be added for the time of day: it jumps. */
  wallOffsetMs = Date.UTC(2026, 0, 1);

  constructor(private readonly random: Random) {}

  /** Time passes while something works, sometimes so much that a slice is over. */
  tick(): number {
    if (this.random.oneIn(12)) this.monotonicMs += this.random.below(20);
    return this.monotonicMs;
  }

  jump(): void {
    this.wallOffsetMs += (this.random.below(2) === 0 ? -1 : 1) * this.random.below(3 * 86_400_000);
  }
}

/**
 * The runtime of one life of a server, from its start to its crash: nothing happens in it unless `step` is called. What is
 * due happens in an order that the seed decides; after a crash nothing happens any more.
 */
export class SimulatedRuntime extends Runtime {
  readonly #deferred: (() => void)[] = [];
  #timers: Event[] = [];
  #dead = false;

  constructor(
    private readonly clock: SimulatedClock,
    private readonly random: Random,
  ) {
    super();
  }

  now(): number {
    return this.clock.tick() + this.clock.wallOffsetMs;
  }

  monotonicMs(): number {
    return this.clock.tick();
  }

  defer(work: () => void): void {
    if (!this.#dead) this.#deferred.push(work);
  }

  setTimer(work: () => void, ms: number): Timer {
    const event = { at: this.clock.monotonicMs + Math.max(0, ms), work };
    if (!this.#dead) this.#timers.push(event);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((each) => each !== event);
      },
    };
  }

  setIdleTimer(work: () => void, ms: number): Timer {
    return this.setTimer(work, ms);
  }

  randomBytes(count: number): Buffer {
    return Buffer.from(this.random.bytes(count), 'latin1');
  }

  /** Lets one thing happen, and all that follows from it at once; false where nothing is due within `withinMs`. */
  async step(withinMs = Infinity): Promise<boolean> {
    const event = this.#next(withinMs);
    if (event === undefined) return false;
    event();
    await settled();
    return true;
  }

  crash(): void {
    this.#dead = true;
    this.#deferred.length = 0;
    this.#timers = [];
  }

  /** Turns of the loop and timers take their turns by lot, each in its own order. */
  #next(withinMs: number): (() => void) | undefined {
    let first: Event | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer;
    const leftMs = first === undefined ? Infinity : first.at - this.clock.monotonicMs;
    const isNear = leftMs <= Math.min(nearMs, withinMs);
    if (this.#deferred.length > 0 && (!isNear || !this.random.oneIn(4))) return this.#deferred.shift();
    if (first === undefined || leftMs > withinMs) return undefined;
    this.clock.monotonicMs = Math.max(this.clock.monotonicMs, first.at);
    this.#timers = this.#timers.filter((each) => each !== first);
    return first.work;
  }
}

/** What the process itself takes time for. */
const waitedFor = new Set<Promise<unknown>>();

/** Has the simulation stand still until the work is done, so that its real duration has no part in what happens. */
export function outside<T>(work: Promise<T>): Promise<T> {
  const done = work.then(
    () => undefined,
    () => undefined,
  );
  waitedFor.add(done);
  void done.then(() => waitedFor.delete(done));
  return work;
}

/** Promises and ticks that are due now have been served when this resolves. Real time has no part in it. */
async function settled(): Promise<void> {
  do {
    await Promise.all(waitedFor);
    await new Promise((resolve) => setImmediate(resolve));
  } while (waitedFor.size > 0);
}
