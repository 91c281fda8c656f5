import { asBytes, fromBytes, readU16, readU48, type Bytes } from '../../base/bytes.js';
import { CorruptRecord } from '../../base/corrupt-record.js';
import { DatabaseKeys, tables } from '../../shard/keys.js';
import { decodeSplit, targetsOf } from '../../shard/split.js';
import { keyBytesMax, prefixEnd, type Store, type Write } from '../../storage/store.js';
import type { Findings } from './finding.js';

/** What follows from documents: a damaged record of these is rewritten, or removed. */
const derivedTables: ReadonlySet<number> = new Set([tables.changes, tables.blobRefs, tables.blobs]);
const prefixBytes = 6;
const lastKey = asBytes('\xff'.repeat(keyBytesMax));
const wrongChecksum = 'its checksum is wrong';
const splitAgain = 'Its shard is being split: remove the resharding job and start another.';

/** Reads every record of a store, and gives the keys of those whose checksums are wrong, in their order. */
export function damagedKeys(store: Pick<Store, 'entries'>): Bytes[] {
  const damaged: Bytes[] = [];
  for (let start = asBytes('\0'); ;) {
    try {
      for (const entry of store.entries({ start, end: lastKey, headBytes: 0 })) void entry;
      return damaged;
    } catch (error) {
      if (!(error instanceof CorruptRecord) || error.key === undefined) throw error;
      const key = asBytes(error.key);
      // A key that does not belong there: what is after it was read before.
      if (key < start) throw error;
      damaged.push(key);
      start = keyAfter(key);
    }
  }
}

const keyAfter = (key: Bytes): Bytes => (key.length < keyBytesMax ? asBytes(`${key}\0`) : prefixEnd(key));

/** A store without its damaged records, for forward reads. */
export class SoundRecords implements Pick<Store, 'get' | 'getUncached' | 'entries' | 'keys'> {
  readonly #damaged: ReadonlySet<Bytes>;

  constructor(
    private readonly store: Store,
    readonly damaged: readonly Bytes[],
  ) {
    this.#damaged = new Set(damaged);
  }

  get(key: Bytes): Bytes | undefined {
    return this.#damaged.has(key) ? undefined : this.store.get(key);
  }

  getUncached(key: Bytes): Bytes | undefined {
    return this.get(key);
  }

  *entries({ start, end }: { start: Bytes; end: Bytes }): Iterable<{ key: Bytes; value: Bytes }> {
    let from = start;
    for (const key of this.damaged) {
      if (key < from || key >= end) continue;
      yield* this.store.entries({ start: from, end: key });
      from = keyAfter(key);
    }
    yield* this.store.entries({ start: from, end });
  }

  *keys({ start, end, limit = Infinity }: { start: Bytes; end: Bytes; limit?: number }): Iterable<Bytes> {
    let left = limit;
    for (const key of this.store.keys({ start, end })) {
      if (this.#damaged.has(key)) continue;
      if (left-- <= 0) return;
      yield key;
    }
  }
}

/** The damaged records of one database. */
export class DamagedRecords {
  readonly #damaged: readonly Bytes[];
  readonly #keys: DatabaseKeys;
  /** Whether it can't be told which shards there are: then nothing can be said of what they hold. */
  readonly hidesShards: boolean;

  constructor(
    private readonly name: string,
    instance: number,
    damaged: readonly Bytes[],
    private readonly findings: Findings,
  ) {
    const keys = (this.#keys = new DatabaseKeys(instance));
    const { start, end } = keys.range;
    this.#damaged = damaged.filter((key) => key >= start && key < end);
    this.hidesShards = this.#damaged.includes(keys.shardMap) || this.#damaged.includes(keys.split);
  }

  /** Reports what nothing else tells of. Tells whether there was any: what follows from all records then follows from nothing. */
  report(): boolean {
    const lost = this.#damaged.filter((key) => !derivedTables.has(tableOf(key)));
    for (const key of lost) this.findings.add(this.#about(key), `The record is damaged: ${wrongChecksum}.`);
    return lost.length > 0;
  }

  /**
   * Those that follow from documents and were not rewritten belong to no document: they are removed. One of a blob may
   * have its only bytes, and stays; so does what a split that is under way has copied.
   */
  leftovers(writes: readonly Write[], isComplete: boolean, store: Pick<Store, 'get'>): Write[] {
    const splitTargets = this.#splitTargets(store);
    const written = new Set(writes.map(({ key }) => key));
    const unwritten = this.#damaged.filter((key) => derivedTables.has(tableOf(key)) && !written.has(key));
    for (const key of unwritten.filter(isOfBlob))
      this.findings.add(this.#about(key), `The record of an attachment is damaged: ${wrongChecksum}.`);
    const isCopied = (key: Bytes): boolean =>
      tableOf(key) === tables.changes && splitTargets.includes(readU16(key, prefixBytes));
    for (const key of unwritten.filter(isCopied))
      this.findings.add(this.#about(key), `The copy of a change is damaged: ${wrongChecksum}. ${splitAgain}`);
    const left = unwritten.filter((key) => !isOfBlob(key) && !isCopied(key));
    const message = `A record that follows from documents is damaged: ${wrongChecksum}.`;
    for (const key of left) {
      if (isComplete) this.findings.addRepairable(this.#about(key), message);
      else this.findings.add(this.#about(key), message);
    }
    return isComplete ? left.map((key) => ({ key, value: undefined })) : [];
  }

  /** Shards that a split under way fills: they don't count yet. */
  #splitTargets(store: Pick<Store, 'get'>): readonly number[] {
    const split = decodeSplit(store.get(this.#keys.split));
    return split?.phase === 'copying' ? targetsOf(split) : [];
  }

  #about(key: Bytes): string {
    const rest = key.slice(prefixBytes);
    switch (tableOf(key)) {
      case tables.live:
      case tables.deleted:
      case tables.local:
        return `${this.name}/${fromBytes(rest)}`;
      case tables.changes:
        return `${this.name}, shard ${readU16(rest, 0)}, sequence ${readU48(rest, 2)}`;
      case tables.bodies:
        return `${this.name}, shard ${readU16(rest, 0)}, body ${readU48(rest, 2)}`;
      case tables.state:
        return rest.length === 1 ? `${this.name}, the list of its shards` : `${this.name}, counters`;
      default:
        return `${this.name}, table ${tableOf(key)}`;
    }
  }
}

const isOfBlob = (key: Bytes): boolean => tableOf(key) === tables.blobs;
const tableOf = (key: Bytes): number => key.charCodeAt(prefixBytes - 1);
