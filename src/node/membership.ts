import { notFound, Unavailable } from '../base/errors.js';
import { StartupError } from '../base/startup-error.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { LogEntry } from '../log/log.js';
import type { CommandRoute } from '../shard/group-log.js';
import type { CatalogueCommand } from './catalogue-commands.js';
import type { Catalogue } from './catalogue.js';
import type { ClusterLink } from './cluster-link.js';
import { copyStores } from './copy-stores.js';
import { memberPrefix, removedMember, type ShareCommand } from './shared-values.js';
import type { StreamGroups } from './stream-groups.js';
import type { StreamPlacement } from './stream-placement.js';
import { CatalogueTarget, GroupsTarget } from './stream-targets.js';
import type { Volumes } from './volumes.js';
import { whatIsSaved } from './what-is-saved.js';

/** What the databases of a node consist of, and who is told of what others have changed. */
interface NodeParts {
  catalogue: Catalogue;
  volumes: Volumes;
  blobs: BlobStore;
  streamGroups: StreamGroups;
  /** A command of the catalogue was applied that any node may have sent. */
  onApplied(command: CatalogueCommand): void;
  isFollowed(group: number): boolean;
}

/** Whether the databases of a node are those of a cluster, and how its streams change them then. */
export class Membership {
  #cluster: ClusterLink | undefined;
  #catalogue: Catalogue | undefined;
  #volumes: Volumes | undefined;
  #removed: ReadonlySet<string> = new Set();
  #placements: ReadonlyMap<number, StreamPlacement> = new Map();
  #streamGroups: StreamGroups | undefined;
  /** Where commands of groups go. */
  readonly route: CommandRoute = {};
  /** A node has set a value that all share. */
  onShared: (command: ShareCommand) => void = () => {};

  /** The name of a database that keeps this server from becoming a node of a cluster; undefined where nothing does. */
  whatIsSaved: () => string | undefined = () => undefined;

  get cluster(): ClusterLink | undefined {
    return this.#cluster;
  }

  get nodeName(): string {
    return this.#cluster?.nodeName ?? 'tuffet@127.0.0.1';
  }

  /** Whether this node does what is done once per cluster. */
  get isOwner(): boolean {
    return this.#cluster?.isOwner ?? true;
  }

  /** The name of the node that does. */
  get ownerName(): string {
    return this.#cluster?.owner || this.nodeName;
  }

  /** Whether some databases are on some nodes only. */
  get isDistributed(): boolean {
    return this.#placements.size > 0;
  }

  /** Whether this node may do it for some databases. */
  get mayOwn(): boolean {
    return this.isOwner || this.isDistributed;
  }

  /** Whether this node does it for the databases of a stream. */
  isOwnerOf(stream: number | undefined): boolean {
    return this.#cluster?.isOwnerOf(stream ?? 0) ?? true;
  }

  /** Throws where other nodes have a database, and this one has not. */
  checkHosted({ stream = 0 }: { stream?: number }): void {
    if (this.isHosted(stream)) return;
    const hosts = this.hostsOf(stream).join(', ');
    throw new Unavailable(`This node does not have the database; it is on ${hosts}.`);
  }

  /** The nodes that have the databases of a stream. */
  hostsOf(stream: number | undefined): readonly string[] {
    return this.#cluster?.hosting.hostsOf(stream ?? 0) ?? [this.nodeName];
  }

  isHosted(stream: number | undefined): boolean {
    return this.#cluster?.hosting.isHosted(stream ?? 0) ?? true;
  }

  /** The name of a database, which may be one that this node has not opened. */
  nameOf(instance: number): string | undefined {
    return this.#catalogue?.home(instance)?.name;
  }

  /** The stores of this node, for another node of its cluster; each is copied into the folder first. */
  copy(folder: string): AsyncIterable<Buffer> {
    if (this.#catalogue === undefined || this.#volumes === undefined) throw notFound('missing');
    return copyStores(this.#catalogue, this.#volumes.all(), folder);
  }

  /** The groups of one stream, for a node that is to host it. */
  copyStream(stream: number, folder: string): AsyncIterable<Buffer> {
    if (this.#streamGroups === undefined || !this.isHosted(stream)) throw notFound('missing');
    return this.#streamGroups.copy(stream, folder);
  }

  /** The stream that a new database is placed in. */
  streamFor(name: string): { stream?: number } {
    return this.#cluster === undefined ? {} : { stream: this.#cluster.streamFor(name) };
  }

  /**
   * From now on commands go to the streams of a cluster, and what comes from there is applied. Without one, refuses databases
   * of a cluster: they must not be changed by one node alone.
   */
  async join(cluster: ClusterLink | undefined, parts: NodeParts): Promise<void> {
    const { catalogue, volumes, blobs } = parts;
    if (cluster === undefined) {
      this.whatIsSaved = () =>
        whatIsSaved(
          catalogue,
          volumes.all().map(({ store }) => store),
        );
      if (!catalogue.isOfCluster) return;
      throw new StartupError('The data folder belongs to a node of a cluster: start it with --cluster.');
    }
    if (!catalogue.isNew && !catalogue.isOfCluster)
      throw new StartupError(
        'The data folder has databases that belong to no cluster: a node begins with an empty one.',
      );
    this.#cluster = cluster;
    this.#catalogue = catalogue;
    this.#volumes = volumes;
    this.#streamGroups = parts.streamGroups;
    this.#readRemoved();
    this.#placements = catalogue.placements();
    const { log, isNew } = catalogue;
    log.send = (command) => cluster.send('catalogue', command);
    log.onApplied = (entries) => this.#applied(cluster, entries, parts);
    this.route.send = (group, command) => {
      const home = catalogue.home(group);
      if (home === undefined) return Promise.reject(notFound('Database does not exist.'));
      return cluster.send(home.stream ?? 0, command);
    };
    this.route.spreadBlobs = (group, digests) =>
      cluster.blobs.spread(digests, catalogue.home(group)?.stream ?? 0);
    await cluster.start({
      catalogue: new CatalogueTarget(catalogue, volumes),
      cataloguePosition: log.position,
      lease: () => catalogue.lease,
      groups: (stream, bringBlobs) =>
        new GroupsTarget(stream, catalogue, volumes, bringBlobs, parts.isFollowed),
      blobs,
      removed: () => this.#removed,
      placements: () => this.#placements,
      streamGroups: parts.streamGroups,
      isNew,
    });
  }

  /** What the nodes share, of the keys that begin so. */
  shared(prefix: string): Map<string, string | null> {
    return this.#catalogue?.shared(prefix) ?? new Map<string, string | null>();
  }

  /** Resolves when this node has the value; the others get it from the stream. */
  async share(name: string, value: string | null): Promise<void> {
    if (this.#catalogue === undefined) throw notFound('missing');
    await this.#catalogue.log.append({ type: 'share', name, value });
  }

  #readRemoved(): void {
    const members = [...this.shared(memberPrefix)];
    this.#removed = new Set(members.flatMap(([name, state]) => (state === removedMember ? [name] : [])));
  }

  #applied(
    cluster: ClusterLink,
    entries: readonly LogEntry<CatalogueCommand>[],
    { catalogue, onApplied }: NodeParts,
  ): void {
    for (const { command } of entries) {
      if (command.type === 'lease') cluster.leased(command, catalogue.lease);
      else if (command.type === 'share') {
        this.#readRemoved();
        this.onShared(command);
      } else if (command.type === 'place') {
        this.#placements = catalogue.placements();
        cluster.placed();
      } else onApplied(command);
    }
    const last = entries.at(-1);
    if (last !== undefined) cluster.catalogueApplied(last.position);
  }
}
