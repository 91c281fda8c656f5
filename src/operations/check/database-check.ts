import { asBytes, fromBytes, readU16, readU48, varint, type Bytes } from '../../base/bytes.js';
import type { DatabaseRecord } from '../../node/catalogue.js';
import { leafCount, winner, type RevNode } from '../../revisions/tree.js';
import { decodeChange, encodeChange } from '../../shard/change-record.js';
import { attachmentsOf, splitContent, type Attachment } from '../../shard/content.js';
import { decodeDocRecord, encodeRev, type DocRecord } from '../../shard/doc-record.js';
import { fromHex } from '../../shard/blob-record.js';
import { DatabaseKeys, tables } from '../../shard/keys.js';
import { decodeLocal } from '../../shard/local-record.js';
import { decodePurge } from '../../shard/purge-record.js';
import { decodeShardMap, ShardMap } from '../../shard/shard-map.js';
import { placedBy } from '../../shard/split.js';
import { decodeState, encodeState, type ShardState } from '../../shard/shard-state.js';
import { prefixEnd, type Store, type Write } from '../../storage/store.js';
import type { Findings } from './finding.js';
import { noFigures, shareBytes, type ShardFigures } from './shard-figures.js';

interface BlobCount {
  shard: number;
  revisions: number;
  attachment: Attachment;
}

const prefixBytes = 6;
/** Bodies are told apart by one number; references stay below this. */
const refsMax = 2 ** 40;

/**
 * Reads everything that is stored of one database and compares what should agree: documents with their trees, bodies
 * and changes, counters with what they count. Nothing is written; `writes` has what would put right what can be.
 */
export class DatabaseCheck {
  readonly writes: Write[] = [];
  documents = 0;
  /** By digest: the shards that name a blob. */
  readonly blobShards = new Map<string, number>();
  readonly #keys: DatabaseKeys;
  readonly #shards: ShardMap;
  readonly #figures: ShardFigures[];
  readonly #highest: number[];
  readonly #bodies = new Set<number>();
  readonly #blobs = new Map<Bytes, BlobCount>();

  constructor(
    private readonly name: string,
    private readonly record: DatabaseRecord,
    private readonly store: Pick<Store, 'get' | 'getUncached' | 'entries'>,
    private readonly findings: Findings,
    /** Whether something can't be read: then nothing can be said of what no document names. */
    public hasUnreadable: boolean,
  ) {
    this.#keys = new DatabaseKeys(record.instance);
    this.#shards = decodeShardMap(store.get(this.#keys.shardMap)) ?? new ShardMap(record.q);
    this.#figures = Array.from({ length: this.#shards.size }, noFigures);
    this.#highest = new Array<number>(this.#shards.size).fill(0);
  }

  run(): void {
    for (const deleted of [false, true]) this.#checkDocs(deleted);
    this.#checkChanges();
    this.#checkBodies();
    this.#checkOthers();
    this.#checkBlobCounts();
    this.#checkStates();
  }

