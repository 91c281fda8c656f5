import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { UserContext } from '../base/user-context.js';
import type { StreamReplica } from '../log/stream-replica.js';
import { CopyNeeded } from '../log/stream.js';
import type { ClusterTargets } from '../node/cluster-link.js';
import type { PlaceCommand, PlaceStep, StreamPlacement } from '../node/stream-placement.js';
import { catalogueHeader, encodeUser, secretHeader, userHeader, type BlobExchange } from './blob-exchange.js';
import { Leaders } from './leaders.js';
import type { Members } from './members.js';
import type { Followed } from './status.js';
import { ReachedHosts } from './reached-hosts.js';
import { copyStream } from './stream-copy.js';
import type { StreamName, StreamSources } from './stream-sources.js';
import { StreamUses } from './stream-uses.js';

export interface HostingParts {
  node: string;
  secret: string;
  members: Members;
  sources: StreamSources;
  blobs: BlobExchange;
  followed: Map<StreamName, Followed>;
  runtime: Runtime;
  logger: Logger;
  /** Begins to follow a stream. */
  follow(stream: number): StreamReplica;
  send(command: PlaceCommand): Promise<unknown>;
  catalogueAt(position: number): Promise<void>;
  cataloguePosition(): number;
  /** Whether this node may not know what the catalogue has. */
  isStale(): boolean;
}

const pollMs = 200;
/** After which time something that failed is tried again. */
const againMs = 3_000;
/** How long a node may be behind the catalogue of another one that asks it. */
const knownMs = 5_000;

/**
 * Lets this node host the streams that it is to host, and no others: copies the databases of a stream from another host, follows
 * it, says that it has them; and erases them when others have all that it has. The nodes agree on that by commands of the
 * catalogue (`node/stream-placement.ts`), so that it goes on after any interruption.
 */
export class Hosting {
  #targets: ClusterTargets | undefined;
  #isBegun = false;
  /** Streams of which this node has applied all that there was when it began to follow them. */
  readonly #current = new Set<number>();
  /** Streams of which this node has nothing. */
  readonly #erased = new Set<number>();
  /** Streams that are worked on, and when those that failed are tried again. */
  readonly #busy = new Set<number>();
  readonly #notBefore = new Map<number, number>();
  readonly uses = new StreamUses();
  readonly reached: ReachedHosts;
  /** One copy at a time. */
  #copying: Promise<void> = Promise.resolve();
  #working = new Set<Promise<void>>();
  #stopping = new AbortController();

  readonly leaders: Leaders;

  constructor(private readonly parts: HostingParts) {
    this.reached = new ReachedHosts(parts.node, parts.members, parts.runtime);
    this.leaders = new Leaders({
      ...parts,
      placements: () => this.placements,
      isHosted: (stream) => this.isHosted(stream),
    });
  }

  get placements(): ReadonlyMap<number, StreamPlacement> {
    return this.#targets?.placements() ?? new Map<number, StreamPlacement>();
  }

  /** Nodes that count, of those that have the databases of a stream. */
  hostsOf(stream: number): readonly string[] {
    const { known } = this.parts.members.names();
    return this.placements.get(stream)?.hosts.filter((name) => known.includes(name)) ?? known;
  }

  /** Whether messages of a stream are kept for a node: it is a host, or is to be one. */
  isConcerned(stream: StreamName, node: string): boolean {
    const placement = stream === 'catalogue' ? undefined : this.placements.get(stream);
    return placement === undefined || placement.hosts.includes(node) || placement.wanted.includes(node);
  }

  follows(stream: StreamName): boolean {
    return this.isConcerned(stream, this.parts.node);
  }

