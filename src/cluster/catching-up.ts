import type { StreamReplica } from '../log/stream-replica.js';
import type { StreamName } from './stream-sources.js';

/** The replicas of streams that this node follows. */
type Replicas = ReadonlyMap<StreamName, { replica: Pick<StreamReplica, 'fresh' | 'lost'> }>;

/**
 * After a pause of this node, or of its connection: the streams of which it may not have applied yet what others have written
 * meanwhile. The catalogue may be current long before they are.
 */
export class CatchingUp {
  /** Those, with the barriers that were sent since. */
  readonly #behind = new Map<StreamName, Promise<void> | undefined>();

  constructor(private readonly followed: Replicas) {}

  /** Whether there are any. */
  get isBehind(): boolean {
    return this.#behind.size > 0;
  }

  /** There was a pause. What was asked before tells nothing of it. */
  begin(): void {
    for (const stream of this.followed.keys()) this.#behind.set(stream, undefined);
  }

  /** Sends barriers to all that are behind, also where one has failed. */
  look(): void {
    for (const stream of this.#behind.keys()) this.#pass(stream).catch(() => undefined);
  }

  /** Resolves when this node has applied what a stream had when the pause was over; rejects where it does not in time. */
  async whenCaughtUp(stream: StreamName): Promise<void> {
    if (this.#behind.has(stream)) await this.#pass(stream);
  }

  #pass(stream: StreamName): Promise<void> {
    const known = this.#behind.get(stream);
    if (known !== undefined) return known;
    const isLatest = (): boolean => this.#behind.get(stream) === barrier;
    const barrier = this.#barrier(stream).then(
      () => {
        if (isLatest()) this.#behind.delete(stream);
      },
      (error: unknown) => {
        if (isLatest()) this.#behind.set(stream, undefined);
        throw error;
      },
    );
    this.#behind.set(stream, barrier);
    return barrier;
  }

  /** A stream that cannot be followed any more brings nothing: its databases are read as they are. */
  async #barrier(stream: StreamName): Promise<void> {
    const replica = this.followed.get(stream)?.replica;
    if (replica === undefined || replica.lost !== undefined) return;
    await replica.fresh().catch((error: unknown) => {
      if (replica.lost === undefined) throw error;
    });
  }
}