  #about(id: Bytes): string {
    return `${this.name}/${fromBytes(id)}`;
  }

  #shardOf(id: Bytes): number {
    const isPartitioned = this.record.placement === 'partition' && !id.startsWith('_local/');
    return this.#shards.shardOf(placedBy(id, isPartitioned));
  }

  /** Whether it has changes and purges of its own: what others have is of a split under way, or left over from one. */
  readonly #isThere = (shard: number): boolean => shard < this.#shards.size && !this.#shards.isGone(shard);

  #entries(table: number): Iterable<{ key: Bytes; value: Bytes }> {
    const start = asBytes(this.#keys.prefix + String.fromCharCode(table));
    return this.store.entries({ start, end: prefixEnd(start) });
  }

  #checkDocs(deleted: boolean): void {
    for (const { key, value } of this.#entries(deleted ? tables.deleted : tables.live)) {
      this.documents++;
      const keyId = key.slice(prefixBytes);
      try {
        this.#checkDoc(keyId, key, value, deleted);
      } catch (error) {
        this.hasUnreadable = true;
        this.findings.add(this.#about(keyId), `The document can't be read: ${(error as Error).message}.`);
      }
    }
  }

  #checkDoc(keyId: Bytes, key: Bytes, value: Bytes, deleted: boolean): void {
    const doc = decodeDocRecord(value);
    const id = doc.longId ?? keyId;
    const best = winner(doc.tree);
    if (
      best.pos !== doc.rev.pos ||
      best.hash !== doc.rev.hash ||
      doc.deleted !== deleted ||
      best.deleted !== deleted
    )
      throw new Error('its winning revision is not the one of its tree');
    if (doc.conflicted !== leafCount(doc.tree) > 1)
      throw new Error('its conflicts are not those of its tree');
    const shard = this.#shardOf(id);
    const figures = this.#figures[shard]!;
    figures[doc.countsAsLive ? 'doc_count' : 'doc_del_count']++;
    if (deleted) figures.tombstones++;
    figures.stored_bytes += key.length + value.length;
    this.#highest[shard] = Math.max(this.#highest[shard]!, doc.seq);
    for (const node of doc.tree) if (node.body !== 0) this.#checkBody(id, shard, doc, node);
    this.#checkChangeOf(id, shard, doc);
  }

  #checkBody(id: Bytes, shard: number, doc: DocRecord, node: RevNode): void {
    const isInline = doc.body !== undefined && node.pos === doc.rev.pos && node.hash === doc.rev.hash;
    const home = this.#shards.bodyHome(shard, node.body);
    const key = this.#keys.body(home, node.body);
    const content = isInline ? doc.body : this.store.getUncached(key);
    const rev = `${node.pos}-${node.hash}`;
    if (content === undefined) {
      this.hasUnreadable = true;
      return this.findings.add(this.#about(id), `The body of the revision ${rev} is missing or damaged.`);
    }
    const figures = this.#figures[shard]!;
    if (!isInline) this.#bodies.add(home * refsMax + node.body);
    if (node.leaf) figures.external_bytes += content.length;
    else figures.obsolete_bytes += key.length + content.length;
    try {
      JSON.parse(fromBytes(splitContent(content).body));
    } catch {
      return this.findings.add(this.#about(id), `The body of the revision ${rev} is damaged: it is no JSON.`);
    }
    for (const each of attachmentsOf(content)) this.#countBlob(this.#shards.blobHome(shard), each);
  }

  #countBlob(home: number, attachment: Attachment): void {
    const key = this.#keys.blobRef(home, fromHex(attachment.blob));
    const known = this.#blobs.get(key);
    if (known !== undefined) known.revisions++;
    else this.#blobs.set(key, { shard: home, revisions: 1, attachment });
  }

  #checkChangeOf(id: Bytes, shard: number, doc: DocRecord): void {
    const key = this.#keys.change(shard, doc.seq);
    const expected = encodeChange(id, doc.deleted, doc.tree, encodeRev(doc.rev));
    if (this.store.getUncached(key) === expected) return;
    this.#repair(this.#about(id), 'Its entry in the changes feed is missing or wrong.', {
      key,
      value: expected,
    });
  }

  /** Every change has a document with its sequence: those that have been compared with their documents are right. */
  #checkChanges(): void {
    for (const { key, value } of this.#entries(tables.changes)) {
      const shard = readU16(key, prefixBytes);
      if (!this.#isThere(shard)) continue;
      this.#figures[shard]!.stored_bytes += key.length + value.length;
      const seq = readU48(key, prefixBytes + 2);
      if (this.hasUnreadable || this.#isChangeOfDoc(value, seq)) continue;
      const what = `${this.name}, shard ${shard}, sequence ${seq}`;
      this.#repair(what, 'An entry of the changes feed belongs to no document.', { key, value: undefined });
    }
    for (const { key, value } of this.writes) {
      if (readTable(key) !== tables.changes) continue;
      const figures = this.#figures[readU16(key, prefixBytes)];
      if (figures === undefined) continue;
      const old = this.store.getUncached(key);
      figures.stored_bytes += lengthOf(key, value) - lengthOf(key, old);
    }
  }

  #isChangeOfDoc(value: Bytes, seq: number): boolean {
    try {
      const { id } = decodeChange(value);
      const record =
        this.store.getUncached(this.#keys.live(id)) ?? this.store.getUncached(this.#keys.deleted(id));
      return record !== undefined && decodeDocRecord(record).seq === seq;
    } catch {
      return false;
    }
  }

  #checkBodies(): void {
    for (const { key, value } of this.#entries(tables.bodies)) {
      const shard = readU16(key, prefixBytes);
      const ref = readU48(key, prefixBytes + 2);
      if (this.#bodies.has(shard * refsMax + ref) || this.hasUnreadable) {
        if (shard < this.#shards.size) this.#figures[shard]!.stored_bytes += key.length + value.length;
        continue;
      }
      const what = `${this.name}, shard ${shard}, body ${ref}`;
      this.#repair(what, 'A body belongs to no revision.', { key, value: undefined });
    }
  }

  /** Local documents, purges and partitions stand for themselves. */
  #checkOthers(): void {
    for (const { key, value } of this.#entries(tables.local)) {
      const keyId = key.slice(prefixBytes);
      try {
        const { longId, body } = decodeLocal(value);
        JSON.parse(fromBytes(body));
        this.#figures[this.#shardOf(longId ?? keyId)]!.stored_bytes += key.length + value.length;
      } catch (error) {
        this.findings.add(
          this.#about(keyId),
          `The local document can't be read: ${(error as Error).message}.`,
        );
      }
    }
    for (const { key, value } of this.#entries(tables.purges)) {
      const shard = readU16(key, prefixBytes);
      if (!this.#isThere(shard)) continue;
      this.#figures[shard]!.stored_bytes += key.length + value.length;
      try {
        decodePurge(value);
      } catch (error) {
        this.findings.add(`${this.name}, a purge`, `It can't be read: ${(error as Error).message}.`);
      }
    }
    for (const { key, value } of this.#entries(tables.partitions)) {
      const shard = this.#shards.shardOf(key.slice(prefixBytes));
      this.#figures[shard]!.stored_bytes += key.length + value.length;
    }
  }

  #checkBlobCounts(): void {
    for (const [key, { shard, revisions, attachment }] of this.#blobs) {
      const value = varint(revisions);
      const figures = this.#figures[shard]!;
      figures.stored_bytes += key.length + value.length + attachment.storedLength;
      figures.attachment_bytes += attachment.storedLength;
      figures.external_bytes += attachment.length;
      this.blobShards.set(attachment.blob, (this.blobShards.get(attachment.blob) ?? 0) + 1);
      if (!this.hasUnreadable && this.store.getUncached(key) !== value)
        this.#repair(`${this.name}, attachment ${attachment.blob}`, 'Its references are counted wrong.', {
          key,
          value,
        });
    }
    if (this.hasUnreadable) return;
    for (const { key } of this.#entries(tables.blobRefs)) {
      if (this.#blobs.has(key)) continue;
      this.#repair(this.name, 'References to an attachment are counted that no revision names.', {
        key,
        value: undefined,
      });
    }
  }

  /** Counters follow from what was read, unless part of it can't be. */
  #checkStates(): void {
    if (this.hasUnreadable) return;
    shareBytes(this.#figures, this.#shards, (shard) => this.store.getUncached(this.#keys.state(shard)));
    for (const shard of this.#shards.shards) {
      const figures = this.#figures[shard]!;
      const key = this.#keys.state(shard);
      let state: ShardState;
      try {
        state = decodeState(this.store.getUncached(key));
      } catch (error) {
        this.findings.add(
          `${this.name}, shard ${shard}`,
          `Its state can't be read: ${(error as Error).message}.`,
        );
        continue;
      }
      const right = { ...state, ...figures, seq: Math.max(state.seq, this.#highest[shard]!) };
      const wrong = (Object.keys(right) as (keyof ShardState)[]).filter(
        (field) => right[field] !== state[field],
      );
      if (wrong.length === 0) continue;
      const list = wrong
        .map((field) => `${field} is ${state[field]} and should be ${right[field]}`)
        .join(', ');
      this.#repair(`${this.name}, shard ${shard}`, `Counters are wrong: ${list}.`, {
        key,
        value: encodeState(right),
      });
    }
  }

  #repair(about: string, message: string, write: Write): void {
    this.findings.addRepairable(about, message);
    this.writes.push(write);
  }
}

const readTable = (key: Bytes): number => key.charCodeAt(prefixBytes - 1);

const lengthOf = (key: Bytes, value: Bytes | undefined): number =>
  value === undefined ? 0 : key.length + value.length;
