import { asBytes, readU16, varint, type Bytes } from '../base/bytes.js';
import { RangeCopy } from '../storage/range-copy.js';
import type { Store, Write } from '../storage/store.js';
import { smallBlob } from './blob-record.js';
import { isLocalId } from './doc-id.js';
import { decodeWinner } from './doc-record.js';
import { decodeGroupState, encodeGroupState } from './group-state.js';
import { DatabaseKeys, isHashedKey, tables } from './keys.js';
import { decodeLocal } from './local-record.js';
import { encodeShardMap, type ShardMap } from './shard-map.js';
import { shardOf } from './shard-ranges.js';
import { placedBy } from './split.js';
import type { Volume } from './volume.js';

/** A group that gets some of the first shards of another, with all that they were split into. */
export interface CopyTarget {
  group: number;
  volume: Volume;
  shards: readonly number[];
}

export interface GroupCopyOptions {
  group: number;
  volume: Volume;
  /** The shards as of the last commit: none is split meanwhile. */
  shards: ShardMap;
  partitioned: boolean;
  targets: readonly CopyTarget[];
  /** Called in the turn of each write to a target: throws when the work is to end. */
  check: () => void;
  /** Told how many documents have been read. */
  onCopied: (documents: number) => void;
}

const prefixBytes = 5;
const shardAt = prefixBytes + 1;

/**
 * Copies a group to several that divide its shards among them, while commands go on changing it. What the targets have is
 * behind the source, but never ahead of their own counters: those are read before all that they tell of is carried over, and
 * written after it. So indexes can be filled from a target at any time, as from a group that is being written to.
 *
 * That a target has a group state tells that it is complete.
 */
export class GroupCopy {
  readonly #source: DatabaseKeys;
  readonly #targets: readonly (CopyTarget & { keys: DatabaseKeys; owned: ReadonlySet<number> })[];
  readonly #copy: RangeCopy;
  readonly #unwatch: () => void;
  #documents = 0;

