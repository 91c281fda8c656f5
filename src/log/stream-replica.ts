import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { decodeBatch, type Batch } from './batch-codec.js';
import { checkFits, infoFrom } from './stream-end.js';
import { StreamWriter, type Sent } from './stream-writer.js';
import { firstHead, isNew, nextHead, type StreamHead } from './stream-place.js';
import type { Outcome, StreamTarget } from './stream-target.js';
import { StreamLost, StreamTruncated, type Stream, type StreamMessage } from './stream.js';

export interface ReplicaOptions {
  stream: Stream;
  target: StreamTarget;
  /** The name of this node. */
  node: string;
  runtime: Runtime;
  logger: Logger;
  timeoutMs(): number;
  /** The position of the catalogue that this node has applied. */
  cataloguePosition(): number;
  /** Resolves when this node has applied the catalogue up to there. */
  catalogueAt(position: number): Promise<void>;
  /** The stream cannot be followed any more. */
  onLost?(error: StreamLost): void;
}

/** Commands that are applied and not known to be on disk, before the next message is taken. */
const outstandingMax = 2_000;
/** Messages after which stores that they did not concern are told of them. */
const advanceAfter = 1_000;
/** Hashes that others' hashes are compared with. */
const hashesMax = 4_096;
const backoffMs = { first: 100, max: 2_000 };
/** After this time without progress it is told. */
const stuckMs = 10_000;

/** A node's copy of what a stream makes: sends commands to the stream, and applies all that comes from it. */
export class StreamReplica {
  readonly #writer: StreamWriter;
  #head: StreamHead = firstHead('');
  readonly #hashes = new Map<number, Bytes>();
  readonly #outstanding = new Set<Promise<unknown>>();
  /** Resolves when all that was taken so far is on disk. */
  #durable: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  #following = new AbortController();
  #failure: unknown;
  #lost: Error | undefined;
  /** Since when, and where, messages could not be applied. */
  #failing: { seq: number; sinceMs: number; reason: string } | undefined;
  #sinceAdvance = 0;
  /** Whether the head is that of the stores, or will be when all that was taken is applied. */
  #isFollowing = false;
  /** Where the stream ended when it was looked at. */
  #end = Infinity;
  #running: Promise<void> | undefined;
  #resolveCurrent!: () => void;
  readonly #current = new Promise<void>((resolve) => (this.#resolveCurrent = resolve));

