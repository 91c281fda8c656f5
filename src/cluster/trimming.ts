import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { Members } from './members.js';
import type { NatsServers } from './nats-connection.js';

export interface TrimOptions {
  /** What the names of the streams begin with. */
  name: string;
  /** A node of which nothing was heard for so long does not count. */
  absentMs(): number;
  /** Messages that are removed from a stream at a time, at least. */
  trimMessages(): number;
}

/** How often streams are looked at. */
const trimMs = 5_000;

/**
 * Removes messages from streams that all nodes which count have applied, on disk. Every node tells the others how far it is
 * (`members.ts`); the owner removes. A node that has been away for longer than others wait for it, or that has lost its data,
 * copies the databases of another one.
 */
export class Trimming {
  /** Messages before these were removed. */
  readonly #trimmed = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(
    private readonly replicas: ReadonlyMap<string | number, StreamReplica>,
    private readonly members: Members,
    private readonly nats: NatsServers,
    private readonly options: TrimOptions,
    private readonly runtime: Runtime,
    private readonly logger: Logger,
    private readonly isOwner: () => boolean,
  ) {}

  start(): void {
    this.#timer ??= this.runtime.setIdleRepeating(() => void this.#trimAll(), trimMs);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #trimAll(): Promise<void> {
    for (const [name, replica] of this.replicas) {
      replica.advance();
      if (this.isOwner()) await this.#trim(String(name), replica);
    }
  }

  /** The last message that all have stays, so that the stream is never empty. */
  async #trim(stream: string, { storedSeq }: StreamReplica): Promise<void> {
    const { name, absentMs, trimMessages } = this.options;
    const seq = Math.min(this.members.storedByAll(stream, absentMs()) ?? 0, storedSeq ?? 0);
    if (seq - (this.#trimmed.get(stream) ?? 0) < trimMessages()) return;
    try {
      await this.nats.trim(`${name}-${stream}`, seq);
      this.#trimmed.set(stream, seq);
    } catch (error) {
      this.logger.warn({ err: error, stream }, 'a stream could not be trimmed; it is tried again');
    }
  }
}
