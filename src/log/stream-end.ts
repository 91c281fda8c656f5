import type { Runtime } from '../base/runtime.js';
import { firstHead, partialHead, type StreamHead } from './stream-place.js';
import type { StreamTarget } from './stream-target.js';
import {
  isMadeAnewSince,
  StreamLost,
  StreamMissing,
  StreamReplaced,
  StreamTruncated,
  type Stream,
  type StreamInfo,
} from './stream.js';

/** How often a stream that seems to end too early, or to begin too late, is asked again, and in which intervals. */
const triesMax = 10;
const againMs = 500;

/**
 * What is known of a stream that should have the messages behind a sequence. A server that was just elected, has just started,
 * or has been paused may not know them yet, so one answer is not enough to say that they are lost or removed.
 */
export async function infoFrom(
  stream: Stream,
  place: WholePlace | undefined,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StreamInfo> {
  const { seq, last } = { seq: place?.head.seq ?? 0, last: place?.last ?? 0 };
  for (let tries = 1; ; tries++) {
    try {
      const info = await stream.info(place === undefined ? 'create' : 'throw');
      const isExpected = info.last >= last && (seq === 0 || info.first <= seq + 1);
      if (isExpected || tries === triesMax) return info;
    } catch (error) {
      if (!(error instanceof StreamMissing) || tries === triesMax) throw error;
    }
    await runtime.sleep(againMs, signal);
  }
}

/** From where a replica begins that has nothing of a stream. */
export function newHead(name: string, { epoch, first }: StreamInfo): StreamHead {
  if (first > 1) throw new StreamTruncated(name, 0, first);
  return firstHead(epoch);
}

/**
 * From where a replica continues: its head, in the epoch that the stream has now. Throws where the stream is not the one that
 * was applied up to the head, or has not the messages behind it.
 */
export function continuedHead(name: string, place: WholePlace, info: StreamInfo): StreamHead {
  const head = place.head.epoch === info.epoch ? place.head : recoveredHead(name, place, info);
  const { seq } = head;
  if (info.last < place.last)
    throw new StreamLost(name, `its last messages are lost: it ends at ${info.last}, before ${place.last}`);
  if (info.first > seq + 1) throw new StreamTruncated(name, seq, info.first);
  return head;
}

/** A place, and whether all stores of the replica are there, behind a whole message. */
export interface WholePlace {
  head: StreamHead;
  isWhole: boolean;
  /** Of the store that is furthest. */
  reach: StreamHead;
  /** The last message of which a store has applied anything. */
  last: number;
}

export function wholePlace(target: Pick<StreamTarget, 'place' | 'reach'>): WholePlace | undefined {
  const [place, reach] = [target.place(), target.reach()];
  if (place === undefined || reach === undefined) return undefined;
  const isBegun = reach.index > 0 || reach.done > 0;
  const isWhole = !isBegun && reach.head.seq === place.head.seq && reach.head.hash === place.head.hash;
  return { head: place.head, isWhole, reach: reach.head, last: reach.head.seq + (isBegun ? 1 : 0) };
}

/**
 * The head of all that stores have. Where they are at different places that is no prefix of the stream: the head is one that no
 * other node has.
 */
export function ownHead(target: Pick<StreamTarget, 'place' | 'reach'>, node: string): StreamHead | undefined {
  const place = wholePlace(target);
  return place === undefined || place.isWhole ? place?.head : partialHead(place.reach, node);
}

function recoveredHead(name: string, { head, isWhole }: WholePlace, info: StreamInfo): StreamHead {
  const { recovered } = info;
  if (recovered === undefined) throw new StreamLost(name, 'it was created anew');
  if (!isMadeAnewSince(head.epoch, info))
    throw new StreamLost(
      name,
      `it is an earlier one, or goes on from another history: its epoch is ${info.epoch}`,
    );
  const isSame =
    isWhole && recovered.epoch === head.epoch && recovered.seq === head.seq && recovered.hash === head.hash;
  if (!isSame) throw new StreamReplaced(name, head.seq, recovered);
  return { ...head, epoch: info.epoch };
}
