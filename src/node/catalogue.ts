import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { asBytes, fromBytes } from '../base/bytes.js';
import { GroupCommit } from '../storage/group-commit.js';
import { Overlay } from '../storage/overlay.js';
import { prefixEnd, type Store } from '../storage/store.js';
import { PlacedSteps } from '../shard/placed-steps.js';
import { keyRange, type Bounds } from '../shard/key-range.js';
import {
  decodeJson,
  listPrefixes,
  marksKey,
  marksPrefix,
  nameKey,
  readMeta,
  type ChangeableSettings,
  type DatabaseSettings,
  type ListedSetting,
  type NewDatabase,
  type StoredDatabase,
  type StoredGroup,
  type DivideCommand,
} from './catalogue-commands.js';
import {
  CatalogueJournal,
  erasurePrefix,
  idKey,
  jobPrefix,
  readErasure,
  readGenerations,
  readHome,
  readSlot,
  reshardingKey,
  type Erasure,
  type GroupHome,
} from './catalogue-journal.js';
import { readLease, type Lease } from './lease.js';
import { readShared } from './shared-values.js';
import { readPlacements, type StreamPlacement } from './stream-placement.js';
import type { TimeMark } from './time-marks.js';
import type { ReshardingState, ReshardJob } from './reshard-job.js';
import { CatalogueLog } from './catalogue-log.js';

/** What the catalogue knows of a database. Members that were never set are absent. */
export interface DatabaseRecord extends DatabaseSettings {
  instance: number;
  /** The volume that holds it, or the first of its groups, on this node. */
  slot: number;
  /** Absent for one group that has all shards, and the number of the database. */
  groups?: readonly PlacedGroup[];
  /** Present while a group is copied to others, which are to take its place. */
  division?: { group: number; targets: readonly PlacedGroup[] };
}

/** A group of a database, and the volume that holds it on this node. */
export interface PlacedGroup {
  group: number;
  slot: number;
  /** Those of the first shards that it has, with all that they were split into; undefined for all. */
  shards: readonly number[] | undefined;
  /** The group that it was divided from, if any. */
  from?: number;
}

export const groupsOf = ({ instance, slot, groups }: DatabaseRecord): readonly PlacedGroup[] =>
  groups ?? [{ group: instance, slot, shards: undefined }];

/** Which names a listing shows. */
export interface NamesQuery extends Bounds {
  skip: number;
  limit: number;
  /** Only databases for which this is set. */
  having?: ListedSetting;
}

/** The place in the stream of the catalogue. */
const placeKey = asBytes('p');

const namesSpace = { start: asBytes('d'), end: asBytes('e') };

/**
 * The list of databases and what is set for each as a whole, changed by commands (`catalogue-commands.ts`) and the same on
 * every node; and beside it, what this node alone has to know of them (`catalogue-journal.ts`). Readers see what is on disk.
 */
export class Catalogue {
  readonly log: CatalogueLog;
  readonly journal: CatalogueJournal;
  /** Applies what the stream of the catalogue brings, in a cluster. */
  readonly steps: PlacedSteps;
  readonly #commits: GroupCommit;

  constructor(
    private readonly store: Store,
    private readonly onChange: (name: string) => void,
    /** Encodes and decodes every command before it is applied: see `log/log.ts`. */
    encoded = false,
    runtime: Runtime = new SystemRuntime(),
  ) {
    const overlay = new Overlay(() => store);
    const commits = new GroupCommit(
      () => store,
      overlay,
      () => this.log.seal(),
      runtime,
    );
    const queue = { store, overlay, commits, encoded };
    this.#commits = commits;
    this.steps = new PlacedSteps(commits, overlay, placeKey, () => store.get(placeKey));
    this.log = new CatalogueLog(queue);
    this.journal = new CatalogueJournal(queue);
  }

  get(name: string): DatabaseRecord | undefined {
    const record = decodeJson<StoredDatabase>(this.store.get(nameKey(name)));
    if (record === undefined) return undefined;
    const { groups, division, ...others } = record;
    const place = (each: StoredGroup): PlacedGroup => ({
      ...each,
      slot: readSlot(this.store, each.group, record),
    });
    const placed = groups?.map(place);
    return {
      ...others,
      slot: placed?.[0]!.slot ?? readSlot(this.store, record.instance, record),
      ...(placed && { groups: placed }),
      ...(division && { division: { ...division, targets: division.targets.map(place) } }),
    };
  }

