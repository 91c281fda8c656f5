import type { Runtime } from '../base/runtime.js';
import { notFound, Unavailable } from '../base/errors.js';
import type { Bytes } from '../base/bytes.js';
import type { Collection } from '../shard/collection.js';
import type { LocalReader } from '../shard/group-reader.js';
import type { MergedReader } from '../shard/merged-reader.js';
import type { Command, ResultOf } from '../shard/commands.js';
import type { ShardState } from '../shard/shard-state.js';
import type { DesignIndexes } from '../indexes/definition.js';
import { groupsOf, type DatabaseRecord } from './catalogue.js';
import { DesignDocCache, type Validators } from './design-doc-cache.js';
import { isLocalId, type DocId, type LegalId } from '../shard/doc-id.js';
import { checkHasPartition, checkPartitionedId } from '../shard/partitions.js';
import type { ShardMap } from '../shard/shard-map.js';
import { GroupClosed, ShardMoved } from '../shard/apply.js';
import { placedBy } from '../shard/split.js';
import { ExclusiveWork } from './exclusive-work.js';
import { sendAnew } from './send-anew.js';

const defaultRevsLimit = 1_000;
const defaultPurgedInfosLimit = 1_000;

/** How often a command is sent again because the group of its shard is closed: each time it may be another group. */
const closedMax = 10;

const noSecurity = Object.freeze({});

/** The followers of a database's changes. */
export interface Followers {
  /** There is something new on disk. */
  wake(): void;
  /** Ends all feeds. */
  end(reason: EndReason): void;
  /** Rights may have changed. */
  recheck(): void;
}

/** Why a feed is over before its listener wanted it to be. */
export type EndReason = 'database_deleted' | 'server_closing';

/** The groups of a database: one, or several that are read as one. */
export type Groups = Collection | MergedReader;

/** Of lists that each group has of the shards, by their numbers, what each says of its own. */
export function joinByShard<T>(groups: Groups, lists: readonly (readonly T[])[]): T[] {
  const { collections, shards } = groups;
  const whole = lists.map((list) => shards.inherit(list));
  return Array.from({ length: shards.size }, (_, shard) => {
    const at = collections.indexOf(groups.groupOf(shard));
    return whole[at]![shard]!;
  });
}

