import { asBytes, type Bytes } from '../base/bytes.js';
import { decodeChange, isDeletedChange, plainChangeId, plainChangePos } from '../shard/change-record.js';
import { splitContent } from '../shard/content.js';
import { decodeDocRecord, decodeWinner, type DocRecord } from '../shard/doc-record.js';
import { conflictsMember, deletedConflictsMember, docText } from '../shard/doc-text.js';
import { readBody } from '../shard/read-body.js';
import { DatabaseKeys } from '../shard/keys.js';
import { decodePurge } from '../shard/purge-record.js';
import { decodeShardMap, ShardMap } from '../shard/shard-map.js';
import { decodeState, goneState, type ShardState } from '../shard/shard-state.js';
import type { Store } from '../storage/store.js';

/** A document that changed: its text as it is asked for, or undefined where it is to have no rows. */
export interface SourceDoc {
  id: Bytes;
  text: Bytes | undefined;
}

export interface SourceOptions {
  localSeq: boolean;
  includeDesign: boolean;
  /** Whether texts are to have no more than the members that clients have given; else they are those that functions get. */
  bodiesOnly: boolean;
}

/** Changes of one shard, up to `seq`. */
export interface SourceBatch {
  docs: SourceDoc[];
  /** All changes up to here are in this batch or before it. */
  seq: number;
}

/** Most documents, and about the most bytes, that are read at a time. */
export const batchDocsMax = 500;
const batchBytesMax = 2 * 1024 * 1024;

/** A shard was split while documents were read: what was read is to be read again. */
export class ShardsChanged extends Error {
  constructor() {
    super('a shard was split meanwhile');
  }
}

/** Reads what an index needs of a database's documents: what changed and what was purged since it last looked. */
export class DocSource {
  readonly #keys: DatabaseKeys;
  #map: Bytes | undefined;
  #shards: ShardMap;

  constructor(
    private readonly store: Store,
    instance: number,
    private readonly q: number,
    private readonly options: SourceOptions,
  ) {
    this.#keys = new DatabaseKeys(instance);
    this.#shards = new ShardMap(q);
  }

  /** The shards there are, as of the last look at their counters. */
  get shards(): ShardMap {
    return this.#shards;
  }

  /** The shards' counters, as they are on disk at this moment. */
  states(): ShardState[] {
    this.store.refresh();
    this.#map = this.store.get(this.#keys.shardMap);
    this.#shards = decodeShardMap(this.#map) ?? new ShardMap(this.q);
    return Array.from({ length: this.#shards.size }, (_, shard) =>
      this.#shards.isGone(shard) ? goneState() : decodeState(this.store.get(this.#keys.state(shard))),
    );
  }

  /** To be called after something was read: changes of a shard that has been split meanwhile may be gone. */
  #checkShards(): void {
    if (this.store.get(this.#keys.shardMap) !== this.#map) throw new ShardsChanged();
  }

  /** The next changes after a sequence, none beyond `until`. */
  changes(shard: number, after: number, until: number): SourceBatch {
    const docs: SourceDoc[] = [];
    let bytes = 0;
    let seq = after;
    const range = { start: this.#keys.change(shard, after + 1), end: this.#keys.change(shard, until + 1) };
    for (const { key, value } of this.store.list({ ...range, limit: batchDocsMax }, batchBytesMax)) {
      const id = changedId(value);
      const text = isDeletedChange(value) ? undefined : this.#text(id, shard);
      docs.push({ id, text });
      bytes += text?.length ?? 0;
      seq = this.#keys.changeSeq(key);
      if (bytes >= batchBytesMax) break;
    }
    this.#checkShards();
    // A list may end before its range does, but is never empty then.
    return { docs, seq: docs.length === 0 ? until : seq };
  }

  /** Documents that were purged; those that are still there in part show up as changes too. */
  purged(shard: number, after: number, until: number): SourceDoc[] {
    if (after >= until) return [];
    const range = { start: this.#keys.purge(shard, after + 1), end: this.#keys.purge(shard, until + 1) };
    const docs = [...this.store.entries(range)].map(({ value }) => {
      const { id } = decodePurge(value);
      return { id, text: this.#text(id, shard) };
    });
    this.#checkShards();
    return docs;
  }

  #body(shard: number, ref: number): Bytes | undefined {
    return readBody(this.#keys, this.#shards, shard, ref, (key) => this.store.get(key));
  }

  #text(id: Bytes, shard: number): Bytes | undefined {
    if (!this.options.includeDesign && id.startsWith('_design/')) return undefined;
    const bytes = this.store.get(this.#keys.live(id));
    if (bytes === undefined) return undefined;
    const doc = decodeWinner(bytes);
    const body = doc.body ?? this.#body(shard, doc.bodyRef) ?? asBytes('{}');
    if (this.options.bodiesOnly) return splitContent(body).body;
    const local = this.options.localSeq ? `,"_local_seq":${doc.seq}` : '';
    return docText(
      id,
      doc,
      body,
      asBytes(local + (doc.conflicted ? otherLeaves(decodeDocRecord(bytes)) : '')),
    );
  }
}

/** The document that a change tells of. */
const changedId = (change: Bytes): Bytes =>
  plainChangePos(change) === undefined ? decodeChange(change).id : change.slice(plainChangeId);

/** Functions see the leaves that lost, live and deleted. */
const otherLeaves = (doc: DocRecord): string => conflictsMember(doc) + deletedConflictsMember(doc);
