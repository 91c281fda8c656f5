import type { Runtime, Timer } from '../base/runtime.js';
import type { Lease, LeaseCommand } from '../node/lease.js';

/** How often the owner renews its lease. */
const renewMs = 2_000;
/** How long a lease is valid for its owner, from when it asked for it. */
const validMs = 5_000;
/** How long others hear nothing of the owner before they ask for the lease. */
const silentMs = 8_000;

/**
 * Which node does what is done once per cluster. The lease is given by commands of the catalogue; see decision 031. The
 * owner counts from when it sent a renewal, the others from when they applied it, which is later: so it has ceased to be the
 * owner before another one begins.
 */
export class Ownership {
  #lease: Lease = { node: '', term: 0 };
  /** When anything was last heard of the owner, by the monotonic clock. */
  #heardMs: number;
  #validUntilMs = -Infinity;
  #asked: { term: number; atMs: number } | undefined;
  #timer: Timer | undefined;
  #isAsking = false;

  constructor(
    private readonly node: string,
    private readonly runtime: Runtime,
    private readonly ask: (command: LeaseCommand) => Promise<unknown>,
    private readonly onChange: () => void,
    /** Whether this node may be the owner. */
    private readonly mayOwn: () => boolean = () => true,
  ) {
    this.#heardMs = runtime.monotonicMs();
  }

  get isOwner(): boolean {
    return this.#lease.node === this.node && this.runtime.monotonicMs() < this.#validUntilMs;
  }

  get owner(): string {
    return this.#lease.node;
  }

  start(lease: Lease): void {
    this.#lease = lease;
    this.#heardMs = this.runtime.monotonicMs();
    this.#timer ??= this.runtime.setIdleRepeating(() => void this.#look(), renewMs / 2);
    void this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#validUntilMs = -Infinity;
  }

  /** A command that asks for the lease was applied. */
  applied(asked: LeaseCommand, now: Lease): void {
    const isNew = now.node !== this.#lease.node;
    this.#lease = now;
    // Asking in vain says nothing of the owner.
    if (asked.name !== now.node || asked.term !== now.term) return;
    this.#heardMs = this.runtime.monotonicMs();
    if (now.node === this.node && this.#asked?.term === now.term)
      this.#validUntilMs = this.#asked.atMs + validMs;
    if (isNew) this.onChange();
  }

  async #look(): Promise<void> {
    const now = this.runtime.monotonicMs();
    const { node, term } = this.#lease;
    const isDue =
      node === this.node ? now >= this.#validUntilMs - validMs + renewMs : now - this.#heardMs > silentMs;
    if (this.#isAsking || !(isDue || term === 0) || !this.mayOwn()) return;
    this.#isAsking = true;
    // Where it was asked for in vain, it may have been granted all the same: it counts from the first time on.
    if (this.#asked?.term !== term + 1) this.#asked = { term: term + 1, atMs: now };
    // Where the log cannot be reached, the lease runs out, and is asked for again.
    await this.ask({ type: 'lease', name: this.node, term: term + 1 }).catch(() => undefined);
    this.#isAsking = false;
  }
}
