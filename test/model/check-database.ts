import assert from 'node:assert/strict';
import {
  asBytes,
  ByteReader,
  lengthPrefixed,
  noBytes,
  readU16,
  readU48,
  u16,
  type Bytes,
} from '../../src/base/bytes.js';
import { decodeShardMap, ShardMap } from '../../src/shard/shard-map.js';
import { leaves, type RevNode } from '../../src/revisions/tree.js';
import { decodeChange } from '../../src/shard/change-record.js';
import { attachmentsOf } from '../../src/shard/content.js';
import { decodeDocRecord, inlineBodyBytesMax, type DocRecord } from '../../src/shard/doc-record.js';
import { DatabaseKeys, tables } from '../../src/shard/keys.js';
import { decodeLocal } from '../../src/shard/local-record.js';
import { decodePurge } from '../../src/shard/purge-record.js';
import { needsUpgrade } from '../../src/shard/upgrade-volume.js';
import { decodeState, goneState, type ShardState } from '../../src/shard/shard-state.js';
import { groupsOf, type DatabaseRecord } from '../../src/node/catalogue.js';
import type { Store } from '../../src/storage/store.js';

/** What a full scan of a database, or of one of its groups, finds. */
export interface Scan {
  docs: Map<Bytes, DocRecord>;
  /** By shard. */
  states: ShardState[];
}

/** Counters that a scan can reckon anew. */
type Reckoned = Pick<
  ShardState,
  'doc_count' | 'doc_del_count' | 'tombstones' | 'stored_bytes' | 'obsolete_bytes' | 'external_bytes'
>;

const bodyKeyBytes = 14;
const tableAt = 5;

/**
 * Reads every key of a database and checks that the tables and the counters of each group agree with each other, and that
 * no group has anything of another's shards.
 */
export function checkDatabase(
  storeOf: (slot: number) => Store,
  record: Pick<DatabaseRecord, 'instance' | 'slot' | 'q' | 'groups'>,
): Scan {
  const docs = new Map<Bytes, DocRecord>();
  const states: ShardState[] = [];
  for (const { group, slot, shards } of groupsOf(record)) {
    const scan = checkGroup(storeOf(slot), group, record.q, shards);
    for (const [id, doc] of scan.docs) docs.set(id, doc);
    for (const [shard, state] of scan.states.entries())
      if (state.position > 0 || states[shard] === undefined) states[shard] = state;
  }
  return { docs, states };
}

