import type { DatabaseRecord } from './catalogue.js';
import type { Database } from './database.js';

/** Names of databases that are open no longer, whose last commit may still be on its way. */
const namesMax = 1_000;

interface Entry {
  readonly name: string;
  readonly groups: readonly number[];
  readonly ref: WeakRef<Database>;
}

/**
 * The databases that are open: at most one object for each instance, so that whatever is told to it (commits, settings,
 * deletion) reaches everything that uses it, for as long as anything does.
 *
 * The most recently used are kept. The others are let go, but not lost sight of: requests, feeds and replications may use
 * them for hours, and are found again by a weak reference. What nothing uses any more, the garbage collector removes.
 */
export class OpenDatabases {
  /** By name, the least recently used first. */
  readonly #kept = new Map<string, Database>();
  /** All that exist, by instance, and the instance that each name means. */
  readonly #entries = new Map<number, Entry>();
  readonly #instances = new Map<string, number>();
  readonly #names = new Map<number, Pick<Entry, 'name' | 'groups'>>();
  /** The instances of databases with several groups, by group. */
  readonly #owners = new Map<number, number>();
  readonly #collected = new FinalizationRegistry<number>((instance) => this.#drop(instance));
  #latest: Database | undefined;

  constructor(private readonly keptMax: number) {}

  get size(): number {
    return this.#entries.size;
  }

  /** The database that a name means, if it is kept. */
  get(name: string): Database | undefined {
    if (this.#latest?.name === name) return this.#latest;
    const database = this.#kept.get(name);
    if (database !== undefined) this.#keep(database);
    return database;
  }

  /** The database of an instance: the one that is in use already, or a new one. */
  open(record: DatabaseRecord, make: () => Database): Database {
    const database = this.byInstance(record.instance) ?? this.#add(record, make());
    if (!database.isGone) this.#keep(database);
    return database;
  }

  byInstance(instance: number): Database | undefined {
    return this.#entries.get(instance)?.ref.deref();
  }

  /** The one that is in use under a name, kept or not. */
  byName(name: string): Database | undefined {
    const instance = this.#instances.get(name);
    return instance === undefined ? undefined : this.byInstance(instance);
  }

  /** The name of a database that is in use, or was a moment ago. */
  nameOf(instance: number): string | undefined {
    return (this.#entries.get(instance) ?? this.#names.get(instance))?.name;
  }

  /** The database that a group is of. */
  instanceOf(group: number): number {
    return this.#owners.get(group) ?? group;
  }

  /** Whether feeds follow the database that a group is of. */
  isFollowed(group: number): boolean {
    return this.byInstance(this.instanceOf(group))?.followers !== undefined;
  }

  /** The groups of a database have changed. */
  regroup({ instance, groups = [] }: DatabaseRecord): void {
    const entry = this.#entries.get(instance);
    if (entry === undefined) return;
    const numbers = groups.map(({ group }) => group);
    for (const group of numbers) this.#owners.set(group, instance);
    this.#entries.set(instance, { ...entry, groups: [...entry.groups, ...numbers] });
  }

  /** All that are in use. */
  *all(): Generator<Database> {
    for (const { ref } of [...this.#entries.values()]) {
      const database = ref.deref();
      if (database !== undefined) yield database;
    }
  }

  /** Takes away a database that is gone; its name may come to mean another. */
  remove(database: Database): void {
    const { instance } = database.record;
    if (this.#latest === database) this.#latest = undefined;
    if (this.#kept.get(database.name) === database) this.#kept.delete(database.name);
    this.#forget(instance);
    this.#collected.unregister(database);
  }

  #add(record: DatabaseRecord, database: Database): Database {
    const { instance } = record;
    const groups = record.groups?.map(({ group }) => group) ?? [];
    for (const group of groups) this.#owners.set(group, instance);
    this.#entries.set(instance, { name: database.name, groups, ref: new WeakRef(database) });
    this.#instances.set(database.name, instance);
    this.#collected.register(database, instance, database);
    return database;
  }

  /** Makes a database the most recently used one. */
  #keep(database: Database): void {
    this.#kept.delete(database.name);
    if (this.#kept.size >= this.keptMax) this.#makeRoom();
    this.#kept.set(database.name, database);
    this.#latest = database;
  }

  /** Lets go of the least recently used database that no feed follows, if there is one among the first hundred. */
  #makeRoom(): void {
    for (let tries = 0; tries < 100; tries++) {
      const [name, database] = this.#kept.entries().next().value!;
      this.#kept.delete(name);
      if (database.followers === undefined) return;
      this.#kept.set(name, database);
    }
  }

  #drop(instance: number): void {
    // The instance may have been opened again since.
    if (this.byInstance(instance) === undefined) this.#forget(instance);
  }

  #forget(instance: number): void {
    const entry = this.#entries.get(instance);
    if (entry === undefined) return;
    this.#entries.delete(instance);
    if (this.#instances.get(entry.name) === instance) this.#instances.delete(entry.name);
    this.#names.set(instance, { name: entry.name, groups: entry.groups });
    if (this.#names.size > namesMax) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [instance, { groups }] = this.#names.entries().next().value!;
    this.#names.delete(instance);
    // It may have been opened again since.
    if (!this.#entries.has(instance)) for (const group of groups) this.#owners.delete(group);
  }
}
