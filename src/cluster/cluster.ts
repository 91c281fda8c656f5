import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Appended } from '../log/log.js';
import { StreamReplica } from '../log/stream-replica.js';
import type { StreamTarget } from '../log/stream-target.js';
import { StreamTruncated } from '../log/stream.js';
import { encodeCatalogueCommand } from '../node/catalogue-codec.js';
import type { Lease, LeaseCommand } from '../node/lease.js';
import type { ClusterLink, ClusterTargets } from '../node/cluster-link.js';
import { BlobExchange } from './blob-exchange.js';
import { CataloguePosition } from './catalogue-position.js';
import { Members, type Member } from './members.js';
import type { NatsServers } from './nats-connection.js';
import { Ownership } from './ownership.js';
import { bringCopy } from './peer-copy.js';
import { Trimming, type TrimOptions } from './trimming.js';

export interface ClusterOptions extends TrimOptions {
  node: string;
  /** Where other nodes reach this one. */
  advertise: string;
  secret: string;
  streams: number;
  /** NATS servers that keep a copy of each stream. */
  replicas: number;
  timeoutMs(): number;
}

type StreamName = number | 'catalogue';

/** How long this node may be behind the catalogue, or without a NATS server, before it refuses requests. */
const staleMs = 3_000;
const lookMs = 1_000;
const pollMs = 20;
/** How long a node that has to copy the databases of another one waits for one. */
const othersMs = 30_000;

/** The cluster, seen from one of its nodes: applies all streams, and sends commands to them. */
export class Cluster implements ClusterLink {
  readonly #replicas = new Map<StreamName, StreamReplica>();
  #catalogue = new CataloguePosition(0);
  readonly #ownership: Ownership;
  readonly #members: Members;
  readonly #blobs: BlobExchange;
  #timer: Timer | undefined;
  #currentMs: number;
  #looking: Promise<boolean> | undefined;
  #isStarted = false;
  readonly #trimming: Trimming;
  #wasOwner = false;
  /** Called when this node becomes the owner, or may be it no longer. */
  onOwnerChange: () => void = () => {};
  /** Called when this node runs and has to copy the databases of another one, since streams were trimmed. */
  onTruncated: () => void = () => {};

