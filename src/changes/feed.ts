import type { Runtime } from '../base/runtime.js';
import type { EndReason } from '../node/database.js';
import type { Positions } from '../node/sequence.js';
import type { ChangeReader, Piece } from './change-reader.js';
import type { ChangesView } from './changes-view.js';

/** Who is told of changes. */
export interface FeedListener {
  /** How many rows it takes now. Where there is no room, the feed waits until `Feed.resume` is called. */
  readonly room: number;
  /** The bytes are shared with others. */
  send(piece: Piece): void;
  /** All there is has been sent; said again each time that more has come. */
  caughtUp(): void;
  /** The feed has come to its limit, or has to end. Nothing more is sent. */
  ended(reason: EndReason | 'limit'): void;
  failed(error: unknown): void;
  /** Rights may have changed: a listener without access closes its feed. */
  recheck(): void;
}

export interface FeedOptions {
  view: ChangesView;
  start: Positions;
  limit: number;
  /** Feeds with the same key show the same rows. Undefined for a feed that is like no other. */
  shareKey: string | undefined;
}

/** Several feeds at one place. */
export interface Company {
  readonly positions: Positions;
  leave(feed: Feed): void;
}

/** Where feeds live. */
export interface FeedHome {
  readonly runtime: Runtime;
  /** What is on disk. */
  current(): Positions;
  reader(view: ChangesView, start: Positions): ChangeReader;
  /** Takes a feed that has caught up: among others at the same place, or to wake it when more has come. */
  rest(feed: Feed): void;
  forget(feed: Feed): void;
}

/**
 * One listener's way through the changes. It reads on its own until it has caught up; then it rests, if it can in the
 * company of others, for whom changes are read and written once. A feed without room for a piece continues alone.
 */
export class Feed {
  #reader: ChangeReader | undefined;
  #company: Company | undefined;
  /** Behind all that the listener was given; the reader may be ahead. */
  #place: Positions;
  #left: number;
  #running = false;
  #closed = false;
  #inRow = false;

  constructor(
    private readonly home: FeedHome,
    readonly options: FeedOptions,
    readonly listener: FeedListener,
  ) {
    this.#left = options.limit;
    this.#place = options.start;
  }

  /** The place from which the listener can go on. */
  get positions(): Positions {
    return this.#company?.positions ?? this.#place;
  }

  /** Whether the listener was given the beginning of a row and not its end. */
  get inRow(): boolean {
    return this.#inRow;
  }

  /** Goes on alone: at the start, when there is room again, when more has come. */
  resume(): void {
    if (!this.#running && !this.#closed && this.#company === undefined) void this.#run();
  }

  /** No call to the listener follows. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#place = this.positions;
    this.#reader?.close();
    this.#reader = undefined;
    this.home.forget(this);
    this.#company?.leave(this);
    this.#company = undefined;
  }

  end(reason: EndReason | 'limit'): void {
    if (this.#closed) return;
    this.close();
    this.listener.ended(reason);
  }

  fail(error: unknown): void {
    if (this.#closed) return;
    this.close();
    this.listener.failed(error);
  }

  /** Joins others at the same place, where one reader serves all. */
  join(company: Company): void {
    this.#company = company;
    this.#reader = undefined;
  }

  /** Leaves them, to go on alone from a place. */
  part(place: Positions): void {
    this.#company = undefined;
    this.#place = place;
    this.resume();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (!this.#closed && (await this.#step())) await this.home.runtime.nextTurn();
    } catch (error) {
      this.fail(error);
    } finally {
      this.#running = false;
    }
  }

  /** Tells whether to go on at once. */
  async #step(): Promise<boolean> {
    if (this.#left <= 0) {
      this.end('limit');
      return false;
    }
    const room = Math.min(this.listener.room, this.#left);
    if (room <= 0) return false;
    const reader = (this.#reader ??= this.home.reader(this.options.view, this.#place));
    const piece = await reader.next(room, this.home.current());
    if (this.#closed) {
      reader.close();
      return false;
    }
    this.#inRow = piece !== undefined && piece.rows === 0 && (this.#inRow || piece.bytes.length > 0);
    if (!this.#inRow) this.#place = [...reader.positions];
    if (piece !== undefined) {
      this.#left -= piece.rows;
      if (piece.bytes.length > 0) this.listener.send(piece);
      return true;
    }
    if (!samePlace(this.#place, this.home.current())) return true;
    this.listener.caughtUp();
    if (!this.#closed) this.home.rest(this);
    return false;
  }
}

export function samePlace(a: Positions, b: Positions): boolean {
  // Places from before and after a split.
  if (a.length !== b.length) return false;
  for (let shard = 0; shard < a.length; shard++) if (a[shard] !== b[shard]) return false;
  return true;
}
