import { asBytes, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import type { Runtime } from '../base/runtime.js';
import type { NumberedEntry, Store } from '../storage/store.js';
import type { RevNode, RevTree } from '../revisions/tree.js';
import { fromHex, smallBlob } from './blob-record.js';
import { readBody } from './read-body.js';
import { decodeDocRecord, decodeWinner, isInRecord, type DocRecord, type WinnerView } from './doc-record.js';
import { GroupCounters } from './group-counters.js';
import type { GroupLog } from './group-log.js';
import {
  rangeBehind,
  type ChangesQuery,
  type DocEntry,
  type DocPlace,
  type DocsQuery,
  type DocTable,
  type LocalReader,
  type NumbersQuery,
} from './group-reader.js';
import type { KeyRange } from './key-range.js';
import { GroupRanks } from './group-ranks.js';
import { DatabaseKeys } from './keys.js';
import { decodeLocal, type LocalRecord } from './local-record.js';
import { decodePartition, type PartitionCounts } from './partition-counts.js';
import { decodePurge, type PurgeRecord } from './purge-record.js';
import type { ShardMap } from './shard-map.js';
import type { ShardState } from './shard-state.js';
import { decodeSplit, type CopiedTable, type Split } from './split.js';
import type { Volume } from './volume.js';
import type { Touched } from './write-view.js';

/** A group in a volume of this node, for readers: its documents, and the counters of its shards. */
export class Collection implements LocalReader {
  readonly #keys: DatabaseKeys;
  /** What changes the documents. */
  readonly log: GroupLog;
  readonly #ranks: GroupRanks;
  readonly #counters: GroupCounters;

  constructor(
    private readonly volume: Volume,
    readonly group: number,
    /** The shards that the database began with. */
    q: number,
  ) {
    this.#keys = new DatabaseKeys(group);
    this.log = volume.log(group);
    this.#counters = new GroupCounters(
      () => this.#store,
      this.#keys,
      q,
      (before) => this.#ranks.follow(before),
    );
    this.#ranks = new GroupRanks({
      volume,
      keys: this.#keys,
      counters: this.#counters,
      changes: (shard, query) => this.changes(shard, query),
    });
  }

  get #store(): Store {
    return this.volume.store;
  }

  get runtime(): Runtime {
    return this.volume.runtime;
  }

  get shards(): ShardMap {
    return this.#counters.shards;
  }

  get designChanges(): number {
    return this.#counters.designChanges;
  }

  set designChanges(count: number) {
    this.#counters.designChanges = count;
  }

  /** Where a database has one group, it has all shards. */
  groupOf(): Collection {
    return this;
  }

  get collections(): readonly Collection[] {
    return [this];
  }

  get states(): readonly ShardState[] {
    return this.#counters.states;
  }

  /**
   * For a reader in another process than the one that writes: what is remembered of the group is compared with the store
   * when it is asked for next.
   */
  reread(): void {
    this.#ranks.isShared = true;
    this.#counters.reread();
  }

  /** Takes over what a commit changed. Tells whether documents are among it. */
  publish(touched: Touched): boolean {
    const changed = this.#counters.publish(touched);
    this.#ranks.apply(touched);
    return changed;
  }

  /** Of the file: the records' own bytes, and the share of the slack of pages that falls to them. */
  get fileBytes(): number {
    let stored = 0;
    let attachments = 0;
    for (const { stored_bytes, attachment_bytes } of this.states) {
      stored += stored_bytes;
      attachments += attachment_bytes;
    }
    return Math.ceil((stored - attachments) * this.volume.fileFactor) + attachments;
  }

  winner(id: Bytes): WinnerView | undefined {
    const bytes = this.#store.get(this.#keys.live(id)) ?? this.#store.get(this.#keys.deleted(id));
    return bytes === undefined ? undefined : decodeWinner(bytes);
  }

  doc(id: Bytes): DocRecord | undefined {
    const bytes = this.#store.get(this.#keys.live(id)) ?? this.#store.get(this.#keys.deleted(id));
    return bytes === undefined ? undefined : decodeDocRecord(bytes);
  }

  docUncached(id: Bytes): DocRecord | undefined {
    const store = this.#store;
    const bytes = store.getUncached(this.#keys.live(id)) ?? store.getUncached(this.#keys.deleted(id));
    return bytes === undefined ? undefined : decodeDocRecord(bytes);
  }

  /**
   * Where the counters know of no deleted document, none is looked for; one that is just becoming the first seems to be
   * absent until they tell of it.
   */
  treeOnce(id: Bytes): RevTree | undefined {
    const live = this.#store.getUncached(this.#keys.live(id));
    if (live !== undefined) return decodeDocRecord(live).tree;
    const deleted = this.#hasTombstones ? this.#store.getUncached(this.#keys.deleted(id)) : undefined;
    return deleted === undefined ? undefined : decodeDocRecord(deleted).tree;
  }

  get #hasTombstones(): boolean {
    for (const { tombstones } of this.states) if (tombstones > 0) return true;
    return false;
  }

  readonly #liveKey = (id: Bytes): Bytes => this.#keys.live(id);

  liveRecord(place: DocPlace): Bytes | undefined {
    return this.#store.get(place.docKey?.(this.#liveKey) ?? this.#keys.live(place.id));
  }

  deletedRecord(id: Bytes): Bytes | undefined {
    return this.#store.get(this.#keys.deleted(id));
  }

  winnerBody(shard: number, winner: Pick<WinnerView, 'body' | 'bodyRef' | 'bodyLength'>): Bytes {
    const { bodyRef, bodyLength } = winner;
    const body = winner.body ?? this.#readBody(shard, bodyRef);
    if (body?.length !== bodyLength)
      throw new CorruptRecord(`the body ${bodyRef} of the shard ${shard} is missing, or has a wrong length`);
    return body;
  }

  body(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    if (isInRecord(doc, node)) return doc.body;
    return node.body === 0 ? undefined : this.#readBody(shard, node.body);
  }

  bodyOnce(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    if (isInRecord(doc, node)) return doc.body;
    return node.body === 0 ? undefined : this.#readBody(shard, node.body, 'getUncached');
  }

  #readBody(shard: number, ref: number, read: 'get' | 'getUncached' = 'get'): Bytes | undefined {
    return readBody(this.#keys, this.shards, shard, ref, (key) => this.#store[read](key));
  }

  local(id: Bytes): LocalRecord | undefined {
    const bytes = this.#store.get(this.#keys.local(id));
    return bytes === undefined ? undefined : decodeLocal(bytes);
  }

  docs(table: DocTable, query: DocsQuery): DocEntry[] {
    const prefix = this.#keys.prefixOf(table);
    return this.#store.list(rangeBehind(prefix, query), query.bytesMax ?? Infinity);
  }

  countDocs(table: DocTable, { start, end }: KeyRange): number {
    const prefix = this.#keys.prefixOf(table);
    return this.#store.count({ start: asBytes(prefix + start), end: asBytes(prefix + end) });
  }

  async ranked(): Promise<void> {
    do await this.#ranks.docs.ready();
    while (!this.isRanked);
  }

  get isRanked(): boolean {
    // What has changed may have to be counted first.
    return this.states.length > 0 && this.#ranks.docs.isReady;
  }

  docsBefore(key: Bytes): number {
    return this.#ranks.docs.before(asBytes(this.#keys.livePrefix + key));
  }

  changes(shard: number, { after, upTo, descending, limit }: ChangesQuery): NumberedEntry[] {
    const range = { start: this.#keys.change(shard, after + 1), end: this.#keys.change(shard, upTo + 1) };
    return this.#store.listNumbered({ ...range, reverse: descending, limit });
  }

  change(shard: number, seq: number): Bytes | undefined {
    return this.#store.get(this.#keys.change(shard, seq));
  }

  countChanges(shard: number, after: number): number {
    return this.#store.count(this.#changesBehind(shard, after));
  }

  changesRanked(): Promise<void> {
    return this.#ranks.changesReady();
  }

  rankedChanges(shard: number, after: number): number {
    return this.#ranks.changesIn(this.#changesBehind(shard, after));
  }

  #changesBehind(shard: number, after: number): KeyRange {
    const { seq } = this.states[shard]!;
    return { start: this.#keys.change(shard, after + 1), end: this.#keys.change(shard, seq + 1) };
  }

  purges(shard: number): PurgeRecord[] {
    const { purges_from, purge_seq } = this.states[shard]!;
    const range = {
      start: this.#keys.purge(shard, purges_from),
      end: this.#keys.purge(shard, purge_seq + 1),
    };
    return [...this.#store.entries(range)].map(({ value }) => decodePurge(value));
  }

  partition(name: Bytes): PartitionCounts {
    return decodePartition(this.#store.get(this.#keys.partition(name)));
  }

  hasBlob(blob: string): boolean {
    return this.#store.get(this.#keys.blob(fromHex(blob))) !== undefined;
  }

  shardHasBlob(shard: number, blob: string): boolean {
    const home = this.shards.blobHome(shard);
    return this.#store.get(this.#keys.blobRef(home, fromHex(blob))) !== undefined;
  }

  smallBlob(blob: string): Bytes | undefined {
    return smallBlob(this.#store.get(this.#keys.blob(fromHex(blob))));
  }

  splitNear(): Split | undefined {
    return decodeSplit(this.#store.get(this.#keys.split));
  }

  numbers(table: CopiedTable, shard: number, { first, last, limit }: NumbersQuery): number[] {
    const keyOf = (number: number): Bytes =>
      table === 'changes' ? this.#keys.change(shard, number) : this.#keys.purge(shard, number);
    const range = { start: keyOf(first), end: keyOf(last + 1), limit };
    return [...this.#store.keys(range)].map((key) => this.#keys.changeSeq(key));
  }
}
