import { notFound } from '../base/errors.js';
import type { DatabaseIndexes } from '../indexes/database-indexes.js';
import { Collection } from '../shard/collection.js';
import { GroupCopy } from '../shard/group-copy.js';
import { groupsOf, type Catalogue, type DatabaseRecord, type PlacedGroup } from './catalogue.js';
import type { DivideCommand } from './catalogue-commands.js';
import type { Erasure } from './catalogue-journal.js';
import type { Database } from './database.js';
import type { Erasures } from './erasures.js';
import { divided, openGroups, openIndexes } from './open-groups.js';
import { groupName, splitStates, type ReshardJob, type SplitState } from './reshard-job.js';
import type { ReshardHost, ReshardWork, WorkControl } from './reshard-run.js';
import type { Volumes } from './volumes.js';

/** Keys that may be left to carry over while writers wait, and how often fewer are tried for. */
const lastKeysMax = 500;
const roundsMax = 10;
/** Requests that read the group when its shards moved have this long to end; then what they read is removed. */
const readersMs = 1_000;

/** What a division changes beside the database itself. */
export interface Divisions {
  readonly catalogue: Catalogue;
  readonly volumes: Volumes;
  readonly erasures: Erasures;
}

/**
 * Divides the shards of one group over several others, state by state. Until they take its place, in one commit of the
 * catalogue, the group is all that counts; after a crash before that, what was copied is thrown away, and the division
 * starts again.
 */
export class GroupDivision implements ReshardWork {
  #copy: GroupCopy | undefined;
  #target: string[] | undefined;
  readonly task = 'group_division';

  constructor(
    private readonly host: ReshardHost,
    private readonly divisions: Divisions,
    private readonly database: Database,
    private readonly job: ReshardJob,
    private readonly control: WorkControl,
  ) {}