  /** Names in byte order, read synchronously. */
  *names(query: NamesQuery): Iterable<string> {
    const { descending: reverse, skip: offset, limit, having } = query;
    const prefix = having === undefined ? asBytes('d') : listPrefixes[having];
    const space = { start: prefix, end: prefixEnd(prefix) };
    const range = { ...keyRange(prefix, space, query), reverse, offset };
    for (const key of this.store.keys(limit === Infinity ? range : { ...range, limit }))
      yield fromBytes(key.slice(1));
  }

  /** The oldest first. */
  timeMarks(name: string): readonly TimeMark[] {
    return decodeJson<TimeMark[]>(this.store.get(marksKey(name))) ?? [];
  }

  /** Forgets the marks of a time and later ones. */
  async dropMarksSince(seconds: number): Promise<void> {
    const entries = [...this.store.entries({ start: marksPrefix, end: prefixEnd(marksPrefix) })];
    for (const { key, value } of entries) {
      const all = decodeJson<TimeMark[]>(value)!;
      const marks = all.filter(([at]) => at < seconds);
      if (marks.length === all.length) continue;
      const name = fromBytes(key.slice(marksPrefix.length));
      await this.log.append({ type: 'mark', name, instance: this.get(name)!.instance, marks });
    }
  }

  /** Whether no database was ever made. */
  get isNew(): boolean {
    return this.nextInstance === 1;
  }

  /** Volumes carry it too, so that a catalogue and volumes that don't belong together are noticed. */
  get id(): string | undefined {
    return this.store.get(idKey);
  }

  /** Instance numbers from this one on have never been given away. */
  get nextInstance(): number {
    return readMeta(this.store).next_instance;
  }

  /** Where a group is; undefined where it does not exist any more. */
  home(group: number): GroupHome | undefined {
    return readHome(this.store, group);
  }

  /** Whether the databases are those of a cluster: then they must not be changed by this node alone. */
  get isOfCluster(): boolean {
    return this.steps.place !== undefined;
  }

  /** Which node does what is done once per cluster. */
  get lease(): Lease {
    return readLease(this.store);
  }

  /** What the nodes of a cluster share, of the keys that begin so, by the rest of the key. */
  shared(prefix: string): Map<string, string | null> {
    return readShared(this.store, prefix);
  }

  /** The streams of a cluster that some nodes host; all nodes host the others. */
  placements(): Map<number, StreamPlacement> {
    return readPlacements(this.store);
  }

  erasures(): Erasure[] {
    const range = { start: erasurePrefix, end: prefixEnd(erasurePrefix) };
    return [...this.store.entries(range)].map(({ value }) => decodeJson<Erasure>(value)!);
  }

  /** Every database there is, with its name. */
  databases(): [name: string, record: DatabaseRecord][] {
    const names = [...this.store.keys(namesSpace)].map((key) => fromBytes(key.slice(1)));
    return names.map((name) => [name, this.get(name)!]);
  }

  /** Resharding jobs of this node. */
  reshardJobs(): ReshardJob[] {
    const range = { start: jobPrefix, end: prefixEnd(jobPrefix) };
    return [...this.store.entries(range)].map(({ value }) => decodeJson<ReshardJob>(value)!);
  }

  get resharding(): ReshardingState {
    return decodeJson<ReshardingState>(this.store.get(reshardingKey)) ?? { state: 'running', reason: null };
  }

  generations(): number[] {
    return readGenerations(this.store);
  }

  /** The database goes into the newest volume of this node. */
  async create(name: string, settings: NewDatabase): Promise<void> {
    await this.log.append({ type: 'create', name, settings });
    this.onChange(name);
  }

  async remove(name: string): Promise<Erasure[]> {
    const { result } = await this.log.append({ type: 'delete', name });
    this.onChange(name);
    return this.#erasures(result.groups);
  }

  /** Begins to divide a group, or ends that. Gives what is to be erased then. */
  async divide(command: Omit<DivideCommand, 'type'>): Promise<Erasure[]> {
    const { result } = await this.log.append({ type: 'divide', ...command });
    this.onChange(command.name);
    return command.step === 'begin' ? [] : this.#erasures(result.groups);
  }

  #erasures(groups: readonly number[]): Erasure[] {
    // What came from a stream may be erased by now.
    return groups.flatMap((group) => readErasure(this.store, group) ?? []);
  }

  /** Refuses where the name has come to mean another database. */
  async set(name: string, instance: number, settings: ChangeableSettings): Promise<void> {
    await this.log.append({ type: 'set', name, instance, settings });
    this.onChange(name);
  }

  /** Writes a copy of what is stored now into an empty folder. */
  async copyTo(folder: string): Promise<void> {
    await this.store.copyTo(folder);
  }

  async close(): Promise<void> {
    await this.#commits.whenIdle();
    await this.store.close();
  }
}
