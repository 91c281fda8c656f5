import { RequestError, notFound } from '../base/errors.js';
import { fromBytes, toBytes, u32, u8, type Bytes } from '../base/bytes.js';
import { GroupCommit } from '../storage/group-commit.js';
import { Overlay } from '../storage/overlay.js';
import { prefixEnd, type Store } from '../storage/store.js';
import { keyRange, type Bounds } from '../shard/key-range.js';

/** What the catalogue knows of a database. Members that were never set are absent. */
export interface DatabaseRecord {
  instance: number;
  /** Eight hexadecimal digits, drawn by lot: tells sequences of this database from those of others that had its name. */
  uuid?: string;
  /** The volume that holds it. */
  slot: number;
  q: number;
  partitioned?: true;
  /** Absent: by the id. A database marked as partitioned by the first version has none either. */
  placement?: 'partition';
  security?: Record<string, unknown>;
  revs_limit?: number;
  purged_infos_limit?: number;
}

/** Which names a listing shows. */
export interface NamesQuery extends Bounds {
  skip: number;
  limit: number;
}

/** A database whose name is gone, and whose keys are still to be removed. */
export interface Erasure {
  instance: number;
  slot: number;
}

interface Meta {
  version: 1;
  next_instance: number;
  /** The generation of each slot's folder. */
  generations: number[];
}

const namesSpace = { start: 'd', end: 'e' };
const metaKey = 'm';
const idKey = 'i';
const nameKey = (name: string): Bytes => 'd' + toBytes(name);
const erasureKey = (instance: number): Bytes =>
  'x' + u8(Math.floor(instance / 0x1_0000_0000)) + u32(instance);

/**
 * The list of databases, volumes, and what is set for each database as a whole: a small state machine beside the
 * shards, changed by the same rules: one step after the other, committed in groups, answered when on disk.
 */
export class Catalogue {
  readonly #overlay: Overlay;
  readonly #commits: GroupCommit;

  constructor(
    private readonly store: Store,
    private readonly onChange: (name: string) => void,
  ) {
    this.#overlay = new Overlay(() => store);
    this.#commits = new GroupCommit(() => store, this.#overlay);
  }

  get(name: string): DatabaseRecord | undefined {
    return decode(this.store.get(nameKey(name)));
  }

  /** Names in byte order, read in one go. */
  *names(query: NamesQuery): Iterable<string> {
    const { descending: reverse, skip: offset, limit } = query;
    const range = { ...keyRange('d', namesSpace, query), reverse, offset };
    for (const key of this.store.keys(limit === Infinity ? range : { ...range, limit }))
      yield fromBytes(key.slice(1));
  }

  /** Whether no database was ever made. */
  get isNew(): boolean {
    return this.nextInstance === 1;
  }

  /** Volumes carry it too, so that a catalogue and volumes that don't belong together are noticed. */
  get id(): string | undefined {
    return this.store.get(idKey);
  }

  async setId(id: string): Promise<void> {
    await this.#commits.submit(() => this.#overlay.put(idKey, id));
  }

  /** Instance numbers from this one on have never been given away. */
  get nextInstance(): number {
    return this.#meta(this.store).next_instance;
  }

  erasures(): Erasure[] {
    return [...this.store.entries({ start: 'x', end: prefixEnd('x') })].map(({ value }) =>
      decode<Erasure>(value)!,
    );
  }

  generations(): number[] {
    return this.#meta(this.store).generations;
  }

  async create(name: string, settings: Omit<DatabaseRecord, 'instance'>): Promise<void> {
    await this.#step(name, () => {
      const key = nameKey(name);
      if (this.#overlay.get(key) !== undefined) {
        throw new RequestError('file_exists', 'The database could not be created, the file already exists.');
      }
      const meta = this.#meta(this.#overlay);
      const record: DatabaseRecord = { instance: meta.next_instance, ...settings };
      this.#overlay.put(key, encode(record));
      this.#overlay.put(metaKey, encode({ ...meta, next_instance: meta.next_instance + 1 }));
    });
  }

  /** Takes the name away at once; the contents are removed later, in small batches. */
  async remove(name: string): Promise<Erasure> {
    return await this.#step(name, () => {
      const { instance, slot } = this.#existing(name);
      this.#overlay.remove(nameKey(name));
      this.#overlay.put(erasureKey(instance), encode({ instance, slot }));
      return { instance, slot };
    });
  }

  async erased(instance: number): Promise<void> {
    await this.#commits.submit(() => this.#overlay.remove(erasureKey(instance)));
  }

  /** Changes what is set for a database; refuses where the name has come to mean another. */
  async set(
    name: string,
    instance: number,
    settings: Partial<Pick<DatabaseRecord, 'security' | 'revs_limit' | 'purged_infos_limit'>>,
  ): Promise<void> {
    await this.#step(name, () => {
      const record = this.#existing(name);
      if (record.instance !== instance) throw databaseMissing();
      this.#overlay.put(nameKey(name), encode({ ...record, ...settings }));
    });
  }

  /** Makes a folder the one of a slot: the moment in which a volume is begun or replaced. */
  async setGeneration(slot: number, generation: number): Promise<void> {
    await this.#commits.submit(() => {
      const meta = this.#meta(this.#overlay);
      const generations = [...meta.generations];
      generations[slot] = generation;
      this.#overlay.put(metaKey, encode({ ...meta, generations }));
    });
  }

  async close(): Promise<void> {
    await this.#commits.whenIdle();
    await this.store.close();
  }

  async #step<T>(name: string, step: () => T): Promise<T> {
    const result = await this.#commits.submit(step);
    this.onChange(name);
    return result;
  }

  #existing(name: string): DatabaseRecord {
    const record = decode<DatabaseRecord>(this.#overlay.get(nameKey(name)));
    if (record === undefined) throw databaseMissing();
    return record;
  }

  #meta(source: Pick<Store, 'get'>): Meta {
    return decode<Meta>(source.get(metaKey)) ?? { version: 1, next_instance: 1, generations: [] };
  }
}

const databaseMissing = (): RequestError => notFound('Database does not exist.');

const encode = (value: object): Bytes => toBytes(JSON.stringify(value));

function decode<T = DatabaseRecord>(bytes: Bytes | undefined): T | undefined {
  return bytes === undefined ? undefined : (JSON.parse(fromBytes(bytes)) as T);
}
