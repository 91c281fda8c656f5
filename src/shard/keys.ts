import { createHash } from 'node:crypto';
import { asBytes, lengthPrefixed, readU48, u16, u32, u48, u8, type Bytes } from '../base/bytes.js';
import { prefixEnd } from '../storage/store.js';

/**
 * Every key of a database in a volume: five bytes of instance number, one of table, and the rest as the table has it.
 * `docs/formats/volume.md` describes them all.
 *
 * Documents of all shards of a database stand in one order, by id: a listing is one range and not a merge of `q`
 * (measured, see `docs/decisions/003-one-order-of-documents.md`). Whatever is ordered by sequence has the shard in its key.
 */
export const tables = {
  live: 1,
  deleted: 2,
  changes: 3,
  bodies: 4,
  local: 5,
  purges: 6,
  state: 7,
  blobRefs: 8,
  partitions: 9,
  blobs: 10,
  commands: 11,
  fragments: 12,
} as const;

export class DatabaseKeys {
  readonly prefix: Bytes;
  readonly livePrefix: Bytes;
  readonly deletedPrefix: Bytes;
  readonly localPrefix: Bytes;
  readonly #changes: Bytes;
  readonly #bodies: Bytes;
  readonly #purges: Bytes;
  readonly #state: Bytes;
  readonly #blobRefs: Bytes;
  readonly #partitions: Bytes;
  readonly #blobs: Bytes;
  readonly #commands: Bytes;
  readonly #fragments: Bytes;

  constructor(readonly instance: number) {
    this.prefix = asBytes(u8(Math.floor(instance / 0x1_0000_0000)) + u32(instance));
    this.livePrefix = asBytes(this.prefix + u8(tables.live));
    this.deletedPrefix = asBytes(this.prefix + u8(tables.deleted));
    this.localPrefix = asBytes(this.prefix + u8(tables.local));
    this.#changes = asBytes(this.prefix + u8(tables.changes));
    this.#bodies = asBytes(this.prefix + u8(tables.bodies));
    this.#purges = asBytes(this.prefix + u8(tables.purges));
    this.#state = asBytes(this.prefix + u8(tables.state));
    this.#blobRefs = asBytes(this.prefix + u8(tables.blobRefs));
    this.#partitions = asBytes(this.prefix + u8(tables.partitions));
    this.#blobs = asBytes(this.prefix + u8(tables.blobs));
    this.#commands = asBytes(this.prefix + u8(tables.commands));
    this.#fragments = asBytes(this.prefix + u8(tables.fragments));
  }

  /** Everything of the database. */
  get range(): { start: Bytes; end: Bytes } {
    return { start: this.prefix, end: prefixEnd(this.prefix) };
  }

  /** What the keys of a table of documents begin with. */
  prefixOf(table: 'live' | 'deleted' | 'local'): Bytes {
    return table === 'live' ? this.livePrefix : table === 'local' ? this.localPrefix : this.deletedPrefix;
  }

  live(id: Bytes): Bytes {
    return asBytes(this.livePrefix + idKey(id));
  }

  deleted(id: Bytes): Bytes {
    return asBytes(this.deletedPrefix + idKey(id));
  }

  local(id: Bytes): Bytes {
    return asBytes(this.localPrefix + idKey(id));
  }

  get changesRange(): { start: Bytes; end: Bytes } {
    return { start: this.#changes, end: prefixEnd(this.#changes) };
  }

  change(shard: number, seq: number): Bytes {
    return asBytes(this.#changes + u16(shard) + u48(seq));
  }

  /** The sequence that the key of a change ends with. */
  changeSeq(key: Bytes): number {
    return readU48(key, key.length - 6);
  }

  body(shard: number, ref: number): Bytes {
    return asBytes(this.#bodies + u16(shard) + u48(ref));
  }

  purge(shard: number, purgeSeq: number): Bytes {
    return asBytes(this.#purges + u16(shard) + u48(purgeSeq));
  }

  /** `digest` is raw. */
  blobRef(shard: number, digest: Bytes): Bytes {
    return asBytes(this.#blobRefs + u16(shard) + digest);
  }

  get blobRefsRange(): { start: Bytes; end: Bytes } {
    return { start: this.#blobRefs, end: prefixEnd(this.#blobRefs) };
  }

  /** `digest` is raw. */
  blob(digest: Bytes): Bytes {
    return asBytes(this.#blobs + digest);
  }

  get blobsRange(): { start: Bytes; end: Bytes } {
    return { start: this.#blobs, end: prefixEnd(this.#blobs) };
  }

  partition(name: Bytes): Bytes {
    return asBytes(this.#partitions + idKey(name));
  }

  /** The state of the group as a whole: beside those of its shards, so that a commit changes no further page for it. */
  get group(): Bytes {
    return this.#state;
  }

  /** Which shards there are, where any was split. */
  get shardMap(): Bytes {
    return asBytes(this.#state + 'm');
  }

  /** The split under way. */
  get split(): Bytes {
    return asBytes(this.#state + 's');
  }

  /** Which commands are remembered by their ids. */
  get commandWindow(): Bytes {
    return this.#commands;
  }

  /** A command that is remembered, by its id. */
  command(id: Bytes): Bytes {
    return asBytes(`${this.#commands}i${id}`);
  }

  /** The ids in the order in which they came. */
  commandNumber(number: number): Bytes {
    return asBytes(`${this.#commands}n${u48(number)}`);
  }

  /** Which fragments of commands there are. */
  get fragmentList(): Bytes {
    return this.#fragments;
  }

  fragment(upload: Bytes, at: number): Bytes {
    return asBytes(this.#fragments + lengthPrefixed(upload) + u16(at));
  }

  state(shard: number): Bytes {
    return asBytes(this.#state + u16(shard));
  }

  isShardState(key: Bytes): boolean {
    return key.length === this.#state.length + 2 && key.startsWith(this.#state);
  }
}

/** Ids up to here are their own keys. */
const idKeyBytesMax = 1_900;
const separator = '\xff\xff';

/**
 * The key of an id. Where the store has no room for the whole id, its beginning stands with a hash of all of it; as
 * 0xff is in no UTF-8 text, such a key is never that of another id. Ids of that length that begin alike are listed in
 * the order of their hashes.
 */
export function idKey(id: Bytes): Bytes {
  if (id.length <= idKeyBytesMax) return id;
  const digest = createHash('sha256').update(id, 'latin1').digest('latin1');
  return asBytes(id.slice(0, idKeyBytesMax) + separator + digest);
}

/** Whether the id must be kept in the record, since its key does not tell it. */
export const isHashedKey = (id: Bytes): boolean => id.length > idKeyBytesMax;