  constructor(private readonly options: GroupCopyOptions) {
    const { group, volume, targets, onCopied } = options;
    this.#source = new DatabaseKeys(group);
    this.#targets = targets.map((target) => ({
      ...target,
      keys: new DatabaseKeys(target.group),
      owned: new Set(target.shards),
    }));
    this.#copy = new RangeCopy({
      source: () => volume.store,
      ranges: [this.#source.range],
      map: (key, value) => this.#map(key, value),
      write: (writes) => this.#write(writes),
      onBatch: () => onCopied(this.#documents),
      runtime: volume.runtime,
    });
    this.#unwatch = volume.watch((writes) => this.#copy.noteWrites(writes));
  }

  /** How many keys of the source have changed since they were copied. */
  get behind(): number {
    return this.#copy.behind;
  }

  async copy(): Promise<void> {
    await this.#copy.copy();
    await this.topOff();
  }

  /** Brings the targets up to date with the source as it is now. */
  async topOff(): Promise<void> {
    let counters: Write[] = [];
    let changed: ReadonlySet<Bytes> | undefined;
    // The store shows a commit a moment before its keys are noted: the counters would tell of what is not carried over.
    await this.options.volume.runBetweenCommits(() => {
      counters = this.#counters();
      changed = this.#copy.take();
    });
    await this.#copy.carry(changed);
    await this.#write(counters);
  }

  /** Completes the targets: to be called when the source is closed. */
  async complete(): Promise<void> {
    while (this.#copy.behind > 0) await this.#copy.carry();
    const group = { ...decodeGroupState(this.#store.get(this.#source.group)), closed: false };
    const states = this.#targets.map(({ keys }) => ({ key: keys.group, value: encodeGroupState(group) }));
    await this.#write([...this.#counters(), ...states]);
  }

  /** To be called in the end, however it comes. */
  end(): void {
    this.#unwatch();
  }

  get #store(): Store {
    return this.options.volume.store;
  }

  /** What tells how much there is, of all targets. */
  #counters(): Write[] {
    const { shards } = this.options;
    return this.#targets.flatMap(({ keys, owned }) => {
      const writes: Write[] = [];
      const map = shards.only(owned);
      if (map !== undefined) writes.push({ key: keys.shardMap, value: encodeShardMap(map) });
      for (const shard of shards.shards) {
        if (!owned.has(shards.blobHome(shard))) continue;
        const state = this.#store.get(this.#source.state(shard));
        if (state !== undefined) writes.push({ key: keys.state(shard), value: state });
      }
      return writes;
    });
  }

  #map(key: Bytes, value: Bytes | undefined): readonly Write[] {
    const table = key.charCodeAt(prefixBytes);
    const rest = key.slice(shardAt);
    switch (table) {
      // They come later; fragments of commands are sent again with those.
      case tables.state:
      case tables.fragments:
        return [];
      case tables.blobs:
        return this.#blob(key, rest, value);
      case tables.commands:
        return this.#toAll(key, value);
    }
    // Whose it was is not always known, and removing what is not there does no harm.
    if (value === undefined) return this.#toAll(key, undefined);
    const first = this.#firstShard(table, key, rest, value);
    return first === undefined ? this.#toAll(key, value) : this.#toOwner(first, key, value);
  }

  /** The first shard that a record belongs to; undefined where neither the key nor the record tells. */
  #firstShard(table: number, key: Bytes, rest: Bytes, value: Bytes): number | undefined {
    const { shards, partitioned } = this.options;
    switch (table) {
      case tables.live:
      case tables.deleted:
        this.#documents++;
        return this.#firstOfId(isHashedKey(rest) ? decodeWinner(value).longId! : rest);
      case tables.local:
        return this.#firstOfId(isHashedKey(rest) ? decodeLocal(value).longId! : rest);
      case tables.partitions:
        return isHashedKey(rest) || !partitioned ? undefined : shardOf(rest, shards.q);
      case tables.changes:
      case tables.purges: {
        // What a split has left over belongs to no shard.
        const shard = readU16(key, shardAt);
        return shards.isGone(shard) ? shards.size : shards.blobHome(shard);
      }
      default:
        return shards.blobHome(readU16(key, shardAt));
    }
  }

  #firstOfId(id: Bytes): number {
    const { shards, partitioned } = this.options;
    return shardOf(placedBy(id, partitioned && !isLocalId(id)), shards.q);
  }

  /** A record of a blob counts the shards of the group that name it. */
  #blob(key: Bytes, digest: Bytes, value: Bytes | undefined): Write[] {
    return this.#targets.map(({ keys, owned }) => {
      const named = [...owned].filter(
        (shard) => this.#store.get(this.#source.blobRef(shard, digest)) !== undefined,
      );
      const count = value === undefined ? 0 : named.length;
      return {
        key: rename(key, keys),
        value: count === 0 ? undefined : asBytes(varint(count) + smallBlob(value)!),
      };
    });
  }

  #toAll(key: Bytes, value: Bytes | undefined): Write[] {
    return this.#targets.map(({ keys }) => ({ key: rename(key, keys), value }));
  }

  #toOwner(first: number, key: Bytes, value: Bytes): Write[] {
    return this.#targets
      .filter(({ owned }) => owned.has(first))
      .map(({ keys }) => ({ key: rename(key, keys), value }));
  }

  async #write(writes: readonly Write[]): Promise<void> {
    this.options.check();
    const filled = this.#targets.map(async ({ group, volume, keys }) => {
      const own = writes.filter(({ key }) => key.startsWith(keys.prefix));
      if (own.length > 0) await volume.journal.record({ type: 'fill', instance: group, writes: own });
    });
    await Promise.all(filled);
  }
}

const rename = (key: Bytes, { prefix }: DatabaseKeys): Bytes => asBytes(prefix + key.slice(prefixBytes));
