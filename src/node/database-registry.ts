import type { Store } from '../storage/store.js';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import type { Logger } from '../base/logger.js';
import type { UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Volume } from '../shard/volume.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { MemoryStore } from '../storage/memory-store.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import type { Views } from '../indexes/views.js';
import { Activity } from './activity.js';
import { AttachmentPins } from './attachment-pins.js';
import type { ClusterLink } from './cluster-link.js';
import {
  databaseExists,
  databaseMissing,
  type CatalogueCommand,
  type ChangeableSettings,
} from './catalogue-commands.js';
import { Catalogue, type DatabaseRecord, type NamesQuery } from './catalogue.js';
import type { DataFolder } from './data-folder.js';
import { Database, type EndReason } from './database.js';
import { DesignDocCache } from './design-doc-cache.js';
import { DbEvents, eventsDatabase, type EventTarget } from './db-events.js';
import { Erasures } from './erasures.js';
import { Membership } from './membership.js';
import { OpenDatabases } from './open-databases.js';
import { firstGroups, openGroups, openIndexes } from './open-groups.js';
import { showFor, type ReadGate, type Show } from './read-gate.js';
import type { SaveGate } from './save-gate.js';
import { publishCommits, publishSettings, type CommitReaders } from './publish-commits.js';
import { ReshardJobs } from './reshard-jobs.js';
import type { ReshardHost } from './reshard-run.js';
import { copyTask } from './copy-task.js';
import { StreamGroups } from './stream-groups.js';
import { sweepReleased } from './sweep-blobs.js';
import { TaskList } from './task-list.js';
import { TimeSeq } from './time-seq.js';
import { volumeLimits, Volumes } from './volumes.js';
import type { Watcher } from './watcher.js';

/** Databases kept open; the rest are opened again from the catalogue when they are asked for. */
const openDatabasesMax = 1_000;

/** All databases of this node. */
export class DatabaseRegistry implements EventTarget {
  readonly tasks: TaskList;
  readonly membership = new Membership();
  /** What documents pass before they are saved, in this order. */
  readonly saveGates: SaveGate[] = [];
  /** What stands between documents and who reads them. */
  readonly readGates: ReadGate[] = [];
  readonly #catalogue: Catalogue;
  readonly #volumes: Volumes;
  readonly openDatabases = new OpenDatabases(openDatabasesMax);
  readonly #erasures: Erasures;
  readonly #events = new DbEvents(this);
  readonly #readers: CommitReaders;
  readonly #streamGroups: StreamGroups;
  readonly #watchers: Watcher[] = [];
  readonly designDocs = new DesignDocCache();
  readonly activity = new Activity();
  /** Brings all indexes of a database up to date, in groups that need not be its own yet. */
  fillIndexes: ReshardHost['fillIndexes'] = () => Promise.resolve();
  /** What answers under way have promised. */
  readonly pins: AttachmentPins;
  readonly reshardJobs: ReshardJobs;
  readonly timeSeq: TimeSeq;
  #closing = false;
  #feedsEnded = false;

