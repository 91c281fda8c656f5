import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Appended } from '../log/log.js';
import { StreamReplica } from '../log/stream-replica.js';
import type { StreamTarget } from '../log/stream-target.js';
import { CopyNeeded } from '../log/stream.js';
import { encodeCatalogueCommand } from '../node/catalogue-codec.js';
import type { Lease, LeaseCommand } from '../node/lease.js';
import type { ClusterLink, ClusterTargets } from '../node/cluster-link.js';
import { BlobExchange } from './blob-exchange.js';
import type { ClusterOptions } from './cluster-options.js';
import { CataloguePosition } from './catalogue-position.js';
import { checkCopyNeeded, copyNeeded } from './copy-needed.js';
import { Currency } from './currency.js';
import { Members } from './members.js';
import type { NatsServers } from './nats-connection.js';
import { Ownership } from './ownership.js';
import { bringCopy } from './peer-copy.js';
import { problemOf } from './problem.js';
import { Removal } from './removal.js';
import { Recovery } from './recovery.js';
import { Rejoining } from './rejoining.js';
import { StreamSources, type StreamName } from './stream-sources.js';
import { StatusReport, type ClusterStatus, type Followed } from './status.js';
import { Trimming } from './trimming.js';

const lookMs = 1_000;

/** The cluster, seen from one of its nodes: applies all streams, and sends commands to them. */
export class Cluster implements ClusterLink {
  #catalogue = new CataloguePosition(0);
  readonly #ownership: Ownership;
  readonly #members: Members;
  readonly blobs: BlobExchange;
  #timer: Timer | undefined;
  readonly #currency: Currency;
  readonly #followed = new Map<StreamName, Followed>();
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

