import type { Runtime } from '../base/runtime.js';
import type { Bytes } from '../base/bytes.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database, EndReason, Followers } from '../node/database.js';
import { currentPositions, followPositions, SequenceWriter, type Positions } from '../node/sequence.js';
import { ChangeReader } from './change-reader.js';
import type { ChangesView } from './changes-view.js';
import { Feed, type FeedHome, type FeedListener, type FeedOptions } from './feed.js';
import { SharedFeed } from './shared-feed.js';
import { gapOf } from './merge-changes.js';
import { countPending } from './pending.js';

/**
 * All feeds of one database. A commit wakes them at the end of the turn: each shared feed once, and those that rest alone each
 * for itself. As long as there are any, the database stays open.
 */
export class ChangeHub implements Followers, FeedHome {
  readonly #feeds = new Set<Feed>();
  /** Feeds that have caught up and are like no other. */
  readonly #resting = new Set<Feed>();
  readonly #sharedFeeds = new Map<string, SharedFeed>();
  /** Listeners for the next commit, or the end. */
  readonly #waiting = new Set<(ended: EndReason | undefined) => void>();
  #waking = false;

  private constructor(
    private readonly registry: DatabaseRegistry,
    private readonly database: Database,
  ) {}

  get runtime(): Runtime {
    return this.database.runtime;
  }

  static of(registry: DatabaseRegistry, database: Database): ChangeHub {
    if (database.followers instanceof ChangeHub) return database.followers;
    return new ChangeHub(registry, database);
  }

  /** A feed that begins with its first `resume`. */
  follow(options: FeedOptions, listener: FeedListener): Feed {
    const feed = new Feed(this, options, listener);
    this.#feeds.add(feed);
    this.database.followers = this;
    return feed;
  }

  /** Waits for the next commit, or for the signal; gives the reason where none will follow. */
  news(signal: AbortSignal): Promise<EndReason | undefined> {
    const { endReason } = this.database;
    if (endReason !== undefined) return Promise.resolve(endReason);
    return new Promise((resolve) => {
      const told = (ended?: EndReason): void => {
        signal.removeEventListener('abort', aborted);
        this.#waiting.delete(told);
        this.#leave();
        resolve(ended);
      };
      const aborted = (): void => told();
      signal.addEventListener('abort', aborted);
      this.#waiting.add(told);
      this.database.followers = this;
    });
  }

  wake(): void {
    if (this.#waking) return;
    this.#waking = true;
    this.runtime.defer(() => {
      this.#waking = false;
      for (const told of [...this.#waiting]) told(undefined);
      // A copy: one that is empty may be replaced at once.
      for (const shared of [...this.#sharedFeeds.values()]) void shared.run();
      for (const feed of [...this.#resting]) {
        this.#resting.delete(feed);
        feed.resume();
      }
    });
  }

  /** How many changes lie behind a place. */
  pending(after: Positions): Promise<number> {
    return countPending(this.database, after, []);
  }

  /** A number that is not exceeded by that, at once. */
  pendingMost(after: Positions): number {
    return gapOf({ after: followPositions(this.database, after), upTo: this.current() });
  }

  token(positions: Positions): Bytes {
    return new SequenceWriter(this.database, positions).token();
  }

  end(reason: EndReason): void {
    for (const feed of [...this.#feeds]) feed.end(reason);
    for (const told of [...this.#waiting]) told(reason);
  }

  recheck(): void {
    for (const feed of [...this.#feeds]) feed.listener.recheck();
  }

  current(): Positions {
    return currentPositions(this.database);
  }

  reader(view: ChangesView, start: Positions): ChangeReader {
    return new ChangeReader(this.registry, this.database, view, start);
  }

  rest(feed: Feed): void {
    if (!this.#share(feed)) this.#resting.add(feed);
  }

  forget(feed: Feed): void {
    this.#feeds.delete(feed);
    this.#resting.delete(feed);
    this.#leave();
  }

  #leave(): void {
    if (this.#feeds.size + this.#waiting.size === 0 && this.database.followers === this)
      this.database.followers = undefined;
  }

  #share(feed: Feed): boolean {
    const { shareKey, limit, view } = feed.options;
    if (shareKey === undefined || limit !== Infinity) return false;
    let shared = this.#sharedFeeds.get(shareKey);
    if (shared === undefined) {
      const reader = this.reader(view, feed.positions);
      shared = new SharedFeed(
        reader,
        () => this.current(),
        () => this.#rested(shareKey),
        this.runtime,
      );
      this.#sharedFeeds.set(shareKey, shared);
    }
    return shared.admit(feed, followPositions(this.database, feed.positions));
  }

  /** Admits feeds that caught up while the shared feed was delivering. */
  #rested(shareKey: string): void {
    const shared = this.#sharedFeeds.get(shareKey);
    if (shared === undefined) return;
    if (shared.size === 0) this.#sharedFeeds.delete(shareKey);
    for (const feed of this.#resting) {
      if (feed.options.shareKey === shareKey && this.#share(feed)) this.#resting.delete(feed);
    }
  }
}
