import type { Bytes } from '../base/bytes.js';
import { mergeSorted, skipMerged } from '../base/merge-sorted.js';
import type { Runtime } from '../base/runtime.js';
import type { RevNode, RevTree } from '../revisions/tree.js';
import type { NumberedEntry } from '../storage/store.js';
import type { Collection } from './collection.js';
import { isLocalId } from './doc-id.js';
import type { DocRecord, WinnerView } from './doc-record.js';
import { GroupList } from './group-list.js';
import type {
  ChangesQuery,
  DocEntry,
  DocPlace,
  DocsQuery,
  DocTable,
  LocalReader,
  NumbersQuery,
} from './group-reader.js';
import type { KeyRange } from './key-range.js';
import type { LocalRecord } from './local-record.js';
import type { PartitionCounts } from './partition-counts.js';
import type { PurgeRecord } from './purge-record.js';
import { ShardMap } from './shard-map.js';
import type { ShardState } from './shard-state.js';
import { placedBy, type CopiedTable, type Split } from './split.js';
import type { Touched } from './write-view.js';

/** A group, and those of the database's first shards that it holds, with all that they were split into. */
export interface GroupPart {
  collection: Collection;
  shards: readonly number[];
}

/**
 * Reads several groups as one. What is found by the id of a document or the number of a shard is asked of the group that has
 * it; what is in an order is merged, and what is counted is added up.
 */
export class MergedReader implements LocalReader {
  readonly collections: readonly Collection[];
  /** By the numbers of the first shards. */
  readonly #owners: readonly Collection[];
  #shards: ShardMap;
  #states: ShardState[];
  #designChanges = 0;
  #isStale = false;
  /** Of the groups, when they were read last: what they had counted, and their shards. */
  #changesSeen = 0;
  #maps: readonly ShardMap[] = [];

  constructor(
    parts: readonly GroupPart[],
    /** Whether documents are placed by their partitions. */
    private readonly partitioned: boolean,
  ) {
    this.collections = parts.map(({ collection }) => collection);
    const owners: Collection[] = [];
    for (const { collection, shards } of parts) for (const shard of shards) owners[shard] = collection;
    this.#owners = owners;
    this.#shards = this.#readShards();
    this.#states = this.#readStates();
  }

  get runtime(): Runtime {
    return this.collections[0]!.runtime;
  }

