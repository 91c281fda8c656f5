import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  readU48,
  toBytes,
  u48,
  u8,
  varint,
  type Bytes,
} from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { decodeTree, encodeTree } from '../revisions/codec.js';
import { type Rev } from '../revisions/rev.js';
import { singleNode, type RevNode, type RevTree } from '../revisions/tree.js';
import { isHashedKey } from './keys.js';
import { recallTree, rememberTree } from './recent-trees.js';

/**
 * The record of a document: what a plain read needs first (winning revision, small body), then the revision tree.
 *
 *   flags(1) seq(6) pos(varint) hash [id] bodyLength(varint) (body | bodyRef(6)) [tree]
 *
 * A body of up to `inlineBodyBytesMax` stands in the record, so that reading a document is one look-up. A document
 * that has one revision has no tree: it would only repeat the winner.
 */
export interface DocRecord {
  /** The sequence of the last change. */
  seq: number;
  rev: Rev;
  deleted: boolean;
  /** More than one leaf. */
  conflicted: boolean;
  /** How the counters have it: a purge that leaves only deleted revisions does not recount (as CouchDB does not). */
  countsAsLive: boolean;
  /** Set only where the key does not hold the whole id. */
  longId: Bytes | undefined;
  bodyLength: number;
  /** The winner's body, unless it is too large and stands in the table of bodies. */
  body: Bytes | undefined;
  /** Where it stands there; 0 when it is in the record. */
  bodyRef: number;
  tree: RevTree;
}

export const inlineBodyBytesMax = 1_024;

const flag = { deleted: 1, inline: 2, conflicted: 4, countsAsLive: 8, longId: 16, tree: 32 } as const;

/** What a read of the winner needs. */
export interface WinnerView {
  deleted: boolean;
  conflicted: boolean;
  seq: number;
  pos: number;
  hash: string;
  longId: Bytes | undefined;
  bodyLength: number;
  body: Bytes | undefined;
  bodyRef: number;
}

/** What a record is made of; the winner's revision comes encoded, as the change record has the same. */
export type DocRecordParts = Omit<DocRecord, 'longId' | 'conflicted' | 'rev'> & {
  revBytes: Bytes;
  leafCount: number;
};

export function encodeDocRecord(id: Bytes, record: DocRecordParts): Bytes {
  const { tree, body } = record;
  const longId = isHashedKey(id);
  const needsTree = tree.length > 1 || tree[0]!.body !== record.seq;
  const flags =
    (record.deleted ? flag.deleted : 0) |
    (body === undefined ? 0 : flag.inline) |
    (record.leafCount > 1 ? flag.conflicted : 0) |
    (record.countsAsLive ? flag.countsAsLive : 0) |
    (longId ? flag.longId : 0) |
    (needsTree ? flag.tree : 0);
  let bytes = u8(flags) + u48(record.seq) + record.revBytes;
  if (longId) bytes += lengthPrefixed(id);
  bytes += varint(record.bodyLength);
  bytes += body ?? u48(record.bodyRef);
  if (needsTree) {
    const encoded = encodeTree(tree);
    bytes += encoded.latin1Slice(0, encoded.length);
    rememberTree(asBytes(bytes), tree);
  }
  return asBytes(bytes);
}

/** The winner alone: all that most reads want, without the tree. */
export function decodeWinner(bytes: Bytes): WinnerView {
  return readPlain(bytes) ?? readWinner(new ByteReader(bytes));
}

/**
 * The form that nearly every record has (a small body, a usual id, numbers of one or two bytes), read by position: this
 * stands on the way of every document that is read or listed.
 */
function readPlain(bytes: Bytes): WinnerView | undefined {
  const flags = bytes.charCodeAt(0);
  const pos = bytes.charCodeAt(7);
  if ((flags & (flag.inline | flag.longId)) !== flag.inline || pos > 0x7f || bytes.charCodeAt(8) !== 0)
    return undefined;
  const low = bytes.charCodeAt(41);
  const high = low > 0x7f ? bytes.charCodeAt(42) : 0;
  if (high > 0x7f) return undefined;
  const bodyLength = low > 0x7f ? low - 0x80 + high * 0x80 : low;
  const start = low > 0x7f ? 43 : 42;
  if (start + bodyLength > bytes.length) throw new CorruptRecord('it ends too soon');
  return {
    deleted: (flags & flag.deleted) !== 0,
    conflicted: (flags & flag.conflicted) !== 0,
    seq: readU48(bytes, 1),
    pos,
    hash: bytes.slice(9, 41),
    longId: undefined,
    bodyLength,
    body: bytes.slice(start, start + bodyLength),
    bodyRef: 0,
  };
}

