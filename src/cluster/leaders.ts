import type { Runtime } from '../base/runtime.js';
import type { PlaceCommand, StreamPlacement } from '../node/stream-placement.js';
import type { Members } from './members.js';

/** How long nothing may be heard of a leader before another one is named. */
const silentMs = 8_000;
/** How long a new leader waits: the one before has ceased by then, since it has not been current with the catalogue for 3 s. */
const waitMs = 5_000;

interface LeaderParts {
  node: string;
  members: Pick<Members, 'others'>;
  runtime: Runtime;
  placements(): ReadonlyMap<number, StreamPlacement>;
  isHosted(stream: number): boolean;
  /** Whether this node may not know what the catalogue has. */
  isStale(): boolean;
  send(command: PlaceCommand): Promise<unknown>;
}

/**
 * Who does for the databases of a stream what is done once per cluster, where not all nodes host it: the leader of the stream,
 * which the catalogue names. The owner of the lease names another one when it is gone.
 */
export class Leaders {
  /** Since when this node is the leader of streams. */
  readonly #since = new Map<number, number>();
  /** Since when the leaders of others are not there. */
  readonly #missing = new Map<number, number>();

  constructor(private readonly parts: LeaderParts) {}

  /** A node that has just started has to wait too. */
  start(): void {
    this.#since.clear();
    this.changed();
  }

  /** The placement was changed. */
  changed(): void {
    const { runtime, node } = this.parts;
    for (const [stream, { leader }] of this.parts.placements()) {
      if (leader !== node) this.#since.delete(stream);
      else if (!this.#since.has(stream)) this.#since.set(stream, runtime.monotonicMs());
    }
  }

  isLeader(stream: number): boolean {
    const { runtime, isHosted, isStale } = this.parts;
    const since = this.#since.get(stream);
    return since !== undefined && runtime.monotonicMs() - since > waitMs && isHosted(stream) && !isStale();
  }

  /** Names others where leaders are gone: called on the owner of the lease. */
  async look(): Promise<void> {
    const { runtime, node, members, send, isHosted } = this.parts;
    const others = members.others();
    const drained = new Set(others.flatMap(({ name, is_drained }) => (is_drained ? [name] : [])));
    for (const [stream, { leader, hosts, version }] of this.parts.placements()) {
      const serves = (name: string): boolean =>
        name === node
          ? isHosted(stream)
          : others.some((each) => each.name === name && each.serves.includes(stream));
      const mayLead = (name: string): boolean => serves(name) && !drained.has(name);
      const now = runtime.monotonicMs();
      if (serves(leader)) this.#missing.delete(stream);
      else if (!this.#missing.has(stream)) this.#missing.set(stream, now);
      const next = hosts.find(mayLead) ?? hosts.find(serves);
      // One that is about to be stopped hands it over at once.
      const isHandedOver = drained.has(leader) && next !== undefined && mayLead(next);
      const isLost = now - (this.#missing.get(stream) ?? now) >= silentMs;
      if (next === undefined || !(isLost || isHandedOver)) continue;
      this.#missing.delete(stream);
      const step = { leader: next };
      // Where it fails, it is found missing again.
      await send({ type: 'place', name: String(stream), version, step }).catch(() => undefined);
    }
  }
}
