import type { Due, TimerWheel } from '../../base/timer-wheel.js';
import { RequestError } from '../../base/errors.js';
import type { Piece } from '../../changes/change-reader.js';
import type { Feed, FeedListener } from '../../changes/feed.js';
import type { Metrics } from '../metrics/metrics.js';
import type { FeedRequest } from './feed-request.js';
import type { SocketWriter } from './socket-writer.js';

/** More credit than this is as good as none left to give. */
const creditMax = 1e12;

export interface SocketFeedOptions {
  /** Undefined where the connection has this feed alone. */
  name: string | undefined;
  request: FeedRequest;
  credit: number;
  writer: SocketWriter;
  wheel: TimerWheel;
  metrics: Metrics;
  /** Refuses when the one who listens must not any more. */
  recheck: () => Promise<void>;
  /** The members that report the feed's position; without an exact count if there is no time for one. */
  summary: (feed: Feed, skipExactCount: boolean) => Promise<string>;
  /** The feed is over, and all has been said. */
  onEnd: () => void;
  onError: (error: unknown) => void;
}

/** A feed over a WebSocket. The client says how many rows it takes; the connection may be slower than that. */
export class SocketFeed implements FeedListener, Due {
  #feed!: Feed;
  #credit: number;
  #sentRows = false;
  #caughtUp = false;
  #lastSent: number;
  #over = false;
  readonly #name: string;

  constructor(private readonly options: SocketFeedOptions) {
    this.#credit = options.credit;
    this.#lastSent = options.wheel.runtime.monotonicMs();
    this.#name = options.name === undefined ? '' : `,"feed":${JSON.stringify(options.name)}`;
  }

  begin(feed: Feed): void {
    this.#feed = feed;
    const { wheel, request, metrics } = this.options;
    metrics.feeds++;
    const { heartbeat, timeout } = request;
    if ((heartbeat ?? timeout) !== Infinity) wheel.add(this, heartbeat ?? timeout);
    feed.resume();
  }

  /** The client takes so many rows more. */
  grant(rows: number): void {
    this.#credit = Math.min(creditMax, this.#credit + rows);
    this.resume();
  }

  resume(): void {
    this.#feed.resume();
  }

  get room(): number {
    return this.options.writer.hasRoom(this) ? this.#credit : 0;
  }

  /** In pieces rows begin with a comma; the first of a message has none before it. */
  send({ bytes, rows }: Piece): void {
    const { writer } = this.options;
    this.#lastSent = this.options.wheel.runtime.monotonicMs();
    this.#credit -= rows;
    this.#sentRows = true;
    const isBegun = this.#inRow;
    this.#inRow = rows === 0;
    const opening = isBegun ? none : Buffer.from(`{"type":"changes"${this.#name},"rows":[`);
    const body = isBegun ? bytes : bytes.subarray(1);
    const message = Buffer.concat([opening, body, this.#inRow ? none : closing]);
    if (isBegun || this.#inRow) writer.part(this, message, !this.#inRow);
    else writer.whole(message);
  }

  #inRow = false;

  caughtUp(): void {
    const { kind } = this.options.request;
    if (kind === 'normal') return this.finish('caught_up');
    if (kind === 'longpoll' && this.#sentRows) return this.finish('caught_up');
    if (this.#caughtUp) return;
    this.#caughtUp = true;
    this.#tell('caught_up', '', false).catch((error: unknown) => this.failed(error));
  }

  ended(reason: Parameters<FeedListener['ended']>[0]): void {
    this.finish(reason, reason !== 'limit');
  }

  failed(error: unknown): void {
    const { writer, onEnd, onError } = this.options;
    if (!(error instanceof RequestError)) onError(error);
    this.close();
    writer.message(errorMessage(error, this.#name));
    onEnd();
  }

  recheck(): void {
    this.options.recheck().catch(() => this.finish('forbidden'));
  }

  due(now: number): number | undefined {
    const { request, writer } = this.options;
    const left = this.#lastSent + (request.heartbeat ?? request.timeout) - now;
    if (left > 0) return left;
    if (request.heartbeat === undefined) return void this.finish('timeout');
    if (writer.hasRoom(this)) writer.message(`{"type":"heartbeat"${this.#name}}`);
    this.#lastSent = now;
    return request.heartbeat;
  }

  finish(reason: string, skipExactCount = false): void {
    if (this.#over) return;
    this.close();
    this.#tell('end', `,"reason":"${reason}"`, skipExactCount)
      .catch((error: unknown) => this.options.onError(error))
      .finally(this.options.onEnd)
      .catch((error: unknown) => this.options.onError(error));
  }

  close(): void {
    if (!this.#over) this.options.metrics.feeds--;
    this.#over = true;
    this.options.wheel.remove(this);
    this.#feed.close();
  }

  async #tell(type: string, members: string, skipExactCount: boolean): Promise<void> {
    const summary = await this.options.summary(this.#feed, skipExactCount);
    this.options.writer.message(`{"type":"${type}"${this.#name}${members},${summary}}`);
  }
}

const none = Buffer.alloc(0);
const closing = Buffer.from(']}');

/** `members` are further ones, with a comma before them. */
export function errorMessage(error: unknown, members = ''): string {
  const { error: name, reason } =
    error instanceof RequestError
      ? error
      : { error: 'internal_server_error', reason: 'The server failed; its log tells more.' };
  return `{"type":"error"${members},"error":${JSON.stringify(name)},"reason":${JSON.stringify(reason)}}`;
}