  constructor(
    private readonly nats: NatsServers,
    private readonly options: ClusterOptions,
    private readonly runtime: Runtime,
    private readonly logger: Logger,
  ) {
    const { node } = options;
    const ask = (command: LeaseCommand): Promise<unknown> =>
      this.send('catalogue', encodeCatalogueCommand(command));
    this.#ownership = new Ownership(node, runtime, ask, () => this.onOwnerChange(), options.mayOwn);
    this.#members = new Members(
      nats,
      options,
      runtime,
      () => ({ positions: this.positions(), problem: this.problem }),
      () => this.#followed.get('catalogue')?.replica.origins ?? [],
    );
    this.#removal = new Removal(node, this.#members, logger);
    this.blobs = new BlobExchange(this.#members, options, logger, runtime);
    const isOwner = (): boolean => this.isOwner;
    this.#trimming = new Trimming(this.#followed, this.#members, options, runtime, logger, isOwner);
    const applied = (): number => this.#followed.get('catalogue')?.replica.seq ?? 0;
    this.#currency = new Currency(nats, () => this.#followed.get('catalogue')?.stream, runtime, applied);
    this.sources = new StreamSources(nats, options, runtime);
    const rejoin = (): void => this.#rejoin();
    this.recovery = new Recovery(this.#followed, this.#members, options, runtime, logger, rejoin);
    this.report = new StatusReport(this.#followed, this.#members, nats, runtime);
  }

  get nodeName(): string {
    return this.options.node;
  }

  get isOwner(): boolean {
    return this.#ownership.isOwner;
  }

  /** Where the owner is reached, if that is another node and it is there. */
  get ownerUrl(): string | undefined {
    return this.urlOf(this.#ownership.owner);
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
    const { streams } = this.options;
    return name.startsWith('_') || streams === 1 ? 0 : 1 + this.runtime.randomBelow(streams - 1);
  }

  send(stream: StreamName, command: Bytes): Promise<Appended<unknown>> {
    return this.#replica(stream).send(command) as Promise<Appended<unknown>>;
  }

  /** Of all streams, where none is named. */
  async fresh(stream?: StreamName): Promise<void> {
    const streams = stream === undefined ? [...this.#followed.keys()] : [stream];
    await Promise.all(streams.map((each) => this.#replica(each).fresh()));
  }

  catalogueApplied(position: number): void {
    this.#catalogue.advance(position);
  }

  leased(asked: LeaseCommand, now: Lease): void {
    this.#ownership.applied(asked, now);
  }

  spreadBlobs(digests: readonly string[]): Promise<void> {
    return this.blobs.spread(digests);
  }

  bringBlobs(digests: readonly string[]): Promise<void> {
    return this.blobs.bring(digests);
  }

  /** From now on others reach this node: at this address, if no other was given. */
  advertise(url: string): void {
    this.options.advertise ||= url;
    this.#isReached = true;
    this.#members.beat();
    this.#rejoinIfNeeded();
  }

  async start(targets: ClusterTargets): Promise<void> {
    const { catalogue, cataloguePosition, lease, groups, blobs, removed, isNew } = targets;
    const checkCopy = (): Promise<void> =>
      checkCopyNeeded(
        [...this.#followed.values()],
        this.sources,
        this.options.node,
        !isNew && !this.#isReached,
      );
    this.#members.removed = removed;
    this.#catalogue = new CataloguePosition(cataloguePosition);
    this.blobs.store = blobs;
    this.#members.start();
    const first = this.#follow('catalogue', catalogue);
    await first.whenCurrent();
    await checkCopy();
    if (first.lost === undefined) await this.#removal.undo(first);
    const bring = (digests: readonly string[]): Promise<void> => this.bringBlobs(digests);
    // Positions of a catalogue that is replaced mean other commands than those that messages need.
    const length = first.lost instanceof CopyNeeded ? 0 : this.options.streams;
    const replicas = Array.from({ length }, (_, stream) => this.#follow(stream, groups(stream, bring)));
    await Promise.all(replicas.map((replica) => replica.whenCurrent()));
    // Opening the stores may have taken longer than a node may go without a look.
    if (first.lost === undefined) await this.#currency.look();
    await checkCopy();
    this.#isStarted = true;
    this.rejoining.end();
    this.#rejoinIfNeeded();
    this.#ownership.start(lease);
    this.#timer = this.runtime.setIdleRepeating(() => void this.#look(), lookMs);
    this.#trimming.start();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#trimming.stop();
    this.#ownership.stop();
    this.blobs.stop();
    const stopped = [...this.#followed.values()].map(({ replica }) => replica.stop());
    this.#catalogue.end(new Unavailable('The server is closing.'));
    await Promise.all(stopped);
    this.#followed.clear();
  }

  async close(): Promise<void> {
    await this.stop();
    this.#members.stop();
    await this.nats.close();
  }

  /** Brings the stores of another node into a folder: of the one that is named, if it is there. */
  async copyTo(folder: string, preferred?: string): Promise<void> {
    this.#members.start();
    const others = await this.#members.whenServing(preferred);
    await bringCopy(others, this.options.secret, folder, this.logger, this.runtime);
  }

  /** Brings the attachments that stores of another node name. */
  async bringAll(store: BlobStore, digests: Iterable<string>): Promise<void> {
    this.blobs.store = store;
    for (const digest of digests) await this.blobs.bring([digest]);
  }

  get problem(): string | undefined {
    const state = { isStarted: this.#isStarted, isRemoved: this.#removal.isRemoved, isStale: this.isStale };
    return problemOf(state, this.#followed.values());
  }

  /** Whether others may have changed databases, accounts or rights without this node knowing. */
  get isStale(): boolean {
    return this.#currency.isStale;
  }

  async status(): Promise<ClusterStatus> {
    const { name, node } = this.options;
    const own = { name, node, owner: this.#ownership.owner || null, problem: this.problem ?? null };
    return { ...own, ...(await this.report.all()) };
  }

  /** Where another node is reached; undefined where it is not there now. */
  urlOf(name: string): string | undefined {
    return this.#members.others().find((each) => each.name === name)?.url;
  }

  members(): { all: string[]; known: string[] } {
    return this.#members.names();
  }

  /** The last message of each stream that this node has on disk. */
  positions(): Record<string, number> {
    const stored = [...this.#followed].map(([name, { replica }]) => [String(name), replica.storedSeq]);
    return Object.fromEntries(stored.filter(([, seq]) => seq !== undefined)) as Record<string, number>;
  }

  #replica(stream: StreamName): StreamReplica {
    const replica = this.#followed.get(stream)?.replica;
    if (replica === undefined) throw new Unavailable('The node is not part of the cluster now.');
    return replica;
  }

  #follow(stream: StreamName, target: StreamTarget): StreamReplica {
    const { node, timeoutMs } = this.options;
    const isCatalogue = stream === 'catalogue';
    const source = this.sources.get(stream);
    const replica = new StreamReplica({
      stream: source,
      target,
      node,
      runtime: this.runtime,
      logger: this.logger,
      timeoutMs,
      cataloguePosition: () => (isCatalogue ? 0 : this.#catalogue.current),
      catalogueAt: (position) => this.#catalogue.when(position),
      onLost: (error) => {
        if (isCatalogue) this.#catalogue.end(error);
        this.#rejoinIfNeeded();
      },
    });
    this.#followed.set(stream, { stream: source, replica });
    replica.start();
    return replica;
  }

  /** Looks at whether this node is current with the catalogue, and whether it is the owner. */
  async #look(): Promise<void> {
    const wasOwner = this.#wasOwner;
    this.#wasOwner = this.isOwner;
    if (wasOwner !== this.isOwner) this.onOwnerChange();
    this.#removal.look();
    await this.#currency.look();
    if (!this.rejoining.isUnderWay && (await this.recovery.isRecovered())) this.#rejoin();
  }

  #rejoinIfNeeded(): void {
    if (this.#isReached && copyNeeded(this.#followed.values()) !== undefined) this.#rejoin();
  }

  #rejoin(): void {
    if (this.#isStarted) this.rejoining.begin();
  }

  /** Resolves when this node is known to be current with the catalogue; rejects where it is cut off. */
  async whenCurrent(): Promise<void> {
    await this.#currency.whenCurrent();
  }
}
