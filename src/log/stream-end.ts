import type { Runtime } from '../base/runtime.js';
import type { Stream, StreamInfo } from './stream.js';

/** How often a stream that seems to end too early is asked again, and in which intervals. */
const triesMax = 10;
const againMs = 500;

/**
 * What is known of a stream that should have a message. A server that was just elected, or has been paused, may not know the
 * last ones yet, so one answer is not enough to say that they are lost.
 */
export async function infoFrom(
  stream: Stream,
  seq: number,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StreamInfo> {
  for (let tries = 1; ; tries++) {
    const info = await stream.info();
    if (info.last >= seq || tries === triesMax) return info;
    await runtime.sleep(againMs, signal);
  }
}
