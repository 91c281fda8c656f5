import { asBytes, readU16, u48, type Bytes } from '../base/bytes.js';
import { smallBlob, toHex } from '../shard/blob-record.js';
import { DatabaseKeys, tables } from '../shard/keys.js';
import { decodeState } from '../shard/shard-state.js';
import { decodeSplit, targetsOf } from '../shard/split.js';
import { countFile } from '../shard/volume-blobs.js';
import { recordBytes, volumeBytes, volumeBytesKey } from '../shard/write-view.js';
import { prefixEnd, type Store, type StoreSnapshot, type Write } from '../storage/store.js';

/** Bytes that are copied in one commit, about. */
const batchBytesMax = 16 * 1024 * 1024;
const prefixBytes = 6;
/** What is ordered by the sequences of a shard begins with its number. */
const shardTables: ReadonlySet<number> = new Set([tables.changes, tables.purges]);
/** What a group remembers of its log, which is not that of the copy. */
const logTables: ReadonlySet<number> = new Set([tables.commands, tables.fragments]);

const tableOf = (key: Bytes): number => key.charCodeAt(prefixBytes - 1);

/** The digests of attachments that are kept as files, of those that a group names. */
export function* filesOfGroup(source: Pick<Store, 'entries'>, group: number): Iterable<string> {
  const range = new DatabaseKeys(group).blobsRange;
  for (const { key, value } of source.entries(range))
    if (smallBlob(value) === '') yield toHex(key.slice(range.start.length));
}

/** About how many bytes there are to copy. */
export function bytesOfGroup(source: Pick<Store, 'entries'>, group: number): number {
  const keys = new DatabaseKeys(group);
  const start = keys.group;
  let bytes = 0;
  for (const { key, value } of source.entries({ start, end: prefixEnd(start) }))
    if (keys.isShardState(key)) bytes += recordBytes(decodeState(value));
  return bytes;
}

/**
 * Copies all records of a group into another volume, where it has another number. A split of a shard that is under way is
 * left out: its shard stays whole, or is split already.
 */
export async function copyGroup(
  source: StoreSnapshot,
  from: number,
  target: Store,
  to: number,
  advance: (bytes: number) => void,
): Promise<void> {
  const copy = new GroupCopy(source, new DatabaseKeys(from), target, new DatabaseKeys(to));
  for (let start: Bytes | undefined = copy.start; start !== undefined;) {
    const { writes, bytes, next } = copy.batch(start);
    if (writes.length > 0) await target.write(writes).flushed;
    advance(bytes);
    start = next;
  }
}

class GroupCopy {
  readonly #unsettled: ReadonlySet<number>;

  constructor(
    private readonly source: StoreSnapshot,
    private readonly from: DatabaseKeys,
    private readonly target: Store,
    private readonly to: DatabaseKeys,
  ) {
    this.#unsettled = unsettledShards(source, from);
  }

  get start(): Bytes {
    return this.from.range.start;
  }

  /** The next records, with what the volume counts of them, and where the batch after them begins. */
  batch(start: Bytes): { writes: Write[]; bytes: number; next: Bytes | undefined } {
    const writes: Write[] = [];
    let bytes = 0;
    let recorded = 0;
    let next: Bytes | undefined;
    for (const { key, value } of this.source.entries({ start, end: this.from.range.end })) {
      if (bytes > batchBytesMax) {
        next = key;
        break;
      }
      bytes += key.length + value.length;
      if (this.#isLeftOut(key)) continue;
      writes.push({ key: asBytes(this.to.prefix + key.slice(this.from.prefix.length)), value });
      if (this.from.isShardState(key)) recorded += recordBytes(decodeState(value));
      if (tableOf(key) === tables.blobs && smallBlob(value) === '') writes.push(...this.#countFile(key));
    }
    if (recorded !== 0) {
      const before = volumeBytes(this.target);
      if (before !== undefined) writes.push({ key: volumeBytesKey, value: u48(before + recorded) });
    }
    return { writes, bytes, next };
  }

  #countFile(key: Bytes): Write[] {
    const writes: Write[] = [];
    const blob = toHex(key.slice(this.from.blobsRange.start.length));
    const overlay = {
      get: (each: Bytes) => this.target.get(each),
      put: (each: Bytes, value: Bytes) => void writes.push({ key: each, value }),
      remove: (each: Bytes) => void writes.push({ key: each, value: undefined }),
    };
    countFile(overlay, blob, 1);
    return writes;
  }

  #isLeftOut(key: Bytes): boolean {
    if (key === this.from.split || logTables.has(tableOf(key))) return true;
    if (this.#unsettled.size === 0) return false;
    const isOfShard = shardTables.has(tableOf(key)) || this.from.isShardState(key);
    return isOfShard && this.#unsettled.has(readU16(key, prefixBytes));
  }
}

/** Shards whose records don't count: those that a split is filling, or one that it is removing. */
function unsettledShards(source: Pick<Store, 'get'>, keys: DatabaseKeys): ReadonlySet<number> {
  const split = decodeSplit(source.get(keys.split));
  if (split === undefined) return new Set();
  return new Set(split.phase === 'cleaning' ? [split.source] : targetsOf(split));
}
