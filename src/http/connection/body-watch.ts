import type { Runtime } from '../../base/runtime.js';
import type { IncomingMessage } from 'node:http';
import { RequestError } from '../../base/errors.js';
import { fail } from '../answer/error-answer.js';
import { IdleWatch, type IdleRules } from '../../base/idle-watch.js';
import type { Exchange } from '../exchange.js';

export type BodyWatch = IdleWatch<Exchange>;

/** Finds requests whose bodies have stopped coming, and gives them up. */
export function watchBodies(idleMs: () => number, runtime: Runtime): BodyWatch {
  const rules: IdleRules<Exchange> = {
    idleMs,
    bytesOf: ({ request }) => (request.complete || request.destroyed ? undefined : bytesOf(request)),
    isWaiting: ({ request }) => isAwaited(request),
    onIdle: giveUpBody,
  };
  return new IdleWatch(rules, runtime);
}

/** Answers a request whose body has stopped coming, and ends the work that reads it: Node no longer does after an answer. */
function giveUpBody(exchange: Exchange): void {
  const { request, response } = exchange;
  response.once('close', () => request.destroy());
  fail(exchange, new RequestError('request_timeout', 'The body of the request did not come in time.'));
}

/** Over HTTP/2 a request counts its own bytes, since others share its connection. */
const bytesOf = (request: IncomingMessage): number =>
  (request as { bytesRead?: number }).bytesRead ?? request.socket.bytesRead;

/** Whether the server reads the body and has taken all that came: if not, it is not the client that is slow. */
const isAwaited = (request: IncomingMessage): boolean =>
  request.readableLength === 0 &&
  // A stream that is read by `readable`, as iterators do, counts as paused for Node.
  (request.listenerCount('readable') > 0 || (request.listenerCount('data') > 0 && !request.isPaused()));
