import { asBytes, ByteReader, u8, varint, type Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { isRawTree, leafCount, leaves, type RevTree } from '../revisions/tree.js';
import { encodeRawRev, encodeRev, encodedRevLength, readRev } from './doc-record.js';

/**
 * One entry of the changes table: all that a feed shows of a document's last change, so that following a database
 * touches no document.
 *
 *   flags(1) leafCount(varint) leaf revisions, the winner first  id
 */
export interface ChangeRecord {
  id: Bytes;
  deleted: boolean;
  leaves: Rev[];
}

/** `winnerBytes` is the winner's revision, encoded. */
export function encodeChange(id: Bytes, deleted: boolean, tree: RevTree, winnerBytes: Bytes): Bytes {
  const head = u8(deleted ? 1 : 0);
  if (tree.length === 1) return asBytes(`${head}\x01${winnerBytes}${id}`);
  const all = leaves(tree);
  return asBytes(
    head + varint(all.length) + all.map(isRawTree(tree) ? encodeRawRev : encodeRev).join('') + id,
  );
}

/** The length of that record, without the order of its leaves. */
export function changeLength(id: Bytes, tree: RevTree, winner: Rev): number {
  if (tree.length === 1) return 2 + encodedRevLength(winner) + id.length;
  let length = 1 + varint(leafCount(tree)).length + id.length;
  for (const node of tree) if (node.leaf) length += encodedRevLength(node);
  return length;
}

/** Where the id begins in the form that nearly every record has: one leaf, a small generation, a usual hash. */
export const plainChangeId = 36;

/** The winner's generation where the record has that form, and its hash stands behind four bytes; otherwise undefined. */
export function plainChangePos(bytes: Bytes): number | undefined {
  const pos = bytes.charCodeAt(2);
  return bytes.charCodeAt(1) === 1 && pos <= 0x7f && bytes.charCodeAt(3) === 0 ? pos : undefined;
}

export const isDeletedChange = (bytes: Bytes): boolean => (bytes.charCodeAt(0) & 1) !== 0;

export function decodeChange(bytes: Bytes): ChangeRecord {
  const reader = new ByteReader(bytes);
  const deleted = (reader.u8() & 1) !== 0;
  const revs: Rev[] = [];
  for (let left = reader.varint(); left > 0; left--) revs.push(readRev(reader));
  return { id: reader.rest(), deleted, leaves: revs };
}