  constructor(private readonly options: ReplicaOptions) {
    const { stream, runtime, timeoutMs, logger } = options;
    this.#writer = new StreamWriter({
      stream,
      runtime,
      timeoutMs,
      head: () => ({
        epoch: this.#head.epoch,
        seq: this.#head.seq,
        hash: this.#head.hash,
        catalogue: options.cataloguePosition(),
      }),
      onFailure: (error) =>
        logger.warn(
          { err: error, stream: stream.name },
          'a message could not be published; it is tried again',
        ),
    });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The last message that was taken from the stream. */
  get seq(): number {
    return this.#head.seq;
  }

  /** Up to there messages are not needed by this node any more. */
  get storedSeq(): number | undefined {
    return this.#isFollowing ? this.options.target.storedSeq() : undefined;
  }

  /** Notes in the stores that have not been concerned by the last messages that these are applied. */
  advance(): void {
    if (this.#isFollowing && this.#failure === undefined) this.options.target.advance(this.#head);
  }

  /** The names of all nodes that have ever sent something. */
  get origins(): string[] {
    return [...this.#head.origins.keys()];
  }

  /** What has kept messages from being applied for a while; it is tried again. */
  get stuck(): string | undefined {
    if (this.#failing === undefined || this.#failing.seq !== this.#head.seq) return undefined;
    const { runtime, stream } = this.options;
    if (runtime.monotonicMs() - this.#failing.sinceMs < stuckMs) return undefined;
    return `the stream ${stream.name} cannot be applied: ${this.#failing.reason}`;
  }

  /** Why the stream cannot be followed any more. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Resolves when everything is applied that the stream had when it was first looked at, or when it cannot be. */
  whenCurrent(): Promise<void> {
    return this.#current;
  }

  /** Resolves with the result of a command when it is stored in the stream and applied here. */
  send(command: Bytes): Promise<unknown> {
    return this.#writer.send(command);
  }

  /** Resolves when everything is applied that was in the stream when this was called. */
  async fresh(): Promise<void> {
    await this.#writer.send(undefined);
  }

  async stop(): Promise<void> {
    this.#writer.stop(new Unavailable('The server is closing.'));
    this.#stopping.abort();
    this.#following.abort();
    await this.#running;
    await Promise.allSettled(this.#outstanding);
  }

  async #run(): Promise<void> {
    const { runtime, logger, stream } = this.options;
    for (let waitMs = backoffMs.first; !this.#stopping.signal.aborted;) {
      const before = this.#head.seq;
      try {
        await this.#follow();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (error instanceof StreamLost) return this.#giveUp(error);
        logger.warn({ err: error, stream: stream.name }, 'following a stream failed; it is tried again');
        const reason = (error as Error).message;
        if (this.#failing?.seq !== this.#head.seq)
          this.#failing = { seq: this.#head.seq, sinceMs: runtime.monotonicMs(), reason };
      }
      await Promise.allSettled(this.#outstanding);
      waitMs = this.#head.seq > before ? backoffMs.first : Math.min(2 * waitMs, backoffMs.max);
      await runtime.sleep(waitMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** Writing would build on another history than that of the other nodes. */
  #giveUp(error: StreamLost): void {
    this.#lost = error;
    this.options.onLost?.(error);
    this.options.logger.error({ err: error }, 'this node takes no writes for the databases of a stream');
    this.#writer.stop(new Unavailable(`This node cannot write: ${error.message}.`));
    this.#resolveCurrent();
  }

  /** Applies messages until something fails, from where the stores are. */
  async #follow(): Promise<void> {
    const { stream, target, runtime } = this.options;
    this.#following = new AbortController();
    this.#failure = undefined;
    this.#durable = Promise.resolve();
    target.reload();
    const place = target.place();
    const info = await infoFrom(stream, place?.head.seq ?? 0, runtime, this.#stopping.signal);
    if (place === undefined) await this.#begin(info.epoch, info.first);
    else {
      checkFits(stream.name, place.head, info);
      this.#head = place.head;
    }
    this.#note(this.#head);
    this.#end = Math.min(this.#end, info.last);
    if (info.last === this.#head.seq) this.#failing = undefined;
    this.#isFollowing = true;
    try {
      this.#checkCurrent();
      for await (const message of stream.read(this.#head.seq, this.#following.signal)) {
        await this.#take(message);
        if (this.#failure !== undefined) break;
      }
    } finally {
      this.#isFollowing = false;
    }
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  async #begin(epoch: string, first: number): Promise<void> {
    if (first > 1) throw new StreamTruncated(this.options.stream.name, 0, first);
    this.#head = firstHead(epoch);
    await this.options.target.begin(this.#head);
  }

  async #take({ seq, bytes }: StreamMessage): Promise<void> {
    const { stream, target, catalogueAt } = this.options;
    const head = this.#head;
    // Whether they were removed is known when reading begins again.
    if (seq > head.seq + 1) throw new Error(`messages between ${head.seq} and ${seq} were not delivered`);
    if (seq < head.seq + 1) throw new StreamLost(stream.name, `it has another message ${seq}`);
    const batch = decodeBatch(bytes);
    this.#check(batch);
    const isRepeated = !isNew(head.origins.get(batch.origin.name), batch.origin);
    const after = nextHead(head, bytes, isRepeated ? undefined : batch.origin);
    if (!isRepeated) {
      const { commands } = batch;
      await catalogueAt(batch.catalogue);
      this.#settle(batch, await target.apply({ before: head, after, commands }));
    }
    this.#head = after;
    this.#note(after);
    if (++this.#sinceAdvance >= advanceAfter) {
      this.#sinceAdvance = 0;
      target.advance(after);
    }
    this.#checkCurrent();
    if (this.#outstanding.size > outstandingMax) await Promise.allSettled(this.#outstanding);
  }

  /** Compares a message with what is known of the stream. */
  #check({ epoch, seq, hash, origin }: Batch): void {
    const { stream, node } = this.options;
    if (epoch !== this.#head.epoch) throw new StreamLost(stream.name, 'it has messages of another epoch');
    const own = this.#hashes.get(seq);
    if (own !== undefined && own !== hash)
      throw new StreamLost(stream.name, `the node ${origin.name} has another history up to message ${seq}`);
    const mine = this.#writer.origin;
    if (origin.name === node && mine !== undefined && origin.incarnation > mine.incarnation)
      throw new StreamLost(stream.name, `another process uses the node name ${node}`);
  }

  #note({ seq, hash }: StreamHead): void {
    this.#hashes.set(seq, hash);
    this.#hashes.delete(seq - hashesMax);
  }

  /** Answers those who sent the commands of a message, if they are on this node. */
  #settle({ origin }: Batch, outcomes: readonly (Promise<Outcome> | undefined)[]): void {
    const sent = origin.name === this.options.node ? this.#writer.arrived(origin) : [];
    const commands = sent.filter(({ bytes }) => bytes !== undefined);
    const work = [this.#durable];
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome === undefined) commands[at]?.reject(appliedBefore());
      else work.push(this.#track(outcome.then((found) => answer(found, commands[at]))));
    }
    this.#durable = Promise.all(work).then(() => {
      for (const barrier of sent) if (barrier.bytes === undefined) barrier.resolve(undefined);
      if (sent.length > 0) this.#writer.applied(origin);
    });
    this.#durable.catch(() => undefined);
  }

  /** A command that could not be applied here must be, before any that comes behind it: reading starts again. */
  #track(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#failure ??= error;
        this.#following.abort();
        throw error;
      })
      .finally(() => this.#outstanding.delete(tracked));
    this.#outstanding.add(tracked);
    return tracked;
  }

  /** What was there at the start is applied: from now on commands can be sent. */
  #checkCurrent(): void {
    if (this.#head.seq < this.#end || this.#writer.origin !== undefined) return;
    this.#durable.then(
      () => {
        if (this.#writer.origin !== undefined) return;
        const { node, runtime } = this.options;
        const known = this.#head.origins.get(node)?.incarnation ?? 0;
        this.#writer.open(node, Math.max(known + 1, runtime.now()));
        this.#resolveCurrent();
      },
      () => undefined,
    );
  }
}

function answer(outcome: Outcome, sent: Sent | undefined): void {
  if ('result' in outcome) sent?.resolve(outcome.result);
  else sent?.reject(outcome.rejected);
}

const appliedBefore = (): Unavailable =>
  new Unavailable('The write was applied, but its result is not known any more.');