  constructor(
    private readonly nats: NatsServers,
    private readonly options: ClusterOptions,
    private readonly runtime: Runtime,
    private readonly logger: Logger,
  ) {
    const { node } = options;
    const ask = (command: LeaseCommand): Promise<unknown> =>
      this.send('catalogue', encodeCatalogueCommand(command));
    this.#ownership = new Ownership(node, runtime, ask, () => this.onOwnerChange());
    this.#members = new Members(
      nats,
      options,
      runtime,
      () => this.positions(),
      () => this.#replicas.get('catalogue')?.origins ?? [],
    );
    this.#blobs = new BlobExchange(this.#members, options, logger, runtime);
    const isOwner = (): boolean => this.isOwner;
    this.#trimming = new Trimming(this.#replicas, this.#members, nats, options, runtime, logger, isOwner);
    this.#currentMs = runtime.monotonicMs();
  }

  get nodeName(): string {
    return this.options.node;
  }

  get isOwner(): boolean {
    return this.#ownership.isOwner;
  }

  /** Where the owner is reached, if that is another node and it is there. */
  get ownerUrl(): string | undefined {
    const { owner } = this.#ownership;
    return this.#members.others().find(({ name }) => name === owner)?.url;
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

  async fresh(stream: StreamName): Promise<void> {
    await this.#replica(stream).fresh();
  }

  catalogueApplied(position: number): void {
    this.#catalogue.advance(position);
  }

  leased(asked: LeaseCommand, now: Lease): void {
    this.#ownership.applied(asked, now);
  }

  async spreadBlobs(digests: readonly string[]): Promise<void> {
    await this.#blobs.spread(digests);
  }

  async bringBlobs(digests: readonly string[]): Promise<void> {
    await this.#blobs.bring(digests);
  }

  /** Stores an attachment that another node sends. */
  async receiveBlob(digest: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#blobs.receive(digest, bytes);
  }

  /** Keeps an attachment for a while, if it is here. */
  async keepBlob(digest: string): Promise<boolean> {
    return await this.#blobs.keep(digest);
  }

  /** Where others reach this node, if that was not given. */
  advertise(url: string): void {
    this.options.advertise ||= url;
    this.#members.beat();
  }

  async start({ catalogue, cataloguePosition, lease, groups, blobs }: ClusterTargets): Promise<void> {
    this.#catalogue = new CataloguePosition(cataloguePosition);
    this.#blobs.store = blobs;
    this.#members.start();
    const first = this.#follow('catalogue', catalogue);
    await first.whenCurrent();
    if (first.lost instanceof StreamTruncated) throw first.lost;
    // From now on the others count this node.
    if (first.lost === undefined) await first.fresh();
    const replicas = Array.from({ length: this.options.streams }, (_, stream) =>
      this.#follow(
        stream,
        groups(stream, (digests) => this.bringBlobs(digests)),
      ),
    );
    await Promise.all(replicas.map((replica) => replica.whenCurrent()));
    for (const { lost } of [first, ...replicas]) if (lost instanceof StreamTruncated) throw lost;
    this.#isStarted = true;
    this.#ownership.start(lease);
    this.#timer = this.runtime.setIdleRepeating(() => void this.#look(), lookMs);
    this.#trimming.start();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    this.#trimming.stop();
    this.#ownership.stop();
    const stopped = [...this.#replicas.values()].map((replica) => replica.stop());
    this.#catalogue.end(new Unavailable('The server is closing.'));
    await Promise.all(stopped);
    this.#replicas.clear();
  }

  /** Ends for good. */
  async close(): Promise<void> {
    await this.stop();
    this.#members.stop();
    await this.nats.close();
  }

  /** Brings the stores of another node into a folder. */
  async copyTo(folder: string): Promise<void> {
    this.#members.start();
    const others = await this.#whenOthers();
    await bringCopy(others, this.options.secret, folder, this.logger, this.runtime);
  }

  /** Brings the attachments that stores of another node name. */
  async bringAll(store: BlobStore, digests: Iterable<string>): Promise<void> {
    this.#blobs.store = store;
    for (const digest of digests) await this.#blobs.bring([digest]);
  }

  get problem(): string | undefined {
    for (const { lost, stuck } of this.#replicas.values()) {
      if (lost !== undefined) return lost.message;
      if (stuck !== undefined) return stuck;
    }
    return this.isStale ? 'this node is cut off from the cluster' : undefined;
  }

  /** Whether others may have changed databases, accounts or rights without this node knowing. */
  get isStale(): boolean {
    return this.runtime.monotonicMs() - this.#currentMs > staleMs;
  }

  members(): { all: string[]; known: string[] } {
    return this.#members.names();
  }

  /** The last message of each stream that this node has on disk. */
  positions(): Record<string, number> {
    const stored = [...this.#replicas].map(([name, { storedSeq }]) => [String(name), storedSeq]);
    return Object.fromEntries(stored.filter(([, seq]) => seq !== undefined)) as Record<string, number>;
  }

  #replica(stream: StreamName): StreamReplica {
    const replica = this.#replicas.get(stream);
    if (replica === undefined) throw new Unavailable('The node is not part of the cluster now.');
    return replica;
  }

  #follow(stream: StreamName, target: StreamTarget): StreamReplica {
    const { name, node, replicas, timeoutMs } = this.options;
    const isCatalogue = stream === 'catalogue';
    const replica = new StreamReplica({
      stream: this.nats.stream({
        name: `${name}-${stream}`,
        subject: `${name}.stream.${stream}`,
        replicas,
        newEpoch: () => this.runtime.randomHex(8),
      }),
      target,
      node,
      runtime: this.runtime,
      logger: this.logger,
      timeoutMs,
      cataloguePosition: () => (isCatalogue ? 0 : this.#catalogue.current),
      catalogueAt: (position) => this.#catalogue.when(position),
      onLost: (error) => {
        if (isCatalogue) this.#catalogue.end(error);
        if (this.#isStarted && error instanceof StreamTruncated) this.onTruncated();
      },
    });
    this.#replicas.set(stream, replica);
    replica.start();
    return replica;
  }

  /** Resolves when this node is known to be current with the catalogue; rejects where it is cut off. */
  async whenCurrent(): Promise<void> {
    if (!(await this.#look())) throw new Unavailable('This node is cut off from the cluster.');
  }

  /** Tells whether this node is current with the catalogue. Of several who ask at once, all get the same answer. */
  #look(): Promise<boolean> {
    return (this.#looking ??= this.#isCurrent().finally(() => (this.#looking = undefined)));
  }

  /** While the servers elect a leader nothing is known, and reads go on for a moment. */
  async #isCurrent(): Promise<boolean> {
    const now = this.runtime.monotonicMs();
    if (this.#wasOwner !== this.isOwner) {
      this.#wasOwner = this.isOwner;
      this.onOwnerChange();
    }
    if (!this.nats.isConnected) return false;
    const last = await this.nats.lastOf(`${this.options.name}-catalogue`).catch(() => undefined);
    if (last === undefined) return !this.isStale;
    // What was written just now is on its way.
    while ((this.#replicas.get('catalogue')?.seq ?? 0) < last) {
      if (this.runtime.monotonicMs() - now > staleMs) return false;
      await this.runtime.sleep(pollMs);
    }
    this.#currentMs = now;
    return true;
  }

  /** Other nodes, as soon as one is heard of. */
  async #whenOthers(): Promise<Member[]> {
    for (let waitedMs = 0; waitedMs < othersMs; waitedMs += lookMs) {
      const others = this.#members.others().filter(({ positions }) => positions['catalogue'] !== undefined);
      if (others.length > 0) return others;
      await this.runtime.sleep(lookMs);
    }
    throw new StartupError(
      'The streams of the cluster have been trimmed, so this node has to copy the databases of another one; but none is there.',
    );
  }
}
