import type { Bytes } from '../base/bytes.js';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { Appended } from '../log/log.js';
import { CopyNeeded } from '../log/stream.js';
import { encodeCatalogueCommand } from '../node/catalogue-codec.js';
import type { Lease, LeaseCommand } from '../node/lease.js';
import type { ClusterLink, ClusterTargets } from '../node/cluster-link.js';
import type { PlaceCommand } from '../node/stream-placement.js';
import { BlobExchange } from './blob-exchange.js';
import type { ClusterOptions } from './cluster-options.js';
import { checkCopyNeeded, copyNeeded } from './copy-needed.js';
import { CopyCount } from './copy-count.js';
import { Currency } from './currency.js';
import { Following } from './following.js';
import { Hosting } from './hosting.js';
import { Members, type OwnState } from './members.js';
import type { NatsServers } from './nats-connection.js';
import { NodeMessages } from './node-messages.js';
import { Ownership } from './ownership.js';
import { PeerCopies } from './peer-copy.js';
import { problemOf } from './problem.js';
import { Rebalancing } from './rebalancing.js';
import { Removal } from './removal.js';
import { Recovery } from './recovery.js';
import { Rejoining } from './rejoining.js';
import { StreamSources, type StreamName } from './stream-sources.js';
import { StatusReport, type ClusterStatus } from './status.js';
import { Trimming } from './trimming.js';

const lookMs = 1_000;

/** The cluster, seen from one of its nodes: applies all streams, and sends commands to them. */
export class Cluster implements ClusterLink {
  readonly #ownership: Ownership;
  readonly #members: Members;
  readonly blobs: BlobExchange;
  #timer: Timer | undefined;
  readonly currency: Currency;
  readonly copyCount: CopyCount;
  readonly #following: Following;
  readonly report: StatusReport;
  #isStarted = false;
  readonly #trimming: Trimming;
  #wasOwner = false;
  readonly #removal: Removal;
  /** Called when this node becomes the owner, or may be it no longer. */
  onOwnerChange: () => void = () => {};
  readonly sources: StreamSources;
  readonly recovery: Recovery;
  #isReached = false;
  readonly rejoining = new Rejoining();
  readonly hosting: Hosting;

