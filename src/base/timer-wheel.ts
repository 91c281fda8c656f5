import type { Runtime, Timer } from './runtime.js';
/** A callback with a due time. */
export interface Due {
  /** Gives in how many milliseconds it is due again, or undefined for never. */
  due(now: number): number | undefined;
}

/** Times are rounded up to a multiple of this. */
const tickMs = 20;

/**
 * One timer for all who wait: thousands of idle feeds with heartbeats are thousands of entries in a few sets, and the
 * timer runs only when some of them are due. Nothing needs to be told of what happens in between; who is called and finds
 * that its time has not come says when to call again.
 */
export class TimerWheel {
  readonly #slots = new Map<number, Set<Due>>();
  readonly #slotOf = new Map<Due, number>();
  #timer: Timer | undefined;
  #next = Infinity;

  /** One whose call throws is not called again; the others are. */
  constructor(
    private readonly onError: (error: unknown) => void,
    readonly runtime: Runtime,
  ) {}

  add(waiting: Due, ms: number): void {
    this.remove(waiting);
    const now = this.runtime.monotonicMs();
    const slot = Math.max(Math.floor(now / tickMs) + 1, Math.ceil((now + ms) / tickMs));
    let slots = this.#slots.get(slot);
    if (slots === undefined) this.#slots.set(slot, (slots = new Set()));
    slots.add(waiting);
    this.#slotOf.set(waiting, slot);
    if (slot < this.#next) this.#set(slot);
  }

  remove(waiting: Due): void {
    const slot = this.#slotOf.get(waiting);
    if (slot === undefined) return;
    this.#slotOf.delete(waiting);
    const slots = this.#slots.get(slot)!;
    slots.delete(waiting);
    if (slots.size === 0) this.#slots.delete(slot);
    if (this.#slots.size === 0) this.#set(Infinity);
  }

  #set(slot: number): void {
    this.#timer?.cancel();
    this.#next = slot;
    if (slot === Infinity) return;
    const ms = Math.max(0, slot * tickMs - this.runtime.monotonicMs());
    // Heartbeats alone must not keep a process alive.
    this.#timer = this.runtime.setIdleTimer(() => this.#run(), ms);
  }

  #run(): void {
    const now = this.runtime.monotonicMs();
    for (const slot of [...this.#slots.keys()].filter((each) => each * tickMs <= now)) {
      for (const waiting of this.#slots.get(slot) ?? []) {
        this.remove(waiting);
        try {
          const ms = waiting.due(now);
          if (ms !== undefined) this.add(waiting, ms);
        } catch (error) {
          this.onError(error);
        }
      }
    }
    let next = Infinity;
    for (const slot of this.#slots.keys()) next = Math.min(next, slot);
    this.#set(next);
  }
}