/** An open database: what the catalogue says of it, and the way to its documents. */
export class Database {
  #gone = false;
  #released = false;
  #groups: Groups;
  /** Set as long as there are any. */
  followers: Followers | undefined;
  /** The groups that are to take the place of another in a moment: complete, and not written to yet. */
  nextGroups: readonly Collection[] | undefined;
  /** While the shards of a group that is closed are moving to others: resolves when they are there, or stay where they were. */
  moving: Promise<void> | undefined;
  /** Compactions under way. */
  compacting = 0;
  /** Indexes of design documents, by name. */
  readonly designs = new Map<string, DesignIndexes & { changes: number; digest: string }>();
  /** The validation functions, as of a count of changes of design documents. */
  validators: Validators | undefined;
  /** Judges documents that would otherwise never be: no change of a design document begins meanwhile. */
  readonly judging = new ExclusiveWork();
  /** Changes of validation functions. */
  readonly validatorChanges = new ExclusiveWork();
  /** Callers that wait for the next commit. */
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly name: string,
    public record: DatabaseRecord,
    groups: Groups,
    /** Shared by the databases of a node. */
    readonly designDocs = new DesignDocCache(),
  ) {
    this.#groups = groups;
  }

  /** What reads its documents, be they in one group or in several. */
  get collection(): LocalReader {
    return this.#groups;
  }

  get groups(): Groups {
    return this.#groups;
  }

  /** Reads others from now on: the same reopened, or those that its shards have moved to. */
  replaceGroups(groups: Groups): void {
    groups.designChanges = this.#groups.designChanges + 1;
    this.#groups = groups;
  }

  get runtime(): Runtime {
    return this.#groups.runtime;
  }

  /** How many shards it has. */
  get q(): number {
    return this.collection.shards.count;
  }

  /** One that was never set reads as empty. */
  get security(): Readonly<Record<string, unknown>> {
    return this.record.security ?? noSecurity;
  }

  get revsLimit(): number {
    return this.record.revs_limit ?? defaultRevsLimit;
  }

  get purgedInfosLimit(): number {
    return this.record.purged_infos_limit ?? defaultPurgedInfosLimit;
  }

  get isPartitioned(): boolean {
    return this.record.placement === 'partition';
  }

  /** Design documents have no partition; local ones are placed by the whole id too. */
  shardOf(id: Bytes, shards: ShardMap = this.collection.shards): number {
    return shards.shardOf(placedBy(id, this.isPartitioned && !isLocalId(id)));
  }

  /** Refuses an id that no document of this database can have. */
  docId(id: LegalId): DocId {
    if (this.isPartitioned) checkPartitionedId(id);
    return id as DocId;
  }

  /** Refuses an id by which no document can be looked for. Others that no document can have are just not found. */
  checkPlace(id: Bytes): void {
    if (this.isPartitioned) checkHasPartition(id);
  }

  /** One of the shards' counters, added up. */
  total(counter: keyof ShardState): number {
    let total = 0;
    for (const state of this.collection.states) total += state[counter];
    return total;
  }

  submit<C extends Command>(given: C): Promise<ResultOf<C>> {
    return this.#submit(given, closedMax);
  }

  async #submit<C extends Command>(given: C, triesLeft: number): Promise<ResultOf<C>> {
    const group = this.#groups.groupOf(given.shard);
    const command = this.#complete(given, group);
    // Nothing may be written behind the erasure of a database that is gone.
    if (this.#gone) throw notFound('Database does not exist.');
    try {
      const { result } = await group.log.append(command);
      return result;
    } catch (error) {
      if (error instanceof GroupClosed) {
        await this.#reopened(group, triesLeft);
        return await this.#submit(given, triesLeft - 1);
      }
      // By the time this is said, the split is on disk and the shards are known.
      if (!(error instanceof ShardMoved) || !this.collection.shards.isGone(command.shard)) throw error;
      return await sendAnew(
        command,
        (id) => this.shardOf(id),
        (part) => this.submit(part),
      );
    }
  }

  /** Waits until the shards of a closed group have moved. If no job moves them, as after a crash, it is opened again. */
  async #reopened({ group }: Collection, triesLeft: number): Promise<void> {
    if (triesLeft === 0) throw new Unavailable('The database is being moved.');
    const closed = this.#groups.collections.find((each) => each.group === group);
    if (closed === undefined) return;
    if (this.moving !== undefined) return await this.moving;
    if (!groupsOf(this.record).some((each) => each.group === group))
      throw new Unavailable('The database is being moved.');
    await this.close(closed, false);
  }

  /** Has a group take no commands, or take them again. */
  async close(group: Collection, closed: boolean): Promise<void> {
    if (this.#gone) throw notFound('Database does not exist.');
    const command = { type: 'close', instance: group.group, shard: 0, closed } as const;
    await group.log.append(this.#complete(command, group));
  }

  #complete<C extends Command>(command: C, { group, log }: Collection): C {
    const id = log.nextId();
    // Otherwise writers could leave more behind than a compaction that runs beside them removes.
    const isCompacting = this.compacting > 0 && command.type === 'edit';
    if (id === undefined && command.instance === group && !this.isPartitioned && !isCompacting)
      return command;
    return {
      ...command,
      instance: group,
      ...(this.isPartitioned && { partitioned: true }),
      ...(isCompacting && { compacting: true }),
      ...(id !== undefined && { id }),
    };
  }

  /** Sets what every group knows of the validation functions. Tells whether all knew what was expected. */
  async setValidators(expected: Bytes | undefined, value: Bytes): Promise<boolean> {
    const known = [];
    for (const group of this.#groups.collections) known.push(await this.#tell(group, expected, value));
    return known.every(Boolean);
  }

  /** Tells the groups that know another digest of the validation functions. */
  async alignValidators(digest: Bytes): Promise<void> {
    for (const group of this.#groups.collections) {
      const { validators } = group.log;
      if (validators !== digest) await this.#tell(group, validators, digest);
    }
  }

  async #tell(
    group: Collection,
    expected: Bytes | undefined,
    value: Bytes,
    triesLeft = closedMax,
  ): Promise<boolean> {
    if (this.#gone) throw notFound('Database does not exist.');
    const command = { type: 'validators', instance: group.group, shard: 0, expected, value } as const;
    try {
      const { result } = await group.log.append(this.#complete(command, group));
      return result;
    } catch (error) {
      if (!(error instanceof GroupClosed)) throw error;
      // No shards move while validation functions change: it was left so.
      await this.#reopened(group, triesLeft);
      return await this.#tell(group, expected, value, triesLeft - 1);
    }
  }

  /** Whether it was deleted; its name may mean another by now. */
  get isGone(): boolean {
    return this.#gone;
  }

  /** Why a feed that begins now is over. */
  get endReason(): EndReason | undefined {
    if (this.#gone) return 'database_deleted';
    return this.#released ? 'server_closing' : undefined;
  }

  /** Resolves when readers see something new, when the database is gone, or after that time. */
  async nextCommit(timeoutMs: number): Promise<void> {
    if (this.endReason !== undefined) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.#waiting.delete(end);
        resolve();
      };
      const timer = this.runtime.setTimer(end, timeoutMs);
      this.#waiting.add(end);
    });
  }

  /** Readers see what a commit brought. */
  committed(): void {
    for (const end of this.#waiting) end();
  }

  /** This node is to have it no longer, and tells it of no more commits: feeds continue at another node. */
  release(): void {
    this.#released = true;
    this.committed();
    this.followers?.end('server_closing');
  }

  markGone(): void {
    this.#gone = true;
    this.committed();
    this.followers?.end('database_deleted');
  }
}