function checkGroup(store: Store, group: number, q: number, first?: readonly number[]): Scan {
  const keys = new DatabaseKeys(group);
  const shards = decodeShardMap(store.get(keys.shardMap)) ?? new ShardMap(q);
  const isOwn = (shard: number): boolean => first?.includes(shards.blobHome(shard)) ?? true;
  assert.equal(store.get(keys.split), undefined, 'a split is under way');
  const states = Array.from({ length: shards.size }, (_, shard) => {
    const bytes = store.get(keys.state(shard));
    if (shards.isGone(shard)) assert.equal(bytes, undefined, `the shard ${shard} is gone and has counters`);
    if (!isOwn(shard))
      assert.equal(bytes, undefined, `the group ${group} has counters of the shard ${shard}`);
    return shards.isGone(shard) ? goneState() : decodeState(bytes);
  });
  const reckoned = states.map((): Reckoned => ({
    doc_count: 0,
    doc_del_count: 0,
    tombstones: 0,
    stored_bytes: 0,
    obsolete_bytes: 0,
    external_bytes: 0,
  }));
  const docs = new Map<Bytes, DocRecord>();
  const bodies = new Map<Bytes, Bytes>();
  const blobRefs = new Map<Bytes, number>();
  /** The shards that name a blob, by its digest. */
  const groupBlobs = new Map<Bytes, number>();
  const changes = new Map<Bytes, Bytes>();
  const purges = new Set<Bytes>();
  const fragments = new Map<Bytes, Bytes>();

  for (const { key, value } of store.entries(keys.range)) {
    const rest = key.slice(tableAt + 1);
    let shard = readU16(key, tableAt + 1);
    switch (key.charCodeAt(tableAt)) {
      case tables.live:
      case tables.deleted: {
        const doc = decodeDocRecord(value);
        const id = doc.longId ?? rest;
        assert.ok(!docs.has(id), `${id} stands in both tables`);
        assert.equal(key, doc.deleted ? keys.deleted(id) : keys.live(id));
        docs.set(id, doc);
        shard = shards.shardOf(id);
        break;
      }
      case tables.local:
        shard = shards.shardOf(decodeLocal(value).longId ?? rest);
        break;
      case tables.changes:
        changes.set(key, value);
        break;
      case tables.bodies:
        bodies.set(key, value);
        break;
      case tables.purges:
        decodePurge(value);
        purges.add(key);
        break;
      case tables.blobRefs:
        blobRefs.set(key, new ByteReader(value).varint());
        break;
      case tables.blobs:
        groupBlobs.set(rest, new ByteReader(value).varint());
        continue;
      case tables.fragments:
        fragments.set(rest, value);
        continue;
      case tables.state:
      case tables.commands:
        continue;
      default:
        assert.fail(`a key of no known table: ${Buffer.from(key, 'latin1').toString('hex')}`);
    }
    assert.ok(isOwn(shard), `the group ${group} has keys of the shard ${shard}`);
    reckoned[shard]!.stored_bytes += key.length + value.length;
  }

  const named = new Map<Bytes, number>();
  for (const [id, doc] of docs) {
    const shard = shards.shardOf(id);
    const bodyKey = (ref: number): Bytes => keys.body(shards.bodyHome(shard, ref), ref);
    checkChange(id, doc, changes, keys.change(shard, doc.seq));
    assert.ok(doc.seq <= states[shard]!.seq, `${id} is ahead of its shard's sequence`);
    count(doc, reckoned[shard]!);
    for (const content of checkBodies(id, doc, bodies, bodyKey, reckoned[shard]!)) {
      for (const { blob, length, storedLength } of attachmentsOf(content)) {
        const key = keys.blobRef(shards.blobHome(shard), Buffer.from(blob, 'hex').latin1Slice(0, 32));
        named.set(key, (named.get(key) ?? 0) + 1);
        if (named.get(key)! > 1) continue;
        reckoned[shard]!.stored_bytes += storedLength;
        reckoned[shard]!.external_bytes += length;
      }
    }
  }
  assert.deepEqual(
    blobRefs,
    new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
    'who needs which blob',
  );
  if (isUpgraded(store))
    assert.deepEqual(groupBlobs, shardsByBlob(blobRefs.keys()), 'shards that need a blob');
  assert.equal(
    bodies.size,
    0,
    `bodies without a revision: ${[...bodies.keys()].map((key) => readU48(key, 8)).join()}`,
  );
  assert.equal(changes.size, 0, 'change records without a document');
  checkPurges(states, purges, keys, shards);
  checkFragments(fragments);
  for (const [shard, expected] of reckoned.entries()) {
    const { doc_count, doc_del_count, tombstones } = states[shard]!;
    const found = { doc_count, doc_del_count, tombstones };
    const { doc_count: live, doc_del_count: deleted, tombstones: records } = expected;
    const counted = { doc_count: live, doc_del_count: deleted, tombstones: records };
    assert.deepEqual(found, counted, `the counters of shard ${shard} and what a scan finds`);
  }
  // Shards that come from the same one share its bytes.
  assert.deepEqual(bytesOf(states, shards), bytesOf(reckoned, shards), 'the bytes and what a scan finds');
  return { docs, states };
}

/** Volumes of earlier versions have no counts of groups. */
const isUpgraded = (store: Store): boolean =>
  !needsUpgrade(store) || store.count({ start: asBytes('\0\0\0\0\0b'), end: asBytes('\0\0\0\0\0c') }) === 0;

