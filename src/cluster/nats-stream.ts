import {
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type Consumer,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type StreamInfo as NatsStreamInfo,
} from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import type { Stream, StreamInfo, StreamMessage } from '../log/stream.js';

export interface StreamSettings {
  name: string;
  subject: string;
  /** Servers that keep a copy of it. */
  replicas: number;
  /** The epoch of the stream, if it has to be created. */
  newEpoch(): string;
}

interface Client {
  js: JetStreamClient;
  /** One that waits for answers for so long. */
  waiting(timeoutMs: number): JetStreamClient;
  manager: JetStreamManager;
  /** Called whenever the connection was renewed. */
  onReconnect: Set<() => void>;
}

/** Bytes of messages that are asked for ahead. */
const aheadBytes = 8 * 1024 * 1024;
const heartbeatMs = 2_000;
const pullMs = 20_000;
/**
 * How long consumers may take to be created, one after the other. Where a server is down, others may not know it yet, and
 * place a consumer there: it never answers, but the next one may be placed elsewhere.
 */
const consumerTriesMs = [1_000, 1_000, 2_000, 5_000];
const epochPrefix = 'epoch ';

/** States of a consumer after which messages might be missing: it is made anew, from the last message that was read. */
const troubles: ReadonlySet<string> = new Set([
  'heartbeats_missed',
  'consumer_not_found',
  'consumer_deleted',
  'stream_not_found',
  'ordered_consumer_recreated',
  'reset',
  'no_responders',
]);

/** A stream of NATS JetStream. */
export class NatsStream implements Stream {
  #isThere = false;

  constructor(
    private readonly settings: StreamSettings,
    private readonly client: Client,
  ) {}

  get name(): string {
    return this.settings.name;
  }

  async info(): Promise<StreamInfo> {
    const { config, state } = await this.#found();
    const epoch = config.description?.startsWith(epochPrefix)
      ? config.description.slice(epochPrefix.length)
      : '';
    return { epoch, first: Math.max(1, state.first_seq), last: state.last_seq };
  }

  async publish(message: Buffer, id: string): Promise<void> {
    const { subject, name } = this.settings;
    if (!this.#isThere) await this.#found();
    await this.client.js.publish(subject, message, { msgID: id, retries: 1, expect: { streamName: name } });
  }

  async *read(after: number, signal: AbortSignal): AsyncIterable<StreamMessage> {
    const consumer = await this.#consumer(after, signal);
    const messages = await consumer.consume({
      max_bytes: aheadBytes,
      idle_heartbeat: heartbeatMs,
      expires: pullMs,
    });
    const end = (): void => messages.stop();
    signal.addEventListener('abort', end);
    this.client.onReconnect.add(end);
    void endOnTrouble(messages);
    try {
      if (signal.aborted) return;
      for await (const { seq, data } of messages) {
        if (signal.aborted) return;
        // A consumer on a server that is behind begins with the next message of that server.
        if (seq <= after) continue;
        yield { seq, bytes: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
      }
    } finally {
      signal.removeEventListener('abort', end);
      this.client.onReconnect.delete(end);
      messages.stop();
      consumer.delete().catch(() => undefined);
    }
  }

  async #consumer(after: number, signal: AbortSignal): Promise<Consumer> {
    for (let tries = 1; ; tries++) {
      const { consumers } = this.client.waiting(consumerTriesMs[tries - 1]!);
      const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: after + 1 };
      try {
        return await consumers.get(this.name, start);
      } catch (error) {
        const isLast = tries === consumerTriesMs.length || signal.aborted;
        if (isLast || !(error instanceof TimeoutError)) throw error;
      }
    }
  }

  /** Removes the stream: for tests. */
  async remove(): Promise<void> {
    await this.client.manager.streams.delete(this.name);
  }

  async #found(): Promise<NatsStreamInfo> {
    const { streams } = this.client.manager;
    const info = await streams.info(this.name).catch((error: unknown) => {
      const isMissing =
        error instanceof JetStreamApiError && Number(error.code) === Number(JetStreamApiCodes.StreamNotFound);
      if (!isMissing) throw error;
      return undefined;
    });
    const found = info ?? (await this.#create());
    this.#isThere = true;
    return found;
  }

  /** Of several nodes that create it at once, one has its epoch taken. */
  async #create(): Promise<NatsStreamInfo> {
    const { streams } = this.client.manager;
    const { name, subject, replicas, newEpoch } = this.settings;
    try {
      return await streams.add({
        name,
        subjects: [subject],
        description: epochPrefix + newEpoch(),
        num_replicas: replicas,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        max_msgs: -1,
        max_bytes: -1,
      });
    } catch (error) {
      return await streams.info(name).catch(() => {
        throw error;
      });
    }
  }
}

async function endOnTrouble(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (troubles.has(type)) messages.stop();
}