  isHosted(stream: number): boolean {
    const placement = this.placements.get(stream);
    return (
      placement === undefined || (placement.hosts.includes(this.parts.node) && this.#current.has(stream))
    );
  }

  /** The streams with hosts of their own that this node serves. */
  served(): number[] {
    return [...this.placements.keys()].filter((stream) => this.isHosted(stream));
  }

  /** Where a host is reached that serves a stream, if another one does: the same one as long as it is there. */
  hostUrl(stream: number): string | undefined {
    return this.reached.urlFor(stream, this.placements.get(stream)?.hosts ?? []);
  }

  start(targets: ClusterTargets): void {
    this.#targets = targets;
    this.#stopping = new AbortController();
    this.#current.clear();
    this.#erased.clear();
  }

  async stop(): Promise<void> {
    this.#targets = undefined;
    this.#isBegun = false;
    this.#stopping.abort(new Unavailable('The server is closing.'));
    await Promise.allSettled(this.#working);
  }

  /** This node follows what it has: from now on the rest is seen to. */
  begin(): void {
    this.#isBegun = true;
    this.leaders.start();
    this.look();
  }

  /** The placement was changed. */
  changed(): void {
    this.leaders.changed();
    this.look();
  }

  /** Headers with which another node does what a user may do. */
  headersAs(user: UserContext): Record<string, string> {
    return { ...this.headers(), [userHeader]: encodeUser(user) };
  }

  /** Headers of requests to another node, which is to know all databases and settings that this one knows. */
  headers(): Record<string, string> {
    return { [secretHeader]: this.parts.secret, [catalogueHeader]: String(this.parts.cataloguePosition()) };
  }

  /** Resolves when this node has applied the catalogue up to there; rejects where that takes too long. */
  async whenKnown(position: number): Promise<void> {
    const { catalogueAt, runtime } = this.parts;
    const late = new AbortController();
    const wait = runtime.sleep(knownMs, late.signal).then(() => {
      throw new Unavailable('This node does not know yet what another one knows.');
    });
    wait.catch(() => undefined);
    await Promise.race([catalogueAt(position), wait]).finally(() => late.abort());
  }

  /** A replica was begun. */
  followed(stream: number, replica: StreamReplica): void {
    this.#erased.delete(stream);
    void replica.whenCurrent().then(() => {
      const isStill = this.parts.followed.get(stream)?.replica === replica;
      if (isStill && !(replica.lost instanceof CopyNeeded)) this.#current.add(stream);
    });
  }

  /** Does what the placement asks of this node. */
  look(): void {
    if (!this.#isBegun) return;
    const now = this.parts.runtime.monotonicMs();
    for (const stream of this.placements.keys()) {
      const isDue = !this.#busy.has(stream) && (this.#notBefore.get(stream) ?? 0) <= now;
      if (!isDue || !this.#isWanting(stream)) continue;
      this.#busy.add(stream);
      const work = this.#settle(stream)
        .catch((error: unknown) => {
          if (this.#targets === undefined) return;
          this.parts.logger.warn({ err: error, stream }, 'taking over a stream failed; it is tried again');
          this.#notBefore.set(stream, this.parts.runtime.monotonicMs() + againMs);
        })
        .finally(() => {
          this.#busy.delete(stream);
          this.#working.delete(work);
        });
      this.#working.add(work);
    }
  }

  #isWanting(stream: number): boolean {
    const replica = this.parts.followed.get(stream)?.replica;
    if (!this.follows(stream)) return replica !== undefined || !this.#erased.has(stream);
    if (replica === undefined || replica.lost instanceof CopyNeeded) return true;
    return !this.#current.has(stream) || !this.placements.get(stream)!.hosts.includes(this.parts.node);
  }

  async #settle(stream: number): Promise<void> {
    if (!this.follows(stream)) return await this.#leave(stream);
    const known = this.parts.followed.get(stream)?.replica;
    if (known === undefined || known.lost instanceof CopyNeeded) await this.#enter(stream);
    if (!(await this.#becomesCurrent(stream))) return;
    const { version, hosts } = this.placements.get(stream)!;
    if (!hosts.includes(this.parts.node)) await this.place(stream, version, { arrived: this.parts.node });
  }

  /** Waits until this node has applied what a stream had. False where it cannot, or is not to host it any more. */
  async #becomesCurrent(stream: number): Promise<boolean> {
    const replica = this.parts.followed.get(stream)?.replica;
    if (replica === undefined) return false;
    let isApplied = false;
    void replica.whenCurrent().then(() => (isApplied = true));
    // A replica that is stopped before never tells.
    for (; !isApplied && this.follows(stream); this.#open()) await this.parts.runtime.sleep(pollMs);
    this.#open();
    if (!this.follows(stream) || replica.lost instanceof CopyNeeded) return false;
    this.#current.add(stream);
    return replica.lost === undefined;
  }

  async place(stream: number, version: number, step: PlaceStep): Promise<void> {
    await this.parts.send({ type: 'place', name: String(stream), version, step });
  }

  /** Begins to follow a stream, with a copy of what another host has where the stream does not have all of it. */
  async #enter(stream: number): Promise<void> {
    const { sources, followed } = this.parts;
    const { streamGroups } = this.#open();
    this.#current.delete(stream);
    const known = followed.get(stream)?.replica;
    await known?.stop();
    followed.delete(stream);
    const { first } = await sources.get(stream).info();
    const isCopied = known?.lost instanceof CopyNeeded || first > 1;
    this.#copying = this.#copying
      .catch(() => undefined)
      .then(async () => {
        this.#open();
        if (!this.follows(stream)) return;
        // What an interrupted copy has left, or what does not fit to the stream.
        streamGroups.release(stream);
        await streamGroups.erase(stream);
        if (isCopied) await copyStream(stream, this.parts, streamGroups, this.#stopping.signal);
      });
    await this.#copying;
    this.#open();
    if (this.follows(stream)) this.parts.follow(stream);
  }

  /** Erases what this node has of a stream, when all that are hosts now have it. */
  async #leave(stream: number): Promise<void> {
    const { followed, sources, logger, runtime } = this.parts;
    const { streamGroups } = this.#open();
    const wasCurrent = this.#current.delete(stream);
    streamGroups.release(stream);
    let last: number | undefined;
    while (last === undefined || !this.#isNeededNoMore(stream, last)) {
      // Requests may have written until the last of them has ended.
      if (last === undefined && !this.uses.isUsed(stream))
        ({ last } = await sources.get(stream).info('throw'));
      await runtime.sleep(pollMs);
      this.#open();
      if (!this.follows(stream)) continue;
      if (wasCurrent) this.#current.add(stream);
      return;
    }
    await followed.get(stream)?.replica.stop();
    followed.delete(stream);
    await streamGroups.erase(stream);
    this.#erased.add(stream);
    logger.notice({ stream }, 'this node does not have the databases of a stream any more');
  }

  /** Whether no request uses it here, and each host has all of it, on disk. One that is away may come back without its data. */
  #isNeededNoMore(stream: number, last: number): boolean {
    const hosts = this.hostsOf(stream);
    const others = this.parts.members.others();
    const has = (host: string): boolean => {
      const found = others.find(({ name }) => name === host);
      return found !== undefined && (found.positions[stream] ?? -1) >= last;
    };
    // Where all hosts were removed, this node has what is left.
    return !this.uses.isUsed(stream) && hosts.length > 0 && hosts.every(has);
  }

  /** Throws where the node closes its stores. */
  #open(): ClusterTargets {
    if (this.#targets === undefined) throw new Unavailable('The server is closing.');
    return this.#targets;
  }
}
