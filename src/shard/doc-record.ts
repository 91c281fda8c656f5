import { ByteReader, lengthPrefixed, u48, u8, varint, type Bytes } from '../base/bytes.js';
import { decodeTree, encodeTree } from '../revisions/codec.js';
import { type Rev } from '../revisions/rev.js';
import { singleNode, type RevTree } from '../revisions/tree.js';
import { isHashedKey } from './keys.js';

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
  }
  return bytes;
}

/** The winner alone: all that most reads want, without the tree. */
export function decodeWinner(bytes: Bytes): WinnerView {
  return readWinner(new ByteReader(bytes));
}

export function decodeDocRecord(bytes: Bytes): DocRecord {
  const reader = new ByteReader(bytes);
  const view = readWinner(reader);
  const flags = bytes.charCodeAt(0);
  const rev = { pos: view.pos, hash: view.hash };
  const tree =
    flags & flag.tree ? readTree(reader.rest()) : singleNode(rev, { deleted: view.deleted, body: view.seq });
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

function readTree(bytes: Bytes): RevTree {
  const buffer = Buffer.from(bytes, 'latin1');
  return decodeTree(buffer, 0, buffer.length);
}

const hexHash = /^[0-9a-f]{32}$/;

/** A hash of 32 hexadecimal digits takes 16 bytes behind a zero; any other its UTF-8 behind its length plus one. */
export function encodeRev({ pos, hash }: Rev): Bytes {
  if (hash.length === 32 && hexHash.test(hash))
    return varint(pos) + '\0' + Buffer.from(hash, 'hex').latin1Slice(0, 16);
  const utf8 = Buffer.from(hash);
  return varint(pos) + varint(utf8.length + 1) + utf8.latin1Slice(0, utf8.length);
}

export function readRev(reader: ByteReader): Rev {
  return { pos: reader.varint(), hash: readHash(reader) };
}

function readHash(reader: ByteReader): string {
  const length = reader.varint();
  if (length > 0) return Buffer.from(reader.take(length - 1), 'latin1').toString();
  return hexOf(reader.bytes, (reader.at += 16) - 16);
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Sixteen table look-ups beat a detour through a Buffer by far. */
function hexOf(bytes: Bytes, at: number): string {
  let hex = '';
  for (let i = at; i < at + 16; i++) hex += hexPairs[bytes.charCodeAt(i)]!;
  return hex;
}