function shardsByBlob(refs: Iterable<Bytes>): Map<Bytes, number> {
  const shards = new Map<Bytes, number>();
  for (const key of refs) {
    const digest = key.slice(tableAt + 3);
    shards.set(digest, (shards.get(digest) ?? 0) + 1);
  }
  return new Map([...shards].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Sizes = Pick<ShardState, 'stored_bytes' | 'obsolete_bytes' | 'external_bytes'>;

/** The bytes of the shards that the database began with, and of all that came of them. */
function bytesOf(states: readonly Sizes[], shards: ShardMap): Sizes[] {
  const sums = Array.from({ length: shards.q }, () => ({
    stored_bytes: 0,
    obsolete_bytes: 0,
    external_bytes: 0,
  }));
  for (const [shard, state] of states.entries()) {
    const sum = sums[shards.blobHome(shard)];
    // A number of another group has nothing here.
    if (sum === undefined) continue;
    for (const name of Object.keys(sum) as (keyof Sizes)[]) sum[name] += state[name];
  }
  return sums;
}

function checkChange(id: Bytes, doc: DocRecord, changes: Map<Bytes, Bytes>, key: Bytes): void {
  const bytes = changes.get(key);
  assert.ok(bytes !== undefined, `${id} has no change record under its sequence ${doc.seq}`);
  changes.delete(key);
  const change = decodeChange(bytes);
  const expected = leaves(doc.tree).map(({ pos, hash }) => ({ pos, hash }));
  assert.deepEqual(change, { id, deleted: doc.deleted, leaves: expected });
  assert.deepEqual(doc.rev, expected[0], `${id}: the winner`);
  assert.equal(doc.conflicted, expected.length > 1, `${id}: conflicted`);
}

function count(doc: DocRecord, reckoned: Reckoned): void {
  if (doc.countsAsLive) reckoned.doc_count++;
  else reckoned.doc_del_count++;
  if (doc.deleted) reckoned.tombstones++;
}

/** Every leaf has a body, inner revisions may; each stands in exactly one place. Takes those it finds off the list. */
function checkBodies(
  id: Bytes,
  doc: DocRecord,
  bodies: Map<Bytes, Bytes>,
  keyOf: (ref: number) => Bytes,
  reckoned: Reckoned,
): Bytes[] {
  const found: Bytes[] = [];
  for (const node of doc.tree) {
    if (node.body === 0) {
      assert.ok(!node.leaf, `${id} ${node.pos}-${node.hash}: a leaf without a body`);
      continue;
    }
    const body = bodyOf(id, doc, node, bodies, keyOf(node.body));
    found.push(body);
    if (node.leaf) reckoned.external_bytes += body.length;
    else reckoned.obsolete_bytes += bodyKeyBytes + body.length;
  }
  return found;
}

function bodyOf(id: Bytes, doc: DocRecord, node: RevNode, bodies: Map<Bytes, Bytes>, key: Bytes): Bytes {
  const what = `${id} ${node.pos}-${node.hash}`;
  const beside = bodies.get(key);
  bodies.delete(key);
  const isWinner = node.pos === doc.rev.pos && node.hash === doc.rev.hash;
  if (isWinner && doc.body !== undefined) {
    assert.equal(beside, undefined, `${what}: the body stands in the record and beside it`);
    assert.equal(doc.body.length, doc.bodyLength, what);
    assert.ok(doc.bodyLength <= inlineBodyBytesMax, what);
    return doc.body;
  }
  assert.ok(beside !== undefined, `${what}: the body is missing`);
  if (isWinner) {
    assert.equal(doc.bodyRef, node.body, what);
    assert.equal(doc.bodyLength, beside.length, what);
    assert.ok(
      beside.length > inlineBodyBytesMax,
      `${what}: a small body of a winner stands beside the record`,
    );
  }
  return beside;
}

/**
 * Fragments of a command stay when their writer is killed half-way, until newer ones push them out. So the list names each
 * of them: one it does not name would stay for ever.
 */
function checkFragments(fragments: Map<Bytes, Bytes>): void {
  const list = new ByteReader(fragments.get(noBytes) ?? noBytes);
  fragments.delete(noBytes);
  while (!list.done) {
    const upload = list.take(list.varint());
    const count = list.varint();
    let bytes = list.varint();
    for (let at = 0; at < count; at++) {
      const key = asBytes(lengthPrefixed(upload) + u16(at));
      bytes -= fragments.get(key)?.length ?? 0;
      fragments.delete(key);
    }
    assert.equal(bytes, 0, 'the bytes of fragments and what a scan finds');
  }
  assert.equal(fragments.size, 0, 'fragments that no list names');
}

function checkPurges(
  states: readonly ShardState[],
  purges: Set<Bytes>,
  keys: DatabaseKeys,
  shards: ShardMap,
): void {
  for (const [shard, { purges_from, purge_seq }] of states.entries()) {
    for (let seq = purges_from; seq <= purge_seq; seq++) {
      // Those from before a split are with one of the targets.
      const found = purges.delete(keys.purge(shard, seq));
      assert.ok(found || shards.splits.length > 0, `purge ${seq} of shard ${shard} is not remembered`);
    }
  }
  assert.equal(purges.size, 0, 'purges that should be forgotten');
}
