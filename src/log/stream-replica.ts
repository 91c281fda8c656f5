import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import { decodeBatch, type Batch } from './batch-codec.js';
import type { ReplicaOptions } from './replica-options.js';
import { MessageIntake } from './message-intake.js';
import { Outstanding } from './outstanding.js';
import { continuedHead, infoFrom, newHead, ownHead, wholePlace, type WholePlace } from './stream-end.js';
import { StreamHistory } from './stream-history.js';
import { Stall } from './stall.js';
import { answer, appliedBefore, StreamWriter } from './stream-writer.js';
import { firstHead, isNew, nextHead, type StreamHead } from './stream-place.js';
import type { Outcome } from './stream-target.js';
import { StreamLost, type StreamMessage } from './stream.js';

/** Messages after which stores that they did not concern are told of them. */
const advanceAfter = 1_000;
const backoffMs = { first: 100, max: 2_000 };

/** A node's copy of what a stream makes: sends commands to the stream, and applies all that comes from it. */
export class StreamReplica {
  readonly #writer: StreamWriter;
  #head: StreamHead = firstHead('');
  readonly history: StreamHistory;
  readonly #intake: MessageIntake;
  /** A command that could not be applied here must be, before any that comes behind it: reading starts again. */
  readonly #outstanding = new Outstanding(() => this.#following.abort());
  readonly #stopping = new AbortController();
  #following = new AbortController();
  #lost: Error | undefined;
  readonly #stall: Stall;
  #sinceAdvance = 0;
  /** Why it does not go on, although it could. */
  #halted: StreamLost | undefined;
  #hasFollowed = false;
  /** The last message of which a store had applied anything when reading began. */
  #reached = 0;
  /** Whether the head is that of the stores, or will be when all that was taken is applied. */
  #isFollowing = false;
  /** Where the stream ended when it was looked at. */
  #end = Infinity;
  #running: Promise<void> | undefined;
  #resolveCurrent!: () => void;
  readonly #current = new Promise<void>((resolve) => (this.#resolveCurrent = resolve));

