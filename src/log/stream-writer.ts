import type { Bytes } from '../base/bytes.js';
import { RequestError, Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import { encodeBatch, type Batch } from './batch-codec.js';
import { Unconfirmed } from './confirmation.js';
import { commandBytesMax } from './log.js';
import type { OriginMark } from './stream-place.js';
import type { Outcome } from './stream-target.js';
import { NodeNameTaken, type Stream, type StreamMessage } from './stream.js';

/** Bytes of commands that wait to be published. */
const waitingBytesMax = 64 * 1024 * 1024;
/** What NATS servers take of one command: their messages have 1 MB at most, with what is said beside it. */
const sentBytesMax = 1_000_000;
/** What a barrier counts, so that there is an end to them too. */
const barrierBytes = 100;
const sweepMs = 500;
const backoffMs = { first: 100, max: 2_000 };

/** A command that was sent and whose outcome is awaited; a barrier where it has no bytes. */
export interface Sent {
  readonly bytes: Bytes | undefined;
  readonly deadlineMs: number;
  settled: boolean;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Message {
  readonly entries: readonly Sent[];
  /** Resolves when the message was read from the stream. */
  readonly arrived: Promise<void>;
  arrive(): void;
}

export interface WriterOptions {
  stream: Stream;
  runtime: Runtime;
  /** How long a client waits for the outcome of a command. */
  timeoutMs(): number;
  /** What a message says of its sender. */
  head(): Omit<Batch, 'origin' | 'commands'>;
  /** Called when a message is in the stream of an epoch. */
  onConfirmed(message: StreamMessage, epoch: string): void;
  logger: Logger;
}

/**
 * Publishes the commands of one node to a stream: those of a turn together, one message at a time, each again and again
 * until it is stored. Begins when it is told the incarnation of the node.
 */
export class StreamWriter {
  #waiting: Sent[] = [];
  #waitingBytes = 0;
  /** Messages that are published or being published, and not known to be applied. */
  readonly #messages = new Map<number, Message>();
  #origin: ({ name: string } & OriginMark) | undefined;
  #stopped: Error | undefined;
  #publishing = false;
  #scheduled = false;
  #timer: Timer | undefined;

  constructor(private readonly options: WriterOptions) {}

  get origin(): Readonly<OriginMark> | undefined {
    return this.#origin;
  }

  /** Resolves with the result of the command when it is applied here, or of a barrier when all before it is. */
  send(bytes: Bytes | undefined): Promise<unknown> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    // It could never be published, and all behind it would wait for it.
    if (bytes !== undefined && bytes.length > sentBytesMax)
      return Promise.reject(
        new RequestError(
          'too_large',
          `A change of ${sentBytesMax} bytes is the largest that a cluster takes.`,
        ),
      );
    if (this.#waitingBytes > waitingBytesMax)
      return Promise.reject(new Unavailable('Too many writes are waiting for the log; it was not saved.'));
    const { runtime, timeoutMs } = this.options;
    return new Promise((resolve, reject) => {
      const deadlineMs = runtime.monotonicMs() + timeoutMs();
      this.#waiting.push(settling({ bytes, deadlineMs, settled: false, resolve, reject }));
      this.#waitingBytes += bytes?.length ?? barrierBytes;
      this.#timer ??= runtime.setRepeating(() => this.#sweep(), sweepMs);
      this.#schedule();
    });
  }

  /** Messages are published under this mark from now on. */
  open(name: string, incarnation: number): void {
    this.#origin = { name, incarnation, counter: 0 };
    this.#schedule();
  }

  /** Throws where a message is of another process with the name of this node, which was started later. */
  checkName({ name, incarnation }: Batch['origin']): void {
    const own = this.#origin;
    if (own?.name === name && incarnation > own.incarnation)
      throw new NodeNameTaken(this.options.stream.name, name);
  }

  /** A message of this node was read from the stream. Gives those who wait for it; it may be read again. */
  arrived({ incarnation, counter }: OriginMark): readonly Sent[] {
    if (incarnation !== this.#origin?.incarnation) return [];
    const message = this.#messages.get(counter);
    message?.arrive();
    return message?.entries ?? [];
  }

  /** A message and all before it are applied. */
  applied({ incarnation, counter }: OriginMark): void {
    if (incarnation !== this.#origin?.incarnation) return;
    for (const known of this.#messages.keys()) if (known <= counter) this.#messages.delete(known);
  }

  /** Takes no more commands. The outcome of those that are published is unknown. */
  stop(reason: Error): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#timer?.cancel();
    for (const entry of this.#waiting.splice(0)) entry.reject(reason);
    for (const { entries, arrive } of this.#messages.values()) {
      arrive();
      for (const entry of entries) entry.reject(unknownOutcome());
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#publishing || this.#origin === undefined) return;
    this.#scheduled = true;
    this.options.runtime.defer(() => {
      this.#scheduled = false;
      void this.#publishWaiting();
    });
  }

  async #publishWaiting(): Promise<void> {
    if (this.#publishing) return;
    this.#publishing = true;
    while (this.#waiting.length > 0 && this.#stopped === undefined) {
      const entries = this.#takeBatch();
      const origin = { ...this.#origin!, counter: ++this.#origin!.counter };
      const commands = entries.flatMap(({ bytes }) => bytes ?? []);
      const head = this.options.head();
      const bytes = encodeBatch({ ...head, origin, commands });
      let arrive!: () => void;
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      this.#messages.set(origin.counter, { entries, arrived, arrive });
      const id = `${origin.name}.${origin.incarnation}.${origin.counter}`;
      await this.#publish(bytes, id, head.epoch, arrived);
    }
    this.#publishing = false;
  }

  #takeBatch(): Sent[] {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      bytes += entry.bytes?.length ?? barrierBytes;
      if (count > 0 && bytes > commandBytesMax) break;
      count++;
    }
    const entries = this.#waiting.splice(0, count);
    for (const entry of entries) this.#waitingBytes -= entry.bytes?.length ?? barrierBytes;
    return entries;
  }

  /** Until the stream has it: either says so. */
  async #publish(bytes: Buffer, id: string, epoch: string, arrived: Promise<void>): Promise<void> {
    const { stream, runtime, logger, onConfirmed } = this.options;
    let isThere = false;
    void arrived.then(() => (isThere = true));
    for (let waitMs = backoffMs.first; !isThere && this.#stopped === undefined;) {
      try {
        const confirmed = stream.publish(bytes, id, epoch).then((seq) => {
          if (seq !== undefined) onConfirmed({ seq, bytes }, epoch);
        });
        await Promise.race([confirmed, arrived]);
        return;
      } catch (err) {
        logger.warn({ err, stream: stream.name }, 'a message could not be published; it is tried again');
        await Promise.race([runtime.sleep(waitMs), arrived]);
        waitMs = Math.min(2 * waitMs, backoffMs.max);
      }
    }
  }

  /** Answers those who have waited long enough. */
  #sweep(): void {
    const now = this.options.runtime.monotonicMs();
    const late = this.#waiting.filter(({ deadlineMs }) => deadlineMs <= now);
    if (late.length > 0) this.#waiting = this.#waiting.filter(({ deadlineMs }) => deadlineMs > now);
    for (const entry of late) {
      this.#waitingBytes -= entry.bytes?.length ?? barrierBytes;
      entry.reject(new Unconfirmed('The log of the cluster cannot be reached; it was not saved.'));
    }
    for (const { entries } of this.#messages.values())
      for (const entry of entries) if (entry.deadlineMs <= now) entry.reject(unknownOutcome());
    if (this.#waiting.length > 0 || this.#messages.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** Answers the one who has sent a command, if it was sent on this node. */
export function answer(outcome: Outcome, sent: Sent | undefined): void {
  if ('result' in outcome) sent?.resolve(outcome.result);
  else sent?.reject(outcome.rejected);
}

export const appliedBefore = (): Unavailable =>
  new Unavailable('The write was applied, but its result is not known any more.');

const unknownOutcome = (): Unconfirmed =>
  new Unconfirmed('The log of the cluster did not confirm the write in time; it may have been saved.');

/** Lets the first outcome count. */
function settling(entry: Sent): Sent {
  const { resolve, reject } = entry;
  const first =
    <T>(settle: (value: T) => void) =>
    (value: T): void => {
      if (entry.settled) return;
      entry.settled = true;
      settle(value);
    };
  return Object.assign(entry, { resolve: first(resolve), reject: first(reject) });
}
