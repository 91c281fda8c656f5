import type { Bytes } from '../base/bytes.js';

/**
 * A replicated, ordered list of messages that several nodes write to and read. `cluster/nats-stream.ts` has it on NATS
 * JetStream; `test/cluster/memory-stream.ts` in memory, for tests.
 *
 * - Sequences begin at 1 and increase by one with each message. Every reader gets the same messages in the same order.
 * - `publish` resolves when the message is stored on a majority of servers. When it rejects, the message may be stored or not, and
 *   may even be stored later. The same message may then be published again, and be stored twice.
 * - Only messages that are stored on a majority are given to readers.
 */
export interface Stream {
  readonly name: string;
  /** Where there is no such stream it is created, or `StreamMissing` is thrown. */
  info(missing?: 'create' | 'throw'): Promise<StreamInfo>;
  /**
   * `id` is the same for every attempt to publish a message; streams may use it to drop repetitions. Gives the sequence of the
   * message, if the stream is known to be of that epoch.
   */
  publish(message: Buffer, id: string, epoch: string): Promise<number | undefined>;
  /**
   * Messages behind a sequence, without end, until the signal is raised. Throws `StreamLost` if the next one is not there, and
   * another error if the stream is not of that epoch any more.
   */
  read(after: number, signal: AbortSignal, epoch: string): AsyncIterable<StreamMessage>;
}

export interface StreamInfo {
  /** Drawn when the stream is created. */
  epoch: string;
  /** The sequence of the first message that is kept, or of the next one where there is none. */
  first: number;
  /** The sequence of the last message; 0 where there never was one. */
  last: number;
  /** Where the stream was made anew to go on from the history of a node: that history. Sequences go on behind it. */
  recovered?: RecoveredHistory;
  /** Whether it takes no more messages, for good: it is about to be made anew. */
  isSealed?: boolean;
}

/** What a node had applied of a stream, on disk, when that was made anew. */
export interface RecoveredHistory {
  node: string;
  epoch: string;
  seq: number;
  hash: Bytes;
}

/** The epoch of a stream that is made anew: it tells how often that was done, so that a backup from before is recognized. */
export const epochAfter = (before: string, drawn: string): string => `${drawn}.${generationOf(before) + 1}`;

const generationOf = (epoch: string): number => Number(epoch.split('.')[1] ?? 0);

/** Whether a stream was made anew since it had an epoch. One that was restored from a backup may have been before. */
export function isMadeAnewSince(epoch: string, info: StreamInfo | undefined): boolean {
  if (info?.recovered === undefined || info.epoch === epoch) return false;
  return info.recovered.epoch === epoch || generationOf(info.epoch) > generationOf(epoch);
}

export interface StreamMessage {
  seq: number;
  bytes: Buffer;
}

/** A replica and its stream don't match: the stream was truncated, restored or created anew, or the replica was. */
export class StreamLost extends Error {
  constructor(stream: string, reason: string) {
    super(`the stream ${stream} cannot be followed: ${reason}`);
    this.name = 'StreamLost';
  }
}

export class StreamMissing extends StreamLost {
  constructor(stream: string) {
    super(stream, 'the NATS servers do not have it');
  }
}

/** Not the stream is at fault: another process has taken the place of this one. */
export class NodeNameTaken extends StreamLost {
  constructor(stream: string, node: string) {
    super(stream, `another process uses the node name ${node}`);
  }
}

/** The stream is sound, but a replica cannot continue from what it has: it has to copy the databases of another one. */
export class CopyNeeded extends StreamLost {}

/** The stream was made anew from the history of another replica. */
export class StreamReplaced extends CopyNeeded {
  constructor(stream: string, seq: number, { node, seq: recovered }: RecoveredHistory) {
    super(
      stream,
      `it was made anew from what ${node} had up to message ${recovered}, and this node has something else up to message ${seq}`,
    );
  }
}

/** The next messages for a replica were removed from the stream. */
export class StreamTruncated extends CopyNeeded {
  constructor(stream: string, seq: number, first: number) {
    super(
      stream,
      `messages that this node has not applied are removed from it: it has applied ${seq}, and ${first} is next`,
    );
  }
}
