import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { Members } from './members.js';
import type { NatsStream } from './nats-stream.js';
import type { StreamName } from './stream-sources.js';

export interface TrimOptions {
  /** What the names of the streams begin with. */
  name: string;
  /** A node of which nothing was heard for so long does not count. */
  absentMs(): number;
  /** Messages that are removed from a stream at a time, at least. */
  trimMessages(): number;
}

interface Trimmed {
  stream: Pick<NatsStream, 'trim'>;
  replica: StreamReplica;
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
    private readonly followed: ReadonlyMap<StreamName, Trimmed>,
    private readonly members: Members,
    private readonly options: TrimOptions,
    private readonly runtime: Runtime,
    private readonly logger: Logger,
    /** Whether this node trims a stream, and whether messages of it are kept for a node. */
    private readonly rules: {
      trims(stream: StreamName): boolean;
      isConcerned(stream: StreamName, node: string): boolean;
    },
  ) {}

  start(): void {
    this.#timer ??= this.runtime.setIdleRepeating(() => void this.#trimAll(), trimMs);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #trimAll(): Promise<void> {
    for (const [name, followed] of this.followed) {
      followed.replica.advance();
      if (this.rules.trims(name)) await this.#trim(name, followed);
    }
  }

  /** The last message that all have stays, so that the stream is never empty. */
  async #trim(stream: StreamName, { stream: source, replica }: Trimmed): Promise<void> {
    const { storedSeq, place } = replica;
    const { absentMs, trimMessages } = this.options;
    const name = String(stream);
    const isConcerned = (node: string): boolean => this.rules.isConcerned(stream, node);
    const stored = this.members.storedByAll(name, absentMs(), isConcerned);
    const seq = Math.min(stored ?? 0, storedSeq ?? 0);
    if (place === undefined || seq - (this.#trimmed.get(name) ?? 0) < trimMessages()) return;
    try {
      await source.trim(seq, place.head.epoch);
      this.#trimmed.set(name, seq);
    } catch (error) {
      this.logger.warn({ err: error, stream: name }, 'a stream could not be trimmed; it is tried again');
    }
  }
}
