import type { IncomingMessage } from 'node:http';
import type { Exchange } from '../exchange.js';

interface Progress {
  exchange: Exchange;
  bytes: number;
  /** When something last came, or the server was last not ready for more. */
  since: number;
}

/** Notices requests whose bodies have stopped coming. A body that goes on coming may take as long as it likes. */
export class BodyWatch {
  readonly #bodies = new Map<IncomingMessage, Progress>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly idleMs: () => number,
    private readonly onIdle: (exchange: Exchange) => void,
  ) {}

  add(exchange: Exchange): void {
    const { request } = exchange;
    this.#bodies.set(request, { exchange, bytes: bytesOf(request), since: performance.now() });
    if (this.#timer === undefined) this.#timer = this.#schedule();
  }

  delete(request: IncomingMessage): void {
    this.#bodies.delete(request);
  }

  #schedule(): NodeJS.Timeout | undefined {
    if (this.#bodies.size === 0) return undefined;
    const ms = Math.max(checkMs.least, Math.min(checkMs.most, this.idleMs() / 4));
    return setTimeout(() => {
      this.#check();
      this.#timer = this.#schedule();
    }, ms).unref();
  }

  #check(): void {
    const now = performance.now();
    const idleMs = this.idleMs();
    for (const [request, progress] of this.#bodies) {
      if (request.complete || request.destroyed) {
        this.#bodies.delete(request);
        continue;
      }
      const bytes = bytesOf(request);
      if (bytes !== progress.bytes || !isAwaited(request)) {
        progress.bytes = bytes;
        progress.since = now;
      } else if (now - progress.since >= idleMs) {
        this.#bodies.delete(request);
        this.onIdle(progress.exchange);
      }
    }
  }
}

const checkMs = { least: 20, most: 5_000 };

/** Over HTTP/2 a request counts its own bytes, since others share its connection. */
const bytesOf = (request: IncomingMessage): number =>
  (request as { bytesRead?: number }).bytesRead ?? request.socket.bytesRead;

/** Whether the server reads the body and has taken all that came: if not, it is not the client that is slow. */
const isAwaited = (request: IncomingMessage): boolean =>
  request.readableLength === 0 &&
  // A stream that is read by `readable`, as iterators do, counts as paused for Node.
  (request.listenerCount('readable') > 0 || (request.listenerCount('data') > 0 && !request.isPaused()));