  get #group(): number {
    return this.job.group!;
  }

  /** The group that is divided; undefined when others have taken its place. */
  get #source(): Collection | undefined {
    return this.database.groups.collections.find(({ group }) => group === this.#group);
  }

  /** What the catalogue says; undefined where the database is gone. */
  get #record(): DatabaseRecord | undefined {
    const { name, record } = this.database;
    const found = this.divisions.catalogue.get(name);
    return found?.instance === record.instance ? found : undefined;
  }

  get #placed(): PlacedGroup | undefined {
    return this.#record && groupsOf(this.#record).find(({ group }) => group === this.#group);
  }

  get total(): number {
    const states = this.#source?.states ?? [];
    return states.reduce((sum, { doc_count, doc_del_count }) => sum + doc_count + doc_del_count, 0);
  }

  get #isSwapped(): boolean {
    return this.#record !== undefined && this.#placed === undefined;
  }

  get target(): string[] | undefined {
    return this.#target;
  }

  /** What has been copied is not known any more after a crash or a failure. */
  from(state: SplitState): number {
    const next = splitStates.indexOf('wait_source_close');
    return this.#isSwapped ? Math.max(next, splitStates.indexOf(state as 'topoff3')) : 0;
  }

  async enter(state: SplitState): Promise<void> {
    this.control.check();
    if (state === 'initial_copy') await this.#begin();
    if (state === 'topoff1') await this.#copy!.topOff();
    if (state === 'build_indices') await this.#fillIndexes();
    if (state === 'topoff2') await this.#catchUp();
    if (state === 'update_shardmap') await this.#swap();
    if (state === 'wait_source_close') await this.#leaveSource();
    if (state === 'source_delete') this.#erase();
  }

  /** Gives up what was begun; tells whether that was in time. */
  async abort(): Promise<boolean> {
    this.end();
    if (this.#isSwapped) return false;
    // Another job may be dividing another group.
    if (this.#record?.division?.group === this.#group) await this.#giveUp(this.#group);
    return true;
  }

  /** Removes what is left over. */
  async clear(): Promise<void> {
    if (!(await this.abort())) this.#erase();
  }

  end(): void {
    this.#copy?.end();
    this.#copy = undefined;
  }

  async #begin(): Promise<void> {
    // Of one database, one job runs: whatever is under way was left by one that runs no more.
    const left = this.#record?.division;
    if (left !== undefined) await this.#giveUp(left.group);
    const { database } = this;
    const source = this.#source!;
    await this.#step(
      'begin',
      source.group,
      partsOf(this.#placed!, source, database.record.q, this.job.parts!),
    );
    const targets = await this.#place(source);
    this.#target = targets.map(({ group }) => groupName(database.name, database.record, group));
    let told = 0;
    this.#copy = new GroupCopy({
      group: source.group,
      volume: this.divisions.volumes.get(this.#placed!.slot),
      shards: source.shards,
      partitioned: database.isPartitioned,
      targets: targets.map(({ group, slot, shards }) => ({
        group,
        volume: this.divisions.volumes.get(slot),
        shards: shards!,
      })),
      check: () => {
        this.control.check();
        if (database.isGone) throw notFound('Database does not exist.');
      },
      onCopied: (documents) => {
        this.control.onCopied(documents - told);
        told = documents;
      },
    });
    await this.#copy.copy();
  }

  /** Finds volumes with room for the new groups. */
  async #place(source: Collection): Promise<readonly PlacedGroup[]> {
    const { catalogue, volumes } = this.divisions;
    const promised = new Map<number, number>();
    for (const { group, shards } of this.database.record.division!.targets) {
      const bytes = shards!.reduce((sum, shard) => sum + bytesOf(source, shard), 0);
      const slot = await volumes.slotFor(bytes, promised);
      promised.set(slot, (promised.get(slot) ?? 0) + bytes);
      await catalogue.journal.record({ type: 'set_slot', group, slot });
    }
    const record = this.#record;
    if (record?.division === undefined) throw notFound('Database does not exist.');
    this.database.record = record;
    return record.division.targets;
  }

  /** The indexes of the new groups are filled before they are asked for. */
  async #fillIndexes(): Promise<void> {
    const { database, divisions, host } = this;
    const next = divided(database.record);
    const indexes = openIndexes(host.views, divisions.volumes, next, openGroups(divisions.volumes, next));
    await this.#fill(indexes);
  }

  #fill(indexes: DatabaseIndexes): Promise<void> {
    const { control, database, host } = this;
    return control.unlessEnded(host.fillIndexes(database, indexes, control.check));
  }

  /** Until little is left to be carried over. */
  async #catchUp(): Promise<void> {
    const copy = this.#copy!;
    await copy.topOff();
    await this.#fillIndexes();
    for (let round = 0; round < roundsMax && copy.behind > lastKeysMax; round++) await copy.topOff();
  }

  /**
   * Closes the group, completes the others and has them take its place. Writers wait meanwhile, and no change of validation
   * functions is half done. It is not interrupted.
   */
  async #swap(): Promise<void> {
    const { database } = this;
    const source = this.#source!;
    await database.validatorChanges.run(async () => {
      let moved!: () => void;
      database.moving = new Promise((resolve) => (moved = resolve));
      try {
        await database.close(source, true);
        await this.#copy!.complete();
        database.nextGroups = this.#openTargets();
        await this.#step('swap', source.group);
      } catch (error) {
        // Where this fails too, the next writer does it.
        if (this.#placed !== undefined) await database.close(source, false).catch(() => undefined);
        throw error;
      } finally {
        database.nextGroups = undefined;
        database.moving = undefined;
        moved();
        this.end();
      }
    });
  }

  /** The groups that have all that the closed one has. */
  #openTargets(): Collection[] {
    const { record } = this.database;
    return record.division!.targets.map(
      ({ group, slot }) => new Collection(this.divisions.volumes.get(slot), group, record.q),
    );
  }

  /** Reads of the group that are under way may go on for a while; then its indexes are not needed any more either. */
  async #leaveSource(): Promise<void> {
    await this.control.pause(readersMs);
    this.control.check();
    await this.#fill(this.host.indexed(this.database));
  }

  #erase(): void {
    const { catalogue, erasures } = this.divisions;
    erasures.begin(catalogue.erasures().filter(({ instance }) => instance === this.#group));
  }

  /** Has what was copied of a group erased. */
  async #giveUp(group: number): Promise<void> {
    this.divisions.erasures.begin(await this.#step('abort', group));
  }

  #step(
    step: DivideCommand['step'],
    group: number,
    parts: DivideCommand['parts'] = [],
  ): Promise<readonly Erasure[]> {
    const { name, record } = this.database;
    return this.divisions.catalogue.divide({ name, instance: record.instance, step, group, parts });
  }
}

/** The bytes of records that one of the first shards has, with all that it was split into. */
function bytesOf({ shards, states }: Collection, first: number): number {
  return states.reduce((sum, { stored_bytes, attachment_bytes }, shard) => {
    return shards.blobHome(shard) === first ? Math.max(0, sum + stored_bytes - attachment_bytes) : sum;
  }, 0);
}

/** The first shards that a group has. */
export const firstShards = ({ shards }: PlacedGroup, q: number): readonly number[] =>
  shards ?? [...Array(q).keys()];

/** Divides the first shards of a group into parts of about the same size. */
function partsOf(placed: PlacedGroup, source: Collection, q: number, count: number): number[][] {
  const parts = Array.from({ length: count }, () => ({ shards: [] as number[], bytes: 0 }));
  const sized = firstShards(placed, q).map((shard) => ({ shard, bytes: bytesOf(source, shard) }));
  for (const { shard, bytes } of sized.sort((a, b) => b.bytes - a.bytes)) {
    const smallest = parts.reduce((a, b) =>
      b.bytes < a.bytes || (b.bytes === a.bytes && b.shards.length < a.shards.length) ? b : a,
    );
    smallest.shards.push(shard);
    smallest.bytes += bytes;
  }
  return parts.map(({ shards }) => shards.sort((a, b) => a - b));
}
