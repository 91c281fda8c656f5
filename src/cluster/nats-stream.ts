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
import { isDeepStrictEqual } from 'node:util';
import { asBytes } from '../base/bytes.js';
import {
  epochAfter,
  isMadeAnewSince,
  StreamMissing,
  type RecoveredHistory,
  type Stream,
  type StreamInfo,
  type StreamMessage,
} from '../log/stream.js';

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
const recoverTriesMax = 5;

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
  /** The epoch that was seen last, and what is added to the sequences of the servers in it: they begin at 1 in each epoch. */
  #seen: { epoch: string; base: number; subject?: string } = { epoch: '', base: 0 };

  constructor(
    private readonly settings: StreamSettings,
    private readonly client: Client,
  ) {}

  get name(): string {
    return this.settings.name;
  }

  async info(missing: 'create' | 'throw' = 'create'): Promise<StreamInfo> {
    const { config, state } = await this.#found(missing);
    const described = parseDescription(config.description ?? '');
    const base = described.recovered?.seq ?? 0;
    const subject = this.#subjectOf(described.epoch);
    this.#seen = { epoch: described.epoch, base, ...(config.subjects.includes(subject) && { subject }) };
    return {
      ...described,
      first: base + Math.max(1, state.first_seq),
      last: base + state.last_seq,
      isSealed: config.sealed,
    };
  }

  /** Undefined where there is no such stream. */
  async infoIfThere(): Promise<StreamInfo | undefined> {
    return await this.info('throw').catch((error: unknown) => {
      if (!(error instanceof StreamMissing)) throw error;
      return undefined;
    });
  }

  /** Removes the messages before a sequence of an epoch; nothing where the stream is of another one. */
  async trim(seq: number, epoch: string): Promise<void> {
    const { epoch: now, recovered } = await this.info('throw');
    const ofServer = seq - (recovered?.seq ?? 0);
    // The servers remove all messages where they are asked for those before the first one.
    if (now !== epoch || ofServer <= 1) return;
    await this.client.manager.streams.purge(this.name, { seq: ofServer });
  }

  /**
   * Makes the servers take no more messages, unless the stream was made anew since it had an epoch. Gives what it is then:
   * undefined where there is none. What was confirmed before is in it.
   */
  async seal(since: string): Promise<StreamInfo | undefined> {
    const found = await this.infoIfThere();
    if (found === undefined || found.isSealed === true || isMadeAnewSince(since, found)) return found;
    const sealed: object = { sealed: true };
    await this.client.manager.streams.update(this.name, sealed).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    return await this.infoIfThere();
  }

  /**
   * Makes the stream anew, to go on from the history of a node; what it had is gone. Where it was made anew since then already, by
   * this node or another one, nothing is done. Tells whether it goes on from that history.
   */
  async recover(history: RecoveredHistory): Promise<boolean> {
    const { streams } = this.client.manager;
    const epoch = epochAfter(history.epoch, this.settings.newEpoch());
    let failure: Error | undefined;
    for (let tries = 0; ; tries++) {
      // An answer may have been lost, and nodes write to the new stream already.
      const found = await this.infoIfThere();
      if (isMadeAnewSince(history.epoch, found)) return isDeepStrictEqual(found?.recovered, history);
      if (tries === recoverTriesMax) throw failure!;
      await streams.delete(this.name).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      try {
        await this.#add(epoch, history);
        return true;
      } catch (error) {
        // A node that has nothing of the stream may have created it meanwhile.
        failure = error as Error;
      }
    }
  }

  async publish(message: Buffer, id: string, epoch: string): Promise<number | undefined> {
    const { name } = this.settings;
    if (!this.#isThere) await this.#found('throw');
    const options = { msgID: id, retries: 1, expect: { streamName: name } };
    const { subject, base, epoch: seen } = this.#seen;
    if (subject === undefined || seen !== epoch) {
      await this.client.js.publish(this.settings.subject, message, options);
      return undefined;
    }
    // A stream that was made anew meanwhile does not take it, so that the sequence is one of this epoch.
    return base + (await this.client.js.publish(subject, message, options)).seq;
  }

  async *read(after: number, signal: AbortSignal, epoch: string): AsyncIterable<StreamMessage> {
    const { base } = this.#seenIn(epoch);
    const consumer = await this.#consumer(after - base, signal);
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
      // The consumer may be one of a stream that was made anew meanwhile.
      await this.infoIfThere();
      this.#seenIn(epoch);
      for await (const { seq: ofServer, data } of messages) {
        if (signal.aborted) return;
        const seq = base + ofServer;
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

  #seenIn(epoch: string): { base: number } {
    if (this.#seen.epoch !== epoch) throw new Error('the stream was made anew while it was read');
    return this.#seen;
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

  async #found(missing: 'create' | 'throw'): Promise<NatsStreamInfo> {
    const { streams } = this.client.manager;
    const info = await streams.info(this.name).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      if (missing === 'throw') throw new StreamMissing(this.name);
      return undefined;
    });
    const found = info ?? (await this.#create());
    this.#isThere = true;
    return found;
  }

  /** What is published with it is stored in that epoch, or not at all. */
  #subjectOf(epoch: string): string {
    return `${this.settings.subject}.${epoch}`;
  }

  /** Of several nodes that create it at once, one has its epoch taken. */
  async #create(): Promise<NatsStreamInfo> {
    try {
      return await this.#add(this.settings.newEpoch());
    } catch (error) {
      return await this.client.manager.streams.info(this.name).catch(() => {
        throw error;
      });
    }
  }

  async #add(epoch: string, history?: RecoveredHistory): Promise<NatsStreamInfo> {
    const { name, subject, replicas } = this.settings;
    return await this.client.manager.streams.add({
      name,
      subjects: [subject, this.#subjectOf(epoch)],
      description: describe(epoch, history),
      num_replicas: replicas,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      max_msgs: -1,
      max_bytes: -1,
    });
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && Number(error.code) === Number(JetStreamApiCodes.StreamNotFound);

/** `epoch EPOCH`, and for a stream that was made anew ` after EPOCH SEQ HASH NODE`. */
function describe(epoch: string, history?: RecoveredHistory): string {
  if (history === undefined) return epochPrefix + epoch;
  const { epoch: before, seq, hash, node } = history;
  return `${epochPrefix}${epoch} after ${before} ${seq} ${Buffer.from(hash, 'latin1').toString('hex')} ${node}`;
}

function parseDescription(text: string): Pick<StreamInfo, 'epoch' | 'recovered'> {
  if (!text.startsWith(epochPrefix)) return { epoch: '' };
  const [epoch = '', , before, seq, hash = '', node] = text.slice(epochPrefix.length).split(' ');
  if (before === undefined || node === undefined) return { epoch };
  const recovered = {
    epoch: before,
    seq: Number(seq),
    hash: asBytes(Buffer.from(hash, 'hex').toString('latin1')),
    node,
  };
  return { epoch, recovered };
}

async function endOnTrouble(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (troubles.has(type)) messages.stop();
}
