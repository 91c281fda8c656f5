import { LogTruncated, type LogEntry } from './log.js';

/** Commands that wait for one follower at most. */
const waitingMax = 10_000;

/**
 * The readers of a log that keeps no commands once they are durable. They can start where the log ends, and see every
 * command from there on.
 */
export class Followers<C> {
  readonly #followers = new Set<Follower<C>>();

  /** Hands over commands that have just become durable. */
  deliver(entries: readonly LogEntry<C>[]): void {
    for (const follower of this.#followers) follower.take(entries);
  }

  follow(after: number, position: number): AsyncIterableIterator<LogEntry<C>> {
    if (after < position) throw new LogTruncated(after, `its commands up to ${position} are no longer kept`);
    const follower = new Follower<C>(after, () => this.#followers.delete(follower));
    this.#followers.add(follower);
    return follower;
  }

  get isEmpty(): boolean {
    return this.#followers.size === 0;
  }
}

class Follower<C> implements AsyncIterableIterator<LogEntry<C>> {
  readonly #entries: LogEntry<C>[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #truncated: LogTruncated | undefined;

  constructor(
    private after: number,
    private readonly onEnd: () => void,
  ) {}

  take(entries: readonly LogEntry<C>[]): void {
    for (const entry of entries) if (entry.position > this.after) this.#entries.push(entry);
    if (this.#entries.length > waitingMax) {
      this.#truncated = new LogTruncated(this.after, 'the follower is too slow');
      this.#entries.length = 0;
      this.onEnd();
    }
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<LogEntry<C>>> {
    while (this.#entries.length === 0 && !this.#ended && this.#truncated === undefined)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#truncated !== undefined) throw this.#truncated;
    const entry = this.#entries.shift();
    if (entry === undefined) return { done: true, value: undefined };
    this.after = entry.position;
    return { done: false, value: entry };
  }

  return(): Promise<IteratorResult<LogEntry<C>>> {
    this.#ended = true;
    this.#entries.length = 0;
    this.onEnd();
    this.#wake?.();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
