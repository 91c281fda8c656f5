import { Unavailable } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import { StreamMissing } from '../log/stream.js';
import { CatchingUp } from './catching-up.js';
import type { NatsServers } from './nats-connection.js';
import type { NatsStream } from './nats-stream.js';
import type { StreamName } from './stream-sources.js';

/** How long this node may be behind the catalogue, or without a NATS server, before it refuses requests. */
const staleMs = 3_000;
const pollMs = 20;

/** The streams that this node follows. */
type FollowedStreams = ReadonlyMap<
  StreamName,
  {
    stream: Pick<NatsStream, 'info'>;
    replica: Pick<StreamReplica, 'fresh' | 'seq' | 'lost'>;
  }
>;

interface Clocks {
  monotonicMs: number;
  nowMs: number;
}

/** Whether this node is current with the catalogue. */
export class Currency {
  /** When this node was last known to be current, by both clocks: while a machine sleeps, only the second one goes on. */
  #current: Clocks;
  #looking: Promise<boolean> | undefined;
  readonly #catchingUp: CatchingUp;

  constructor(
    private readonly nats: Pick<NatsServers, 'isConnected'>,
    private readonly followed: FollowedStreams,
    private readonly runtime: Runtime,
  ) {
    this.#current = this.#clocks();
    this.#catchingUp = new CatchingUp(followed);
  }

  /** Whether others may have changed databases, accounts or rights without this node knowing. */
  get isStale(): boolean {
    return this.#isStaleAt(this.#clocks());
  }

  /** Whether this node may not have seen yet what others have written while it, or its connection, paused. */
  get mayLag(): boolean {
    return this.isStale || this.#catchingUp.isBehind;
  }

  /** Resolves when this node is known to be current with the catalogue; rejects where it is cut off. */
  async whenCurrent(): Promise<void> {
    // A look that began before a pause tells nothing of what was written meanwhile.
    if (this.isStale) await this.#looking;
    if (this.isStale) await this.look();
    if (this.isStale) throw new Unavailable('This node is cut off from the cluster.');
    await this.whenCaughtUp(['catalogue']);
  }

  /** Resolves when it has applied what was written to streams while it paused, to all where none are named. */
  async whenCaughtUp(streams: Iterable<StreamName> = this.followed.keys()): Promise<void> {
    await Promise.all([...streams].map((stream) => this.#catchingUp.whenCaughtUp(stream)));
  }

  /** Tells whether this node is current with the catalogue. Of several who ask at once, all get the same answer. */
  look(): Promise<boolean> {
    return (this.#looking ??= this.#isCurrent().finally(() => {
      this.#looking = undefined;
      if (!this.isStale) this.#catchingUp.look();
    }));
  }

  /** While the servers elect a leader nothing is known, and reads go on for a moment. */
  async #isCurrent(): Promise<boolean> {
    const began = this.#clocks();
    if (!this.nats.isConnected) return false;
    const last = await this.#last();
    if (last === undefined) return !this.isStale;
    // What was written just now is on its way.
    while (this.#applied < last) {
      if (this.runtime.monotonicMs() - began.monotonicMs > staleMs) return false;
      await this.runtime.sleep(pollMs);
    }
    const wasStale = this.#isStaleAt(began);
    this.#current = began;
    if (wasStale) this.#catchingUp.begin();
    return true;
  }

  #isStaleAt({ monotonicMs, nowMs }: Clocks): boolean {
    return monotonicMs - this.#current.monotonicMs > staleMs || nowMs - this.#current.nowMs > staleMs;
  }

  #clocks(): Clocks {
    return { monotonicMs: this.runtime.monotonicMs(), nowMs: this.runtime.now() };
  }

  get #applied(): number {
    return this.followed.get('catalogue')?.replica.seq ?? 0;
  }

  /** Undefined where that is not known. A stream that is gone brings nothing that this node does not know. */
  async #last(): Promise<number | undefined> {
    try {
      return (await this.followed.get('catalogue')?.stream.info('throw'))?.last;
    } catch (error) {
      return error instanceof StreamMissing ? 0 : undefined;
    }
  }
}