/** Whether the id stands in the record, since the key does not tell it. */
export const hasLongId = (record: Bytes): boolean => (record.charCodeAt(0) & flag.longId) !== 0;

/** So much of a record is enough for `plainRev`. */
export const plainHeadBytes = 41;

/** The winner's revision as JSON, read from the beginning of a record; undefined where it takes more to tell. */
export function plainRev(head: Bytes): Bytes | undefined {
  const pos = head.charCodeAt(7);
  if (pos > 0x7f || head.charCodeAt(8) !== 0 || head.charCodeAt(0) & flag.longId) return undefined;
  return asBytes(`"${pos}-${head.slice(9, 41)}"`);
}

export function decodeDocRecord(bytes: Bytes): DocRecord {
  const flags = bytes.charCodeAt(0);
  const reader = new ByteReader(bytes);
  const view = (flags & flag.tree ? undefined : readPlain(bytes)) ?? readWinner(reader);
  const rev = { pos: view.pos, hash: view.hash };
  const tree =
    flags & flag.tree ? readTree(bytes, reader) : singleNode(rev, { deleted: view.deleted, body: view.seq });
  return {
    seq: view.seq,
    rev,
    deleted: view.deleted,
    conflicted: view.conflicted,
    countsAsLive: (flags & flag.countsAsLive) !== 0,
    longId: view.longId,
    bodyLength: view.bodyLength,
    body: view.body,
    bodyRef: view.bodyRef,
    tree,
  };
}

function readWinner(reader: ByteReader): WinnerView {
  const flags = reader.u8();
  const seq = reader.u48();
  const pos = reader.varint();
  const hash = readHash(reader);
  const longId = flags & flag.longId ? reader.take(reader.varint()) : undefined;
  const bodyLength = reader.varint();
  const body = flags & flag.inline ? reader.take(bodyLength) : undefined;
  return {
    deleted: (flags & flag.deleted) !== 0,
    conflicted: (flags & flag.conflicted) !== 0,
    seq,
    pos,
    hash,
    longId,
    bodyLength,
    body,
    bodyRef: body === undefined ? reader.u48() : 0,
  };
}

function readTree(record: Bytes, reader: ByteReader): RevTree {
  const recalled = recallTree(record);
  if (recalled !== undefined) return recalled;
  const buffer = Buffer.from(reader.rest(), 'latin1');
  const tree = decodeTree(buffer, 0, buffer.length);
  rememberTree(record, tree);
  return tree;
}

const hexHash = /^[0-9a-f]{32}$/;

/**
 * A hash of 32 hexadecimal digits stands behind a zero, as text: it goes into answers as it is, and sixteen bytes more are
 * cheaper than turning it into text at every read. Any other stands as UTF-8 behind its length plus one.
 */
export function encodeRev({ pos, hash }: Rev): Bytes {
  if (hash.length === 32 && hexHash.test(hash)) return encodeRawRev({ pos, hash });
  const utf8 = toBytes(hash);
  return asBytes(varint(pos) + varint(utf8.length + 1) + utf8);
}

/** The same where the hash is known to be such digits. */
export const encodeRawRev = ({ pos, hash }: Rev): Bytes => asBytes(`${varint(pos)}\0${hash}`);

/** Both kinds take a number for the length, so the bytes of the hash tell it. */
export function encodedRevLength({ pos, hash }: Rev): number {
  const length = Buffer.byteLength(hash);
  return varint(pos).length + varint(length + 1).length + length;
}

export function readRev(reader: ByteReader): Rev {
  return { pos: reader.varint(), hash: readHash(reader) };
}

function readHash(reader: ByteReader): string {
  const length = reader.varint();
  return length > 0 ? fromBytes(reader.take(length - 1)) : reader.take(32);
}

/** Whether the body of a revision stands in the record of its document. */
export const isInRecord = ({ body, rev }: DocRecord, { pos, hash }: RevNode): boolean =>
  body !== undefined && pos === rev.pos && hash === rev.hash;
