import type { IncomingMessage } from 'node:http';
import { IdleWatch } from '../../base/idle-watch.js';
import type { Exchange } from '../exchange.js';

export type BodyWatch = IdleWatch<Exchange>;

/** Finds requests whose bodies have stopped coming. */
export function watchBodies(idleMs: () => number, onIdle: (exchange: Exchange) => void): BodyWatch {
  return new IdleWatch({
    idleMs,
    bytesOf: ({ request }) => (request.complete || request.destroyed ? undefined : bytesOf(request)),
    isWaiting: ({ request }) => isAwaited(request),
    onIdle,
  });
}

/** Over HTTP/2 a request counts its own bytes, since others share its connection. */
const bytesOf = (request: IncomingMessage): number =>
  (request as { bytesRead?: number }).bytesRead ?? request.socket.bytesRead;

/** Whether the server reads the body and has taken all that came: if not, it is not the client that is slow. */
const isAwaited = (request: IncomingMessage): boolean =>
  request.readableLength === 0 &&
  // A stream that is read by `readable`, as iterators do, counts as paused for Node.
  (request.listenerCount('readable') > 0 || (request.listenerCount('data') > 0 && !request.isPaused()));