  constructor(
    readonly config: Config,
    readonly logger: Logger,
    folder: DataFolder | undefined,
    readonly blobs: BlobStore,
    readonly views: Views,
    /** Encodes and decodes every command before it is applied: see `log/log.ts`. */
    encodedCommands = false,
    readonly runtime: Runtime = new SystemRuntime(),
    openStore: (name: string) => Store = () => new MemoryStore(),
    /** The groups that a new database has, unless it has fewer shards. More than one are meant for tests. */
    private readonly groupsOfNew = 1,
  ) {
    this.tasks = new TaskList(runtime);
    this.pins = new AttachmentPins(blobs);
    const store = folder === undefined ? openStore('catalogue') : new LmdbStore(folder.path('catalogue'));
    this.#catalogue = new Catalogue(
      store,
      (name) => publishSettings(this.#readers, name),
      encodedCommands,
      runtime,
    );
    this.#volumes = new Volumes(
      folder?.path('documents'),
      this.#catalogue,
      (touched) => publishCommits(this.#readers, touched),
      volumeLimits(config),
      (replaced) => views.backends.each((backend) => backend.released(replaced)),
      () => views.backends.each((backend) => backend.restart()),
      (slot, folders, bytes) => this.tasks.show(copyTask(this, { volume: slot }, folders, bytes)),
      encodedCommands,
      runtime,
      openStore,
      this.membership.route,
    );
    this.#readers = {
      logger,
      activity: this.activity,
      openDatabases: this.openDatabases,
      watchers: this.#watchers,
      events: this.#events,
      catalogue: this.#catalogue,
      volumes: this.#volumes,
      nameOf: (instance) => this.nameOf(instance),
    };
    this.#streamGroups = new StreamGroups(this, this.#catalogue, this.#volumes, folder?.folder);
    this.#erasures = new Erasures(this, this.#catalogue, this.#volumes, this.sweep);
    const divisions = { catalogue: this.#catalogue, volumes: this.#volumes, erasures: this.#erasures };
    this.reshardJobs = new ReshardJobs(this, divisions);
    this.timeSeq = new TimeSeq(this, this.#catalogue);
    this.#erasures.begin(this.#catalogue.erasures());
  }

  get nodeName(): string {
    return this.membership.nodeName;
  }

  /** From now on this is a node of a cluster, or a server on its own. */
  async join(cluster: ClusterLink | undefined): Promise<void> {
    const onApplied = ({ type, name }: CatalogueCommand): void => {
      publishSettings(this.#readers, name);
      if (type === 'create' || type === 'delete') this.#events.note(`${type}d`, name);
      if (type === 'delete') this.#erasures.begin(this.#catalogue.erasures());
      if (type === 'delete') void this.reshardJobs.forget(name);
    };
    const [catalogue, volumes, streamGroups] = [this.#catalogue, this.#volumes, this.#streamGroups];
    const isFollowed = (group: number): boolean => this.openDatabases.isFollowed(group);
    const parts = { catalogue, volumes, streamGroups, blobs: this.blobs, onApplied, isFollowed };
    await this.membership.join(cluster, parts);
  }

  /** The database of that name; refuses where there is none. */
  database(name: string): Database {
    const found = this.find(name);
    if (found === undefined) throw databaseMissing();
    return found;
  }

  /** Throws where it is on other nodes only. */
  find(name: string): Database | undefined {
    const known = this.openDatabases.get(name);
    const record = known?.record ?? this.#catalogue.get(name);
    if (record !== undefined) this.membership.checkHosted(record);
    if (known !== undefined) return known;
    const open = (of: DatabaseRecord): Database =>
      new Database(name, of, openGroups(this.#volumes, of), this.designDocs);
    return record && this.openDatabases.open(record, () => open(record));
  }

  /** The database of that name, if there is one and this node has it. */
  hosted(name: string): Database | undefined {
    const record = this.record(name);
    return record !== undefined && this.membership.isHosted(record.stream) ? this.find(name) : undefined;
  }

  /** What is set for a database, which may be on other nodes only. */
  record(name: string): DatabaseRecord | undefined {
    return this.openDatabases.get(name)?.record ?? this.#catalogue.get(name);
  }

  /** Whether this node does for a database what is done once per cluster. */
  isOwnerOf(name: string): boolean {
    return this.membership.isOwnerOf(this.record(name)?.stream);
  }

  /** Lets go of a database that this node is to have no longer. */
  release(name: string): void {
    const database = this.openDatabases.byName(name);
    if (database === undefined) return;
    this.openDatabases.remove(database);
    database.release();
  }

  readonly sweep = (): Promise<void> => sweepReleased(this);

  /** The name of a database that is open, or was a moment ago. In a cluster others change databases that are not. */
  nameOf(instance: number): string | undefined {
    return this.openDatabases.nameOf(instance) ?? this.membership.nameOf(instance);
  }

  /** Tells of every change from now on. */
  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
  }

  /** What a user may see of the documents of a database; undefined where nothing is hidden. */
  showFor(database: Database, user: UserContext): Show | undefined {
    return showFor(this.readGates, database, user);
  }

  volumes(): Volume[] {
    return this.#volumes.all();
  }

  readonly shareVolumes: Volumes['share'] = (readers) => this.#volumes.share(readers);

  /** Whether some kept revision names the blob, which is kept as a file. */
  needsBlob(blob: string): boolean {
    return this.#volumes.all().some((volume) => volume.namesFile(blob));
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  get isNew(): boolean {
    return this.#catalogue.isNew;
  }

  exists(name: string): boolean {
    return this.openDatabases.get(name) !== undefined || this.#catalogue.get(name) !== undefined;
  }

  names(query: NamesQuery): Iterable<string> {
    return this.#catalogue.names(query);
  }

  async createDatabase(name: string, settings: Parameters<Catalogue['create']>[1]): Promise<void> {
    if (this.exists(name)) throw databaseExists();
    await this.#volumes.prepareForNew();
    const groups = { ...this.membership.streamFor(name), ...firstGroups(settings.q, this.groupsOfNew) };
    await this.#catalogue.create(name, { ...settings, uuid: this.runtime.randomHex(4), ...groups });
    this.#events.note('created', name);
  }

  async deleteDatabase(name: string): Promise<void> {
    if (!this.exists(name)) throw databaseMissing();
    const database = this.openDatabases.byName(name);
    this.#erasures.begin(await this.#catalogue.remove(name));
    database?.markGone();
    this.#events.note('deleted', name);
    await this.reshardJobs.forget(name);
  }

  eventsDatabase(): Database | undefined {
    return this.exists(eventsDatabase) ? this.database(eventsDatabase) : undefined;
  }

  get eventDelayMs(): number {
    return this.config.number('global_changes/max_write_delay');
  }

  /** Whether no feed may begin any more. */
  get feedsEnded(): boolean {
    return this.#feedsEnded;
  }

  endFeeds(reason: EndReason): void {
    this.#feedsEnded = true;
    for (const { followers } of this.openDatabases.all()) followers?.end(reason);
  }

  /** What users may do has changed: feeds are looked at again. */
  recheckFeeds(): void {
    for (const { followers } of this.openDatabases.all()) followers?.recheck();
  }

  async setDatabase(
    { name, record }: Pick<Database, 'name' | 'record'>,
    settings: ChangeableSettings,
  ): Promise<void> {
    await this.#catalogue.set(name, record.instance, settings);
  }

  /** Gives back the disk space that a volume no longer needs, where that is worth the copying. */
  async reclaim(slot: number): Promise<void> {
    await this.#volumes.reclaim(slot, this.config.number('tuffet/reclaim_percent'));
  }

  /** The indexes of a database. */
  indexed({ record, groups }: Database): DatabaseIndexes {
    return openIndexes(this.views, this.#volumes, record, groups);
  }

  async close(): Promise<void> {
    this.endFeeds('server_closing');
    for (const watcher of this.#watchers) watcher.closing?.();
    await this.#events.close();
    this.#closing = true;
    await this.reshardJobs.close();
    await this.views.close();
    await this.#erasures.ended();
    await this.membership.cluster?.stop();
    await this.#volumes.close();
    await this.#catalogue.close();
    await this.blobs.close();
  }
}
