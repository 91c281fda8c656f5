import type { Runtime } from '../base/runtime.js';
import type { StreamHead } from './stream-place.js';
import { StreamLost, StreamTruncated, type Stream, type StreamInfo } from './stream.js';

/** How often a stream that seems to end too early, or to begin too late, is asked again, and in which intervals. */
const triesMax = 10;
const againMs = 500;

/**
 * What is known of a stream that should have the messages behind a sequence. A server that was just elected, has just started,
 * or has been paused may not know them yet, so one answer is not enough to say that they are lost or removed.
 */
export async function infoFrom(
  stream: Stream,
  seq: number,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StreamInfo> {
  for (let tries = 1; ; tries++) {
    const info = await stream.info();
    const isExpected = info.last >= seq && (seq === 0 || info.first <= seq + 1);
    if (isExpected || tries === triesMax) return info;
    await runtime.sleep(againMs, signal);
  }
}

/** Throws where a stream is not the one that was applied up to a head, or has not the messages behind it. */
export function checkFits(name: string, { epoch, seq }: StreamHead, info: StreamInfo): void {
  if (epoch !== info.epoch) throw new StreamLost(name, 'it was created anew');
  if (info.last < seq)
    throw new StreamLost(name, `its last messages are lost: it ends at ${info.last}, before ${seq}`);
  if (info.first > seq + 1) throw new StreamTruncated(name, seq, info.first);
}