  constructor(
    private readonly nats: NatsServers,
    private readonly options: ClusterOptions,
    private readonly runtime: Runtime,
    private readonly logger: Logger,
  ) {
    const { node } = options;
    const ask = (command: LeaseCommand | PlaceCommand): Promise<unknown> =>
      this.send('catalogue', encodeCatalogueCommand(command));
    this.#ownership = new Ownership(node, runtime, ask, () => this.onOwnerChange(), options.mayOwn);
    const messages = new NodeMessages(nats, options);
    this.#members = new Members(
      messages,
      options,
      runtime,
      () => this.#ownState(),
      () => this.#following.origins,
    );
    this.#removal = new Removal(node, this.#members, logger);
    const hostsOf = (stream?: number): readonly string[] =>
      stream === undefined ? this.#members.names().known : this.hosting.hostsOf(stream);
    this.blobs = new BlobExchange(this.#members, options, logger, runtime, hostsOf);
    this.sources = new StreamSources(nats, options, runtime);
    this.#following = new Following({
      ...{ options, sources: this.sources, runtime, logger },
      isEverywhere: (stream) => !this.hosting.placements.has(stream),
      bring: (digests, stream) => this.blobs.bring(digests, stream),
      onBegin: (stream, replica) => this.hosting.followed(stream, replica),
      onLost: () => this.#rejoinIfNeeded(),
    });
    const { streams: followed } = this.#following;
    this.hosting = new Hosting({
      ...{ node, secret: options.secret, members: this.#members, sources: this.sources },
      ...{ blobs: this.blobs, followed, runtime, logger, send: ask, isStale: () => this.isStale },
      follow: (stream) => this.#following.begin(stream),
      catalogueAt: (position) => this.#following.catalogueAt(position),
      cataloguePosition: () => this.#following.cataloguePosition,
    });
    const rules = {
      trims: (stream: StreamName) => (stream === 'catalogue' ? this.isOwner : this.isOwnerOf(stream)),
      isConcerned: (stream: StreamName, name: string) => this.hosting.isConcerned(stream, name),
    };
    this.#trimming = new Trimming(followed, this.#members, options, runtime, logger, rules);
    this.currency = new Currency(nats, followed, runtime);
    const { sources, hosting } = this;
    const parts = { followed, members: this.#members, sources, hosting, options, runtime, logger };
    this.copyCount = new CopyCount({ ...parts, messages });
    this.recovery = new Recovery({ ...parts, rejoin: () => this.#rejoin() });
    this.report = new StatusReport(followed, this.#members, nats, runtime, hosting, sources);
  }

  get nodeName(): string {
    return this.options.node;
  }

  get isOwner(): boolean {
    return this.#ownership.isOwner;
  }

  get owner(): string {
    return this.#ownership.owner;
  }

  isOwnerOf(stream: number): boolean {
    return this.hosting.placements.has(stream) ? this.hosting.leaders.isLeader(stream) : this.isOwner;
  }

  get rebalancing(): Rebalancing {
    return new Rebalancing(this.#members, this.hosting, this.options);
  }

  placed(): void {
    this.hosting.changed();
    this.#members.beat();
  }

  /** Where the owner is reached, if that is another node and it is there. */
  get ownerUrl(): string | undefined {
    return this.urlOf(this.owner);
  }

  /** Where this node is reached. */
  get advertised(): string {
    return this.options.advertise;
  }

  /** What keeps other nodes that are there from being asked, by their names. */
  othersProblems(): Record<string, string> {
    return this.#members.problems();
  }

  /** Whether another node is there and follows the list of databases. */
  isServing(name: string): boolean {
    return this.#members.others().some((each) => each.name === name && 'catalogue' in each.positions);
  }

  get secret(): string {
    return this.options.secret;
  }

  /** Databases of the server itself are in the first stream. */
  streamFor(name: string): number {
    const { streams, isEverywhere } = this.options;
    return isEverywhere(name) || streams === 1 ? 0 : 1 + this.runtime.randomBelow(streams - 1);
  }

  send(stream: StreamName, command: Bytes): Promise<Appended<unknown>> {
    return this.#following.replica(stream).send(command) as Promise<Appended<unknown>>;
  }

  /** Of all streams, where none is named. */
  async fresh(stream?: StreamName): Promise<void> {
    const streams = stream === undefined ? [...this.#following.streams.keys()] : [stream];
    await Promise.all(streams.map((each) => this.#following.replica(each).fresh()));
  }

  catalogueApplied(position: number): void {
    this.#following.catalogueApplied(position);
  }

  leased(asked: LeaseCommand, now: Lease): void {
    this.#ownership.applied(asked, now);
  }

  /** From now on others reach this node: at this address, if no other was given. */
  advertise(url: string): void {
    this.options.advertise ||= url;
    this.#isReached = true;
    this.#members.beat();
    this.#rejoinIfNeeded();
  }

  async start(targets: ClusterTargets): Promise<void> {
    const { blobs, removed, isNew } = targets;
    const { sources, options, hosting } = this;
    hosting.start(targets);
    const checkCopy = (): Promise<void> =>
      checkCopyNeeded(this.#following.everywhere(), sources, options.node, !isNew && !this.#isReached);
    this.#members.removed = removed;
    this.blobs.store = blobs;
    this.#members.start();
    const first = this.#following.start(targets);
    await first.whenCurrent();
    await checkCopy();
    if (first.lost === undefined) await this.#removal.undo(first);
    // Positions of a catalogue that is replaced mean other commands than those that messages need.
    const length = first.lost instanceof CopyNeeded ? 0 : this.options.streams;
    const streams = [...Array(length).keys()].filter((stream) => this.#isFollowedAtOnce(stream, targets));
    await Promise.all(streams.map((stream) => this.#following.begin(stream).whenCurrent()));
    // Opening the stores may have taken longer than a node may go without a look.
    if (first.lost === undefined) await this.currency.look();
    await checkCopy();
    // Requests are forwarded from now on.
    const isAsked = (node: string): boolean => hosting.placements.size > 0 || node === targets.lease().node;
    await this.#members.whenHeard(isAsked);
    this.#isStarted = true;
    this.rejoining.end();
    this.#rejoinIfNeeded();
    this.#ownership.start(targets.lease());
    this.hosting.begin();
    this.#timer = this.runtime.setIdleRepeating(() => void this.#look(), lookMs);
    this.#trimming.start();
  }

  /** One that only some nodes host, and of which this one does not have all, is begun later. */
  #isFollowedAtOnce(stream: number, { streamGroups }: ClusterTargets): boolean {
    if (!this.hosting.placements.has(stream)) return true;
    return this.hosting.follows(stream) && streamGroups.isWhole(stream);
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#trimming.stop();
    this.#ownership.stop();
    this.blobs.stop();
    const left = this.hosting.stop();
    await Promise.all([left, this.#following.stop()]);
    // What began meanwhile.
    await this.#following.stop();
    this.#following.streams.clear();
  }

  async close(): Promise<void> {
    await this.stop();
    this.#members.stop();
    await this.nats.close();
  }

  /** Brings what other nodes have. */
  get copies(): PeerCopies {
    return new PeerCopies(this.#members, this.options, this.blobs, this.logger, this.runtime);
  }

  get problem(): string | undefined {
    const state = { isStarted: this.#isStarted, isRemoved: this.#removal.isRemoved, isStale: this.isStale };
    return problemOf(state, this.#following.streams.values());
  }

  /** Whether others may have changed databases, accounts or rights without this node knowing. */
  get isStale(): boolean {
    return this.currency.isStale;
  }

  async status(): Promise<ClusterStatus> {
    const { name, node } = this.options;
    const own = { name, node, owner: this.owner || null, problem: this.problem ?? null };
    return { ...own, ...(await this.report.all()) };
  }

  /** Where another node is reached; undefined where it is not there now. */
  urlOf(name: string): string | undefined {
    return this.#members.others().find((each) => each.name === name)?.url;
  }

  members(): { all: string[]; known: string[] } {
    return this.#members.names();
  }

  #ownState(): OwnState {
    const { problem } = this;
    const positions = this.#following.positions();
    return { positions, serves: this.hosting.served(), is_drained: !this.options.mayOwn(), problem };
  }

  /** Looks at whether this node is current with the catalogue, and whether it is the owner. */
  async #look(): Promise<void> {
    const wasOwner = this.#wasOwner;
    this.#wasOwner = this.isOwner;
    if (wasOwner !== this.isOwner) this.onOwnerChange();
    this.#removal.look();
    this.hosting.look();
    if (this.isOwner) void this.hosting.leaders.look();
    await this.currency.look();
    if (!this.rejoining.isUnderWay && (await this.recovery.isRecovered())) this.#rejoin();
  }

  #rejoinIfNeeded(): void {
    if (this.#isReached && copyNeeded(this.#following.everywhere()) !== undefined) this.#rejoin();
  }

  #rejoin(): void {
    if (this.#isStarted) this.rejoining.begin();
  }
}
