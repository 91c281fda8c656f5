import { Unavailable } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import { StreamMissing } from '../log/stream.js';
import type { NatsServers } from './nats-connection.js';
import type { NatsStream } from './nats-stream.js';

/** How long this node may be behind the catalogue, or without a NATS server, before it refuses requests. */
const staleMs = 3_000;
const pollMs = 20;

/** Whether this node is current with the catalogue. */
export class Currency {
  #currentMs: number;
  #looking: Promise<boolean> | undefined;

  constructor(
    private readonly nats: Pick<NatsServers, 'isConnected'>,
    /** The catalogue's stream, once it is followed. */
    private readonly stream: () => Pick<NatsStream, 'info'> | undefined,
    private readonly runtime: Runtime,
    /** The last message of it that this node has applied. */
    private readonly applied: () => number,
  ) {
    this.#currentMs = runtime.monotonicMs();
  }

  /** Whether others may have changed databases, accounts or rights without this node knowing. */
  get isStale(): boolean {
    return this.runtime.monotonicMs() - this.#currentMs > staleMs;
  }

  /** Resolves when this node is known to be current with the catalogue; rejects where it is cut off. */
  async whenCurrent(): Promise<void> {
    if (!(await this.look())) throw new Unavailable('This node is cut off from the cluster.');
  }

  /** Tells whether this node is current with the catalogue. Of several who ask at once, all get the same answer. */
  look(): Promise<boolean> {
    return (this.#looking ??= this.#isCurrent().finally(() => (this.#looking = undefined)));
  }

  /** While the servers elect a leader nothing is known, and reads go on for a moment. */
  async #isCurrent(): Promise<boolean> {
    const now = this.runtime.monotonicMs();
    if (!this.nats.isConnected) return false;
    const last = await this.#last();
    if (last === undefined) return !this.isStale;
    // What was written just now is on its way.
    while (this.applied() < last) {
      if (this.runtime.monotonicMs() - now > staleMs) return false;
      await this.runtime.sleep(pollMs);
    }
    this.#currentMs = now;
    return true;
  }

  /** Undefined where that is not known. A stream that is gone brings nothing that this node does not know. */
  async #last(): Promise<number | undefined> {
    try {
      return (await this.stream()?.info('throw'))?.last;
    } catch (error) {
      return error instanceof StreamMissing ? 0 : undefined;
    }
  }
}