  constructor(private readonly options: ReplicaOptions) {
    const { stream, runtime, timeoutMs, logger } = options;
    this.history = new StreamHistory(stream.name);
    const stopReading = (): void => this.#following.abort();
    this.#intake = new MessageIntake(stream.name, (message) => this.#take(message), stopReading);
    this.#stall = new Stall(stream.name, runtime);
    this.#writer = new StreamWriter({
      stream,
      runtime,
      timeoutMs,
      logger,
      head: () => ({ ...this.#head, catalogue: options.cataloguePosition() }),
      onConfirmed: (message, epoch) => this.#takeConfirmed(message, epoch),
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
    if (this.#isFollowing && this.#outstanding.failure === undefined) this.options.target.advance(this.#head);
  }

  /** The names of all nodes that have ever sent something. */
  get origins(): string[] {
    return [...this.#head.origins.keys()];
  }

  /** What has kept messages from being applied for a while; it is tried again. */
  get stuck(): string | undefined {
    return this.#stall.at(this.#head.seq);
  }

  /** Why the stream cannot be followed any more. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Up to where this node has the stream. */
  get place(): WholePlace | undefined {
    const head = this.#head;
    if (!this.#isFollowing || head.seq < this.#reached) return wholePlace(this.options.target);
    return { head, isWhole: true, reach: head, last: head.seq };
  }

  /** Takes no more writes and messages. Gives the head that all stores have noted, on disk; undefined where none has begun. */
  async halt(reason: string): Promise<StreamHead | undefined> {
    const { target, stream, node } = this.options;
    this.#halted = new StreamLost(stream.name, reason);
    this.#following.abort();
    await this.#running;
    await this.#outstanding.settled();
    target.reload();
    const isApplied = this.#hasFollowed && this.#outstanding.failure === undefined;
    const head = isApplied && this.#head.seq >= this.#reached ? this.#head : ownHead(target, node);
    if (head !== undefined) await target.adopt(head);
    return head;
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

  /** Resolves when all that was taken so far is on disk. */
  async whenDurable(): Promise<void> {
    this.options.target.hurry();
    await this.#outstanding.durable;
  }

  async stop(): Promise<void> {
    this.#writer.stop(new Unavailable('The server is closing.'));
    this.#stopping.abort();
    this.#following.abort();
    await this.#running;
    await this.#outstanding.settled();
    this.#noteHead();
  }

  async #run(): Promise<void> {
    const { runtime, logger, stream } = this.options;
    for (let waitMs = backoffMs.first; !this.#stopping.signal.aborted;) {
      if (this.#halted !== undefined) return await this.#giveUp(this.#halted);
      const before = this.#head.seq;
      try {
        await this.#follow();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (error instanceof StreamLost) return await this.#giveUp(error);
        logger.warn({ err: error, stream: stream.name }, 'following a stream failed; it is tried again');
        this.#stall.note(this.#head.seq, (error as Error).message);
      }
      if (this.#halted !== undefined) return await this.#giveUp(this.#halted);
      await this.#outstanding.settled();
      waitMs = this.#head.seq > before ? backoffMs.first : Math.min(2 * waitMs, backoffMs.max);
      await runtime.sleep(waitMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** Writing would build on another history than that of the other nodes. */
  async #giveUp(error: StreamLost): Promise<void> {
    await this.#outstanding.settled();
    this.#noteHead();
    this.#lost = error;
    this.options.onLost?.(error);
    this.options.logger.error({ err: error }, 'this node takes no writes for the databases of a stream');
    this.#writer.stop(new Unavailable(`This node cannot write: ${error.message}.`));
    this.#resolveCurrent();
  }

  /** Makes the place of this node known from its stores alone, also after a crash. */
  #noteHead(): void {
    if (this.#hasFollowed && this.#outstanding.failure === undefined) this.options.target.advance(this.#head);
  }

  /** Applies messages until something fails, from where the stores are. */
  async #follow(): Promise<void> {
    const { stream, target, runtime } = this.options;
    this.#following = new AbortController();
    if (this.#halted !== undefined) throw this.#halted;
    // Then the head was ahead of the stores.
    if (this.#outstanding.failure !== undefined) this.#hasFollowed = false;
    this.#outstanding.reset();
    this.#intake.reset();
    target.reload();
    const place = wholePlace(target);
    const info = await infoFrom(stream, place, runtime, this.#stopping.signal);
    const head = place === undefined ? newHead(stream.name, info) : continuedHead(stream.name, place, info);
    if (place === undefined) await target.begin(head);
    else if (head !== place.head) await target.adopt(head);
    this.#head = head;
    this.history.begin(this.#head, target.heads());
    this.#end = Math.min(this.#end, info.last);
    if (info.last === this.#head.seq) this.#stall.end();
    this.#reached = place?.last ?? 0;
    this.#isFollowing = this.#hasFollowed = true;
    try {
      this.#checkCurrent();
      for await (const message of stream.read(this.#head.seq, this.#following.signal, this.#head.epoch)) {
        await this.#intake.read(message);
        if (this.#failure !== undefined) break;
      }
    } finally {
      this.#isFollowing = false;
      await this.#intake.settled();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #failure(): Error | undefined {
    return this.#intake.failure ?? this.#outstanding.failure;
  }

  /** A message of this node is in the stream. */
  #takeConfirmed(message: StreamMessage, epoch: string): void {
    const isNext = message.seq === this.#head.seq + 1 && epoch === this.#head.epoch;
    if (isNext && this.#isFollowing && !this.#following.signal.aborted) this.#intake.confirmed(message);
  }

  async #take({ seq, bytes }: StreamMessage): Promise<void> {
    const { stream, target, catalogueAt, node } = this.options;
    const head = this.#head;
    // Whether they were removed is known when reading begins again.
    if (seq > head.seq + 1) throw new Error(`messages between ${head.seq} and ${seq} were not delivered`);
    if (seq < head.seq + 1) throw new StreamLost(stream.name, `it has another message ${seq}`);
    const batch = decodeBatch(bytes);
    // Its sender has messages that this stream has lost: it builds on them, and on a catalogue that may never come.
    const isAhead = batch.seq >= seq;
    const hasEffect =
      (await this.#isOfEpoch(batch)) && !isAhead && isNew(head.origins.get(batch.origin.name), batch.origin);
    const after = nextHead(head, bytes, hasEffect ? batch.origin : undefined);
    this.history.note(after);
    if (hasEffect) {
      await catalogueAt(batch.catalogue);
      const isPatient = batch.origin.name !== node && this.#writer.origin !== undefined;
      this.#settle(batch, await target.apply({ before: head, after, commands: batch.commands, isPatient }));
      // Also for a fresh read, which has no commands.
      if (!isPatient) target.hurry();
    }
    this.#head = after;
    if (++this.#sinceAdvance >= advanceAfter) {
      this.#sinceAdvance = 0;
      target.advance(after);
    }
    this.#checkCurrent();
    await this.#outstanding.whenFew();
  }

  /**
   * Tells whether a message is of the epoch of the stream: one of a node that has not noticed yet that the stream was made anew
   * has no effect, on any replica. Where this node is the one, it notices when it looks at the stream again.
   */
  async #isOfEpoch(batch: Batch): Promise<boolean> {
    const { epoch } = this.#head;
    if (batch.epoch !== epoch) {
      const info = await this.options.stream.info('throw');
      if (info.epoch !== epoch) throw new Error('the stream was made anew while it was read');
      return false;
    }
    this.history.check(batch);
    this.#writer.checkName(batch.origin);
    return true;
  }

  /** Answers those who sent the commands of a message, if they are on this node. */
  #settle({ origin }: Batch, outcomes: readonly (Promise<Outcome> | undefined)[]): void {
    const sent = origin.name === this.options.node ? this.#writer.arrived(origin) : [];
    const commands = sent.filter(({ bytes }) => bytes !== undefined);
    const work = outcomes.map((outcome, at) => {
      if (outcome !== undefined)
        return this.#outstanding.add(outcome.then((found) => answer(found, commands[at])));
      commands[at]?.reject(appliedBefore());
    });
    this.#outstanding.whenDurable(work, () => {
      for (const barrier of sent) if (barrier.bytes === undefined) barrier.resolve(undefined);
      if (sent.length > 0) this.#writer.applied(origin);
    });
  }

  /** What was there at the start is applied: from now on commands can be sent. */
  #checkCurrent(): void {
    if (this.#head.seq < this.#end || this.#writer.origin !== undefined) return;
    this.#outstanding.durable.then(
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
