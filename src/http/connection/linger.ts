import type { Exchange } from '../exchange.js';

/** How much a client may go on sending after its answer, and for how long; and how long it may be silent. */
const drainBytesMax = 64 * 1024 * 1024;
const drainMs = 30_000;
const silenceMs = 5_000;

/**
 * Ends an answer that was given before the body had come whole. A connection that is closed while its client still sends is
 * reset, and the client may lose the answer with it: so what comes is read and dropped for a while first.
 */
export function endAfterBody({
  request,
  response,
  runtime,
}: Pick<Exchange, 'request' | 'response' | 'runtime'>): void {
  let left = drainBytesMax;
  const end = (): void => {
    silence.cancel();
    limit.cancel();
    response.end();
  };
  const limit = runtime.setIdleTimer(end, drainMs);
  let silence = runtime.setIdleTimer(end, silenceMs);
  request.on('data', (chunk: Buffer) => {
    silence.cancel();
    silence = runtime.setIdleTimer(end, silenceMs);
    if ((left -= chunk.length) < 0) end();
  });
  request.once('end', end);
  response.once('close', end);
  request.resume();
}
