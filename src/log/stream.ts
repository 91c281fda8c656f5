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
  info(): Promise<StreamInfo>;
  /** `id` is the same for every attempt to publish a message; streams may use it to drop repetitions. */
  publish(message: Buffer, id: string): Promise<void>;
  /** Messages behind a sequence, without end, until the signal is raised. Throws `StreamLost` if the next one is not there. */
  read(after: number, signal: AbortSignal): AsyncIterable<StreamMessage>;
}

export interface StreamInfo {
  /** Drawn when the stream is created. */
  epoch: string;
  /** The sequence of the first message that is kept, or of the next one where there is none. */
  first: number;
  /** The sequence of the last message; 0 where there never was one. */
  last: number;
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

/** The next messages for a replica were removed from the stream: it has to copy the databases of another one. */
export class StreamTruncated extends StreamLost {
  constructor(stream: string, seq: number, first: number) {
    super(
      stream,
      `messages that this node has not applied are removed from it: it has applied ${seq}, and ${first} is next`,
    );
  }
}
