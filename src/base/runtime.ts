import { randomBytes } from 'node:crypto';
import { keepTickShape } from './tick-shape.js';
import { TimeSlice, Turns } from './turns.js';

/** A call that is due at some time. */
export interface Timer {
  cancel(): void;
}

/**
 * What a server takes from the machine beside its inputs and its disk: time, timers, turns of the event loop, random
 * numbers. Everything that needs one of them is given a runtime; nothing reaches for the globals. So a server's behaviour is
 * a function of its inputs, its disk and its runtime, and a simulation replays it from a seed (`test/simulation`).
 */
export abstract class Runtime {
  readonly #turns = new Turns(this);

  /** Milliseconds since 1970. May jump in both directions: for what people read and what is compared with other machines. */
  abstract now(): number;
  /** Milliseconds since some moment. Never goes back: for durations. */
  abstract monotonicMs(): number;
  abstract setTimer(work: () => void, ms: number): Timer;
  /** The same, for a timer that does not keep the process alive. */
  abstract setIdleTimer(work: () => void, ms: number): Timer;
  /** Calls `work` in the next turn of the event loop. */
  abstract defer(work: () => void): void;
  abstract randomBytes(count: number): Buffer;

  date(): Date {
    return new Date(this.now());
  }

  /** Seconds since 1970. */
  nowSeconds(): number {
    return Math.floor(this.now() / 1000);
  }

  randomHex(bytes: number): string {
    return this.randomBytes(bytes).toString('hex');
  }

  /** A random integer from 0 to below `limit`, which is at most 2^32. */
  randomBelow(limit: number): number {
    return Math.floor((this.randomBytes(4).readUInt32LE() / 2 ** 32) * limit);
  }

  /** A random UUID in the usual form. */
  uuid(): string {
    const bytes = this.randomBytes(16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** Calls `work` again and again. */
  setRepeating(work: () => void, ms: number): Timer {
    return repeating((again) => this.setTimer(again, ms), work);
  }

  /** The same, for a timer that does not keep the process alive. */
  setIdleRepeating(work: () => void, ms: number): Timer {
    return repeating((again) => this.setIdleTimer(again, ms), work);
  }

  /** Resolves after that time; rejects when the signal is raised before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const abort = (): void => {
        timer.cancel();
        reject(signal!.reason as Error);
      };
      const timer = this.setTimer(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** The same, without keeping the process alive. */
  idleSleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.setIdleTimer(resolve, ms));
  }

  /** Resolves in a later turn of the event loop, in which there is time for a slice of work. */
  nextTurn(): Promise<void> {
    return this.#turns.next();
  }

  /** Whether the requests of this turn took so long that the next one had better wait for a later turn. */
  get isTurnFull(): boolean {
    return this.#turns.isFull;
  }

  /** Begins a slice of work. */
  slice(ms?: number): TimeSlice {
    return new TimeSlice(this, ms);
  }
}

function repeating(setTimer: (again: () => void) => Timer, work: () => void): Timer {
  const again = (): void => {
    timer = setTimer(again);
    work();
  };
  let timer = setTimer(again);
  return { cancel: () => timer.cancel() };
}

/** The real clock, timers and random numbers of the process. */
export class SystemRuntime extends Runtime {
  constructor() {
    super();
    keepTickShape();
  }

  now(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  setTimer(work: () => void, ms: number): Timer {
    const timer = setTimeout(work, ms);
    return { cancel: () => clearTimeout(timer) };
  }

  setIdleTimer(work: () => void, ms: number): Timer {
    const timer = setTimeout(work, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  }

  defer(work: () => void): void {
    setImmediate(work);
  }

  randomBytes(count: number): Buffer {
    return randomBytes(count);
  }
}
