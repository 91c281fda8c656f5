import type { Runtime, Timer } from './runtime.js';
/**
 * A budget bounds the bytes that many requests hold in memory together. Each takes a share before it holds them and
 * releases it afterwards. Where there is no room, it waits for a while, the smaller before the larger; then it is refused.
 *
 * A client that has stopped sending or reading keeps its share only as long as there is room for the others: of the shares
 * that have an `end`, the one without progress for longest is ended first, once it has been looked at often enough. Looks
 * are counted, and not milliseconds, because the server may have been too busy to see what the client has sent.
 */

/** How often a share is found without progress before it may be ended. */
const idleLooksMax = 40;

interface Waiting {
  share: Share;
  bytes: number;
  resolve: (isTaken: boolean) => void;
  until: number;
}

export class Budget {
  /** Bytes that are taken. */
  used = 0;
  /** How often there was no room at once. */
  waits = 0;
  readonly #ending = new Set<Share>();
  readonly #waiting: Waiting[] = [];
  #timer: Timer | undefined;
  #looks = 0;

  constructor(
    private readonly bytesMax: () => number,
    private readonly waitMs: number,
    private readonly runtime: Runtime,
    private readonly lookMs = 250,
  ) {}

  /** A share of nothing yet. `end` ends what holds it, because the client has stopped and others need the room. */
  share(end?: () => void): Share {
    return new Share(this, end);
  }

  /** Takes bytes for a share if there is room now. */
  tryTake(share: Share, bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#makeRoom(bytes)) {
      this.waits++;
      return false;
    }
    this.#give(share, bytes);
    return true;
  }

  /** Takes bytes for a share when there is room; false where that takes too long. */
  take(share: Share, bytes: number): boolean | Promise<boolean> {
    if (this.tryTake(share, bytes)) return true;
    return new Promise((resolve) => {
      this.#waiting.push({ share, bytes, resolve, until: this.runtime.monotonicMs() + this.waitMs });
      this.#waiting.sort((a, b) => a.bytes - b.bytes);
      this.#watch();
    });
  }

  /** For shares only: bytes are free again. */
  released(share: Share, bytes: number): void {
    this.#ending.delete(share);
    this.used -= bytes;
    if (this.#waiting.length > 0) this.#admit();
  }

  /** For shares only: the one that has made progress is the last to be ended. */
  moved(share: Share): void {
    share.movedAtLook = this.#looks;
    if (this.#ending.delete(share)) this.#ending.add(share);
  }

  /** For shares only: it is at work now, and must not be ended. */
  settled(share: Share): void {
    this.#ending.delete(share);
  }

  #give(share: Share, bytes: number): void {
    this.used += bytes;
    share.taken(bytes);
    if (share.end !== undefined) this.#ending.add(share);
    if (this.used > this.bytesMax() / 2) this.#watch();
  }

  /** Looks at the shares as long as there is little room. */
  #watch(): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.runtime.setIdleTimer(() => {
      this.#timer = undefined;
      this.#looks++;
      this.#admit();
      if (this.#waiting.length > 0 || this.used > this.bytesMax() / 2) this.#watch();
    }, this.lookMs);
  }

  /** What is larger than the whole budget may have it alone. */
  #fits(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.bytesMax();
  }

  #makeRoom(bytes: number): boolean {
    if (this.#fits(bytes)) return true;
    for (const share of this.#ending) {
      if (this.#looks - share.movedAtLook < idleLooksMax) break;
      share.release();
      share.end!();
      if (this.#fits(bytes)) return true;
    }
    return false;
  }

  #admit(): void {
    const now = this.runtime.monotonicMs();
    for (const waiting of this.#waiting.splice(0)) {
      const { share, bytes, resolve, until } = waiting;
      const isTaken = !share.isReleased && this.#makeRoom(bytes);
      if (!isTaken && !share.isReleased && now < until) {
        this.#waiting.push(waiting);
        continue;
      }
      if (isTaken) this.#give(share, bytes);
      resolve(isTaken);
    }
  }
}

/** What one request holds of a budget. */
export class Share {
  #bytes = 0;
  /** By the budget's count of looks. */
  movedAtLook = 0;
  isReleased = false;

  constructor(
    private readonly budget: Budget,
    public end: (() => void) | undefined,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes more, if there is room at once. */
  tryGrow(bytes: number): boolean {
    return this.budget.tryTake(this, bytes);
  }

  /** Takes more, when there is room. */
  grow(bytes: number): boolean | Promise<boolean> {
    return this.budget.take(this, bytes);
  }

  /** The client has sent or taken something. */
  moved(): void {
    this.budget.moved(this);
  }

  /** The client is not waited for any more. */
  settle(): void {
    this.end = undefined;
    this.budget.settled(this);
  }

  /** For the budget only. */
  taken(bytes: number): void {
    this.#bytes += bytes;
    this.moved();
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.budget.released(this, this.#bytes);
    this.#bytes = 0;
  }
}
