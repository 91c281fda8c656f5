import type { Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { prefixEnd, type Store } from '../storage/store.js';
import type { RevNode, RevTree } from '../revisions/tree.js';
import { fromHex, smallBlob } from './blob-record.js';
import { decodeDocRecord, decodeWinner, type DocRecord, type WinnerView } from './doc-record.js';
import type { GroupLog } from './group-log.js';
import { DatabaseKeys } from './keys.js';
import { LiveRank } from './live-rank.js';
import { decodeLocal, type LocalRecord } from './local-record.js';
import { decodeShardMap, ShardMap } from './shard-map.js';
import { decodeState, goneState, type ShardState } from './shard-state.js';
import type { Volume } from './volume.js';
import type { LiveDelta, Touched } from './write-view.js';

/** What is on disk of one database, for readers: its documents, and the counters of its shards. */
export class Collection {
  readonly keys: DatabaseKeys;
  /** What changes the documents. */
  readonly log: GroupLog;
  readonly rank: LiveRank;
  #changeRank: LiveRank | undefined;
  /** The shards as of the last commit. */
  #shards: ShardMap;
  /** Their counters, by number. */
  #states: ShardState[];
  /** Counts the commits in which design documents changed. */
  designChanges = 0;

  constructor(
    readonly volume: Volume,
    instance: number,
    /** The shards that the database began with. */
    q: number,
  ) {
    this.keys = new DatabaseKeys(instance);
    this.log = volume.log(instance);
    this.#shards = decodeShardMap(this.store.get(this.keys.shardMap)) ?? new ShardMap(q);
    this.#states = this.#readStates();
    const { livePrefix } = this.keys;
    this.rank = new LiveRank(volume, livePrefix, prefixEnd(livePrefix));
  }

  get store(): Store {
    return this.volume.store;
  }

  get shards(): ShardMap {
    return this.#shards;
  }

  /** The counters of the shards as of the last commit, by number. */
  get states(): readonly ShardState[] {
    return this.#states;
  }

  #readStates(): ShardState[] {
    return Array.from({ length: this.#shards.size }, (_, shard) =>
      this.#shards.isGone(shard) ? goneState() : decodeState(this.store.get(this.keys.state(shard))),
    );
  }

  /** Takes over what a commit changed. Tells whether documents are among it. */
  publish(touched: Touched): boolean {
    let changed = false;
    if (touched.isSplit) {
      this.#shards = touched.shards!;
      this.#states = this.#shards
        .inherit(this.#states)
        .map((state, shard) => (this.#shards.isGone(shard) ? goneState() : state));
    }
    for (const [shard, state] of touched.states) {
      // The targets of a split under way are nobody's business yet.
      if (shard >= this.#states.length || this.#shards.isGone(shard)) continue;
      if (state.seq !== this.#states[shard]!.seq) changed = true;
      this.#states[shard] = state;
    }
    if (touched.designs) this.designChanges++;
    this.rank.apply(touched.live);
    if (this.#changeRank !== undefined) this.#changeRank.apply(this.#changeDeltas(touched.moves));
    return changed;
  }

  /** How many changes stand before a key of their table. Kept only once somebody has asked. */
  get changeRank(): LiveRank {
    const { start, end } = this.keys.changesRange;
    return (this.#changeRank ??= new LiveRank(this.volume, start, end));
  }

  #changeDeltas(moves: readonly number[]): LiveDelta[] {
    const deltas: LiveDelta[] = [];
    for (let i = 0; i < moves.length; i += 3) {
      const shard = moves[i]!;
      if (moves[i + 1]! > 0) deltas.push({ key: this.keys.change(shard, moves[i + 1]!), by: 1 });
      if (moves[i + 2]! > 0) deltas.push({ key: this.keys.change(shard, moves[i + 2]!), by: -1 });
    }
    return deltas;
  }

  /** The winning revision of a document, live or deleted. */
  winner(id: Bytes): WinnerView | undefined {
    const bytes = this.store.get(this.keys.live(id)) ?? this.store.get(this.keys.deleted(id));
    return bytes === undefined ? undefined : decodeWinner(bytes);
  }

  doc(id: Bytes): DocRecord | undefined {
    const bytes = this.store.get(this.keys.live(id)) ?? this.store.get(this.keys.deleted(id));
    return bytes === undefined ? undefined : decodeDocRecord(bytes);
  }

  /** The same for those who read one document after the other, as replications do: what they read is not remembered. */
  docUncached(id: Bytes): DocRecord | undefined {
    const bytes = this.store.getUncached(this.keys.live(id)) ?? this.store.getUncached(this.keys.deleted(id));
    return bytes === undefined ? undefined : decodeDocRecord(bytes);
  }

  /**
   * The revisions of a document, for those who compare them. Where the counters know of no deleted document, none is looked
   * for; one that is just becoming the first seems to be absent until they tell of it.
   */
  treeOnce(id: Bytes): RevTree | undefined {
    const live = this.store.getUncached(this.keys.live(id));
    if (live !== undefined) return decodeDocRecord(live).tree;
    const deleted = this.#hasTombstones ? this.store.getUncached(this.keys.deleted(id)) : undefined;
    return deleted === undefined ? undefined : decodeDocRecord(deleted).tree;
  }

  get #hasTombstones(): boolean {
    for (const { tombstones } of this.states) if (tombstones > 0) return true;
    return false;
  }

  /** The winner's body, wherever it stands. */
  winnerBody(shard: number, winner: Pick<WinnerView, 'body' | 'bodyRef' | 'bodyLength'>): Bytes {
    const { bodyRef, bodyLength } = winner;
    const body = winner.body ?? this.store.get(this.bodyKey(shard, bodyRef));
    if (body === undefined) throw new CorruptRecord(`the body ${bodyRef} of the shard ${shard} is missing`);
    if (body.length !== bodyLength)
      throw new CorruptRecord('a body does not have the length that it should have');
    return body;
  }

  /** The body of a revision, or undefined where it is no longer kept. */
  body(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    if (isInRecord(doc, node)) return doc.body;
    return node.body === 0 ? undefined : this.store.get(this.bodyKey(shard, node.body));
  }

  bodyOnce(shard: number, doc: DocRecord, node: RevNode): Bytes | undefined {
    if (isInRecord(doc, node)) return doc.body;
    return node.body === 0 ? undefined : this.store.getUncached(this.bodyKey(shard, node.body));
  }

  bodyKey(shard: number, ref: number): Bytes {
    return this.keys.body(this.#shards.bodyHome(shard, ref), ref);
  }

  /** Whether a kept revision names the blob. */
  hasBlob(blob: string): boolean {
    return this.store.get(this.keys.blob(fromHex(blob))) !== undefined;
  }

  /** The bytes of a small blob; empty text for one that is kept as a file; undefined where no kept revision names it. */
  smallBlob(blob: string): Bytes | undefined {
    return smallBlob(this.store.get(this.keys.blob(fromHex(blob))));
  }

  local(id: Bytes): LocalRecord | undefined {
    const bytes = this.store.get(this.keys.local(id));
    return bytes === undefined ? undefined : decodeLocal(bytes);
  }
}

const isInRecord = ({ body, rev }: DocRecord, { pos, hash }: RevNode): boolean =>
  body !== undefined && pos === rev.pos && hash === rev.hash;