  get shards(): ShardMap {
    if (this.#isStale) this.#readAgain();
    return this.#shards;
  }

  get states(): readonly ShardState[] {
    if (this.#isStale) this.#readAgain();
    return this.#states;
  }

  get designChanges(): number {
    if (this.#isStale) this.#readAgain();
    return this.#designChanges;
  }

  set designChanges(count: number) {
    this.#designChanges = count;
  }

  /** As of one group. */
  reread(): void {
    this.#isStale = true;
    for (const collection of this.collections) collection.reread();
  }

  #readAgain(): void {
    this.#isStale = false;
    const changes = this.#sum((collection) => collection.designChanges);
    if (changes === this.#changesSeen) return;
    this.#changesSeen = changes;
    const maps = this.collections.map(({ shards }) => shards);
    // Readers compare the map with the one they know.
    if (maps.some((map, at) => map !== this.#maps[at])) this.#shards = this.#readShards();
    this.#states = this.#readStates();
    this.#designChanges++;
  }

  get fileBytes(): number {
    return this.#sum((collection) => collection.fileBytes);
  }

  /** The group that has a shard. */
  groupOf(shard: number): Collection {
    return this.#owners[this.shards.blobHome(shard)]!;
  }

  /** Takes over what a commit changed. Tells whether documents are among it. */
  publish(touched: Touched): boolean {
    // Commits of a former group are ignored.
    const changed =
      this.collections.find(({ group }) => group === touched.instance)?.publish(touched) ?? false;
    if (touched.isSplit) this.#shards = this.#readShards();
    this.#states = this.#readStates();
    if (touched.designs) this.#designChanges++;
    return changed;
  }

  #readShards(): ShardMap {
    this.#maps = this.collections.map(({ shards }) => shards);
    return ShardMap.joined(this.#maps);
  }

  #readStates(): ShardState[] {
    return Array.from({ length: this.#shards.size }, (_, shard) => this.groupOf(shard).states[shard]!);
  }

  #groupOfId(id: Bytes): Collection {
    return this.groupOf(this.shards.shardOf(placedBy(id, this.partitioned && !isLocalId(id))));
  }

  #sum(count: (collection: Collection) => number): number {
    return this.collections.reduce((sum, collection) => sum + count(collection), 0);
  }

  winner(id: Bytes): WinnerView | undefined {
    return this.#groupOfId(id).winner(id);
  }

  doc(id: Bytes): DocRecord | undefined {
    return this.#groupOfId(id).doc(id);
  }

  docUncached(id: Bytes): DocRecord | undefined {
    return this.#groupOfId(id).docUncached(id);
  }

  treeOnce(id: Bytes): RevTree | undefined {
    return this.#groupOfId(id).treeOnce(id);
  }

  liveRecord(place: DocPlace): Bytes | undefined {
    return this.#groupOfId(place.id).liveRecord(place);
  }

  deletedRecord(id: Bytes): Bytes | undefined {
    return this.#groupOfId(id).deletedRecord(id);
  }

  winnerBody(shard: number, winner: Pick<WinnerView, 'body' | 'bodyRef' | 'bodyLength'>): Bytes {
    return this.groupOf(shard).winnerBody(shard, winner);
  }

  body(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    return this.groupOf(shard).body(shard, doc, node);
  }

  bodyOnce(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    return this.groupOf(shard).bodyOnce(shard, doc, node);
  }

  local(id: Bytes): LocalRecord | undefined {
    return this.#groupOfId(id).local(id);
  }

  docs(table: DocTable, query: DocsQuery): DocEntry[] {
    const { reverse = false, offset = 0, limit, bytesMax = Infinity } = query;
    const compare = reverse ? byKeyDown : byKey;
    const lists = this.collections.map((collection) => new GroupList(collection, table, query));
    if (offset > 0) skipMerged(lists, offset, compare);
    const found: DocEntry[] = [];
    let bytes = 0;
    const atOnce = Math.ceil(limit / lists.length);
    if (limit <= 0) return found;
    for (const entry of mergeSorted(
      lists.map((list) => list.entries(atOnce)),
      compare,
    )) {
      found.push(entry);
      bytes += entry.key.length + entry.value.length;
      if (found.length >= limit || bytes >= bytesMax) break;
    }
    return found;
  }

  countDocs(table: DocTable, range: KeyRange): number {
    return this.#sum((collection) => collection.countDocs(table, range));
  }

  async ranked(): Promise<void> {
    await Promise.all(this.collections.map((collection) => collection.ranked()));
  }

  get isRanked(): boolean {
    return this.collections.every((collection) => collection.isRanked);
  }

  docsBefore(key: Bytes): number {
    return this.#sum((collection) => collection.docsBefore(key));
  }

  changes(shard: number, query: ChangesQuery): NumberedEntry[] {
    return this.groupOf(shard).changes(shard, query);
  }

  change(shard: number, seq: number): Bytes | undefined {
    return this.groupOf(shard).change(shard, seq);
  }

  countChanges(shard: number, after: number): number {
    return this.groupOf(shard).countChanges(shard, after);
  }

  async changesRanked(): Promise<void> {
    await Promise.all(this.collections.map((collection) => collection.changesRanked()));
  }

  rankedChanges(shard: number, after: number): number {
    return this.groupOf(shard).rankedChanges(shard, after);
  }

  purges(shard: number): PurgeRecord[] {
    return this.groupOf(shard).purges(shard);
  }

  /** All documents of a partition are in one shard. */
  partition(name: Bytes): PartitionCounts {
    return this.groupOf(this.shards.shardOf(name)).partition(name);
  }

  hasBlob(blob: string): boolean {
    return this.collections.some((collection) => collection.hasBlob(blob));
  }

  shardHasBlob(shard: number, blob: string): boolean {
    return this.groupOf(shard).shardHasBlob(shard, blob);
  }

  smallBlob(blob: string): Bytes | undefined {
    for (const collection of this.collections) {
      const found = collection.smallBlob(blob);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  splitNear(shard: number): Split | undefined {
    return this.groupOf(shard).splitNear();
  }

  numbers(table: CopiedTable, shard: number, query: NumbersQuery): number[] {
    return this.groupOf(shard).numbers(table, shard, query);
  }
}

const byKey = (a: DocEntry, b: DocEntry): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const byKeyDown = (a: DocEntry, b: DocEntry): number => byKey(b, a);
