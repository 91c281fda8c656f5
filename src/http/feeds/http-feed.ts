import { type Bytes } from '../../base/bytes.js';
import type { ServerResponse } from 'node:http';
import type { Due, TimerWheel } from '../../base/timer-wheel.js';
import type { Piece } from '../../changes/change-reader.js';
import type { Feed, FeedListener } from '../../changes/feed.js';
import type { Metrics } from '../metrics/metrics.js';
import type { FeedForm } from './feed-form.js';
import { directSocket, writeChunk } from './raw-chunk.js';

export interface HttpFeedOptions {
  form: FeedForm;
  /** Ends with the first rows. */
  once: boolean;
  timeout: number;
  /** Whether that time starts again with everything that is sent. */
  timeoutIsIdle: boolean;
  heartbeat: number | undefined;
  wheel: TimerWheel;
  metrics: Metrics;
  /** Throws where the one who listens must not any more. */
  recheck: () => Promise<void>;
  /** Gives the members with which the answer ends. */
  summary: (feed: Feed, skipExactCount: boolean) => Promise<Bytes>;
  onError: (error: unknown) => void;
}

/** A client that takes nothing cannot be told that the server is closing. */
const closeGraceMs = 1_000;

/** A feed as the answer to a request. The client's socket tells how much it takes; nothing waits in memory beyond that. */
export class HttpFeed implements FeedListener, Due {
  room = Infinity;
  #feed!: Feed;
  #sentRows = false;
  #lastSent: number;
  #finished = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly options: HttpFeedOptions,
  ) {
    this.#lastSent = options.wheel.runtime.monotonicMs();
  }

  begin(feed: Feed): void {
    this.#feed = feed;
    const { wheel, heartbeat, timeout, form, metrics } = this.options;
    metrics.feeds++;
    this.response.on('close', () => this.#stop());
    if (form.opening === '') this.response.flushHeaders();
    else this.response.write(form.opening);
    wheel.add(this, heartbeat ?? timeout);
    feed.resume();
  }

  send(piece: Piece): void {
    const { form, timeoutIsIdle, heartbeat } = this.options;
    if (timeoutIsIdle || heartbeat !== undefined) this.#lastSent = this.options.wheel.runtime.monotonicMs();
    // In a list the first row has no comma before it.
    const isFirst = form.name === 'list' && !this.#sentRows;
    this.#sentRows = true;
    const bytes = isFirst ? piece.bytes.subarray(1) : piece.bytes;
    const socket = directSocket(this.response);
    if (socket === undefined ? this.response.write(bytes) : writeChunk(socket, bytes)) return;
    this.room = 0;
    (socket ?? this.response).once('drain', () => {
      // A fast client has room again in the same turn of the loop: others come first.
      void this.options.wheel.runtime.nextTurn().then(() => {
        this.room = Infinity;
        this.#feed.resume();
      });
    });
  }

  caughtUp(): void {
    if (this.options.once && this.#sentRows) this.#finish();
  }

  ended(reason: Parameters<FeedListener['ended']>[0]): void {
    this.#finish(reason !== 'limit');
  }

  failed(error: unknown): void {
    this.options.onError(error);
    this.response.destroy();
  }

  recheck(): void {
    this.options.recheck().catch(() => this.#finish());
  }

  due(now: number): number | undefined {
    const { heartbeat, timeout, form } = this.options;
    const left = this.#lastSent + (heartbeat ?? timeout) - now;
    if (left > 0) return left;
    if (heartbeat === undefined) return void this.#finish();
    if (this.room > 0 && !this.#feed.inRow) this.response.write(form.heartbeat);
    this.#lastSent = now;
    return heartbeat;
  }

  /** Says where the feed ended, and ends the answer. */
  #finish(skipExactCount = false): void {
    if (this.#finished) return;
    this.#stop();
    if (skipExactCount)
      this.options.wheel.runtime.setIdleTimer(
        () => this.response.writableFinished || this.response.destroy(),
        closeGraceMs,
      );
    if (this.#feed.inRow) return void this.response.destroy();
    const { summary, form } = this.options;
    summary(this.#feed, skipExactCount)
      .then((members) => this.response.end(form.ending(members), 'latin1'))
      .catch((error: unknown) => this.failed(error));
  }

  #stop(): void {
    if (!this.#finished) this.options.metrics.feeds--;
    this.#finished = true;
    this.options.wheel.remove(this);
    this.#feed.close();
  }
}
