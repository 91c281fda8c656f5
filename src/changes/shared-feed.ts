import type { Runtime } from '../base/runtime.js';
import type { Positions } from '../node/sequence.js';
import { samePlace, type Company, type Feed } from './feed.js';
import type { ChangeReader, Piece } from './change-reader.js';

/** After a piece was handed to all, others have half the time that it took, but not more than this. */
const restMsMax = 50;

/**
 * Feeds that show the same rows and have caught up. What a commit brings is read and written once and handed to all;
 * a feed without room for it continues alone, and may rejoin.
 */
export class SharedFeed implements Company {
  readonly #members = new Set<Feed>();
  #running = false;
  /** Behind all that was handed out; the reader may be ahead. */
  #place: Positions;

  constructor(
    private readonly reader: ChangeReader,
    private readonly current: () => Positions,
    /** Called when the shared feed has caught up, or is empty. */
    private readonly onRest: () => void,
    private readonly runtime: Runtime,
  ) {
    this.#place = [...reader.positions];
  }

  get positions(): Positions {
    return this.#place;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Takes a feed in if its place, by the shards there are now, is that of the others. */
  admit(feed: Feed, place: Positions): boolean {
    if (this.#running || !samePlace(place, this.#place)) return false;
    this.#members.add(feed);
    feed.join(this);
    return true;
  }

  leave(feed: Feed): void {
    this.#members.delete(feed);
    if (this.#members.size === 0 && !this.#running) this.onRest();
  }

  /** Hands out what has come. */
  async run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#members.size > 0 && (await this.#step()));
      for (const feed of this.#members) feed.listener.caughtUp();
    } catch (error) {
      for (const feed of this.#members) feed.fail(error);
    } finally {
      this.#running = false;
      this.onRest();
    }
  }

  async #step(): Promise<boolean> {
    const started = this.runtime.monotonicMs();
    const piece = await this.reader.next(Infinity, this.current());
    const place = [...this.reader.positions];
    if (piece !== undefined && piece.rows > 0) await this.#hand(piece, place);
    this.#place = place;
    if (piece === undefined) return false;
    await this.#pause(Math.min(restMsMax, (this.runtime.monotonicMs() - started) / 2));
    return true;
  }

  /** The shared position moves on once all feeds have the piece: one that leaves before may get it again, and misses nothing. */
  async #hand(piece: Piece, after: Positions): Promise<void> {
    const slice = this.runtime.slice();
    for (const feed of this.#members) {
      const { listener } = feed;
      const fits = listener.room >= piece.rows;
      if (fits) listener.send(piece);
      // Removed directly, not by `leave`: a delivery is in progress.
      if ((!fits || listener.room <= 0) && this.#members.delete(feed)) feed.part(fits ? after : this.#place);
      if (!slice.isOver) continue;
      await this.#pause(0);
      slice.restart();
    }
  }

  /** Yields for a turn at least, so that thousands of feeds leave time for writes. */
  #pause(ms: number): Promise<void> {
    return ms < 2 ? this.runtime.nextTurn() : this.runtime.sleep(ms);
  }
}
