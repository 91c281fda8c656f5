import { asBytes, type Bytes } from '../base/bytes.js';
import { leafCount, winner, type RevNode, type RevTree } from '../revisions/tree.js';
import { BlobRefs } from './blob-refs.js';
import { changeLength, encodeChange } from './change-record.js';
import {
  decodeDocRecord,
  encodeDocRecord,
  encodeRev,
  inlineBodyBytesMax,
  type DocRecord,
} from './doc-record.js';
import type { DatabaseKeys } from './keys.js';
import type { ShardState } from './shard-state.js';
import { SplitMirror } from './split-mirror.js';
import type { GroupView } from './write-view.js';

const designPrefix = '_design/';

/** A document as the commands see it, with the key and size of its record. */
export interface StoredDoc extends DocRecord {
  key: Bytes;
  recordBytes: number;
}

/**
 * Live and deleted documents stand in tables of their own, so that no listing ever walks over tombstones. Where the
 * counters say that a table is empty, it is not looked into: a fresh database is filled without a single miss.
 */
export function loadDoc(
  keys: DatabaseKeys,
  view: GroupView,
  state: ShardState,
  id: Bytes,
): StoredDoc | undefined {
  if (state.doc_count > 0) {
    const key = keys.live(id);
    const bytes = view.get(key);
    if (bytes !== undefined)
      return { ...decodeDocRecord(bytes), key, recordBytes: key.length + bytes.length };
  }
  if (state.tombstones > 0) {
    const key = keys.deleted(id);
    const bytes = view.get(key);
    if (bytes !== undefined)
      return { ...decodeDocRecord(bytes), key, recordBytes: key.length + bytes.length };
  }
  return undefined;
}

/** A body that comes with a change: not in the store yet. */
export interface NewBody {
  ref: number;
  body: Bytes;
  /** The bytes of small blobs that it brings. */
  smallBlobs?: ReadonlyMap<string, Bytes> | undefined;
}

/** Reads and writes a document's records and keeps the shard's counters in step with them. */
export class DocWriter {
  readonly blobs: BlobRefs;
  readonly #mirror: SplitMirror | undefined;

  constructor(
    private readonly keys: DatabaseKeys,
    private readonly view: GroupView,
    private readonly shard: number,
    private readonly state: ShardState,
  ) {
    this.blobs = new BlobRefs(keys, view, shard, state);
    this.#mirror = SplitMirror.of(keys, view, shard);
  }

  #bodyKey(ref: number): Bytes {
    return this.keys.body(this.view.shards(this.keys)?.bodyHome(this.shard, ref) ?? this.shard, ref);
  }

  /** Whether the revision's body stands in the document's record. */
  isInline(doc: StoredDoc, node: RevNode): boolean {
    return doc.body !== undefined && isWinner(doc, node);
  }

  /** The body of a revision the document has. */
  bodyOf(doc: StoredDoc, node: RevNode): Bytes {
    if (doc.body !== undefined && isWinner(doc, node)) return doc.body;
    return this.view.get(this.#bodyKey(node.body)) ?? asBytes('{}');
  }

  bodyLengthOf(doc: StoredDoc, node: RevNode): number {
    return isWinner(doc, node) ? doc.bodyLength : this.bodyOf(doc, node).length;
  }

  putBody(ref: number, body: Bytes): void {
    const key = this.#bodyKey(ref);
    this.view.put(key, body);
    this.state.stored_bytes += key.length + body.length;
  }

  /** Removes a revision's body, and its references to blobs. Returns the length of the body. */
  forget(doc: StoredDoc, node: RevNode): number {
    const body = this.bodyOf(doc, node);
    this.blobs.drop(body);
    if (!this.isInline(doc, node)) this.#removeBody(node.body, body.length);
    return body.length;
  }

  #removeBody(ref: number, length: number): void {
    const key = this.#bodyKey(ref);
    this.view.remove(key);
    this.state.stored_bytes -= key.length + length;
  }

  /** Gives the document a new tree under a new sequence; bodies that lose their place in the record move out of it. */
  replace(
    id: Bytes,
    old: StoredDoc | undefined,
    tree: RevTree,
    seq: number,
    added: readonly NewBody[],
    recount = true,
  ): void {
    if (id.startsWith(designPrefix)) this.view.design(this.keys);
    const best = tree.length === 1 ? tree[0]! : winner(tree);
    for (const { body, smallBlobs } of added) this.blobs.add(body, smallBlobs);
    const body = this.#placeBodies(old, tree, best, added);
    const counted = recount ? !best.deleted : (old?.countsAsLive ?? !best.deleted);
    const revBytes = encodeRev(best);
    const bytes = encodeDocRecord(id, {
      seq,
      revBytes,
      deleted: best.deleted,
      leafCount: leafCount(tree),
      countsAsLive: counted,
      bodyLength: body.length,
      body: body.text,
      bodyRef: best.body,
      tree,
    });
    const key = best.deleted ? this.keys.deleted(id) : this.keys.live(id);
    if (best.deleted) this.state.tombstones++;
    if (old !== undefined) this.#drop(id, old, old.key !== key);
    this.#count(counted, 1);
    this.view.put(key, bytes);
    const change = encodeChange(id, best.deleted, tree, revBytes);
    const changeKey = this.keys.change(this.shard, seq);
    this.view.put(changeKey, change);
    this.state.stored_bytes += key.length + bytes.length + changeKey.length + change.length;
    this.view.moved(this.keys, this.shard, seq, old?.seq ?? 0);
    this.#mirror?.changed(id, old, { seq, deleted: best.deleted, countsAsLive: counted, change });
    if (!best.deleted && (old === undefined || old.deleted)) this.#live(key, 1);
    if (best.deleted && old !== undefined && !old.deleted) this.#live(old.key, -1);
  }

  /** Takes the document away without a trace, bodies included. */
  erase(id: Bytes, old: StoredDoc): void {
    if (id.startsWith(designPrefix)) this.view.design(this.keys);
    this.#drop(id, old, true);
    this.view.moved(this.keys, this.shard, 0, old.seq);
    this.#mirror?.changed(id, old, undefined);
    if (!old.deleted) this.#live(old.key, -1);
  }

  /** Rewrites the record in place: the same winner, sequence and counters, another tree. */
  rewrite(id: Bytes, old: StoredDoc, tree: RevTree): void {
    const bytes = encodeDocRecord(id, {
      ...old,
      revBytes: encodeRev(old.rev),
      leafCount: old.conflicted ? 2 : 1,
      tree,
    });
    this.view.put(old.key, bytes);
    this.state.stored_bytes += old.key.length + bytes.length - old.recordBytes;
  }

  /**
   * Decides where the winner's body stands. A small one stands in the record; whatever stood there and is no longer
   * the winner's goes to the table of bodies, as does every body that did not win.
   */
  #placeBodies(
    old: StoredDoc | undefined,
    tree: RevTree,
    best: RevNode,
    added: readonly NewBody[],
  ): { text: Bytes | undefined; length: number } {
    const oldRef = old?.tree.length === 1 ? old.tree[0]!.body : old && winner(old.tree).body;
    if (old?.body !== undefined && oldRef !== best.body && tree.some((node) => node.body === oldRef)) {
      this.putBody(oldRef!, old.body);
    }
    let inline: NewBody | undefined;
    for (const each of added) {
      if (each.ref === best.body && each.body.length <= inlineBodyBytesMax) inline = each;
      else this.putBody(each.ref, each.body);
    }
    if (inline !== undefined) return { text: inline.body, length: inline.body.length };
    if (old !== undefined && oldRef === best.body) return { text: old.body, length: old.bodyLength };
    const stored = this.view.get(this.#bodyKey(best.body)) ?? asBytes('{}');
    if (stored.length > inlineBodyBytesMax) return { text: undefined, length: stored.length };
    this.#removeBody(best.body, stored.length);
    return { text: stored, length: stored.length };
  }

  #drop(id: Bytes, old: StoredDoc, removeRecord: boolean): void {
    if (removeRecord) this.view.remove(old.key);
    if (old.deleted) this.state.tombstones--;
    const changeKey = this.keys.change(this.shard, old.seq);
    this.view.remove(changeKey);
    this.state.stored_bytes -= old.recordBytes + changeKey.length + changeLength(id, old.tree, old.rev);
    this.#count(old.countsAsLive, -1);
  }

  #count(live: boolean, by: 1 | -1): void {
    if (live) this.state.doc_count += by;
    else this.state.doc_del_count += by;
  }

  #live(key: Bytes, by: 1 | -1): void {
    this.view.live(this.keys, { key, by });
  }
}

const isWinner = (doc: StoredDoc, node: RevNode): boolean =>
  node.pos === doc.rev.pos && node.hash === doc.rev.hash;
