import { CorruptRecord } from '../base/corrupt-record.js';
import { makeNode, markRaw, type RevNode, type RevTree } from './tree.js';
import {
  hashBytesBound,
  readHash,
  readRawHashes,
  readVarint,
  varintBytesMax,
  writeHash,
  writeRawHash,
  writeRawHashes,
  writeVarint,
  type ReadCursor,
  type WriteCursor,
} from './varint.js';

/**
 * The stored form of a tree; `docs/formats/revision-tree.md` shows it byte by byte.
 *
 * Two flags make the usual document small and quick: `line` when every node is the child of the one before it, so
 * that neither parents nor generations are written, and `raw` when all hashes are 16 bytes, which then stand side by
 * side and turn to hex in one call. The tree's order of nodes is kept, so decoding gives back an equal tree.
 */
const version = 1;
const lineFlag = 1;
const rawFlag = 2;
const rawHashDigits = 32;

/** A reference shares its number with the deleted flag, and still leaves bits to spare for later versions. */
export const bodyRefMax = 2 ** 48;

const headBytesMax = 1 + 2 * varintBytesMax;
const nodeBytesMax = 3 * varintBytesMax;

/** At least as many bytes as `encodeTreeInto` takes. */
function treeBytesBound(tree: RevTree): number {
  let bound = headBytesMax;
  for (const node of tree) bound += nodeBytesMax + hashBytesBound(node.hash);
  return bound;
}

export function encodeTree(tree: RevTree): Buffer {
  const cursor = { bytes: Buffer.allocUnsafe(treeBytesBound(tree)), at: 0 };
  encodeTreeInto(cursor, tree);
  return cursor.bytes.subarray(0, cursor.at);
}

/** Writes the tree at the cursor, which must have `treeBytesBound(tree)` bytes of room. */
function encodeTreeInto(cursor: WriteCursor, tree: RevTree): void {
  const start = cursor.at++;
  const line = isLine(tree);
  writeVarint(cursor, tree.length);
  if (line) writeVarint(cursor, tree[0]!.pos);
  for (let i = 0; i < tree.length; i++) {
    const node = tree[i]!;
    if (!line) writeParent(cursor, node, i);
    if (node.body > bodyRefMax) throw new RangeError(`a body reference above ${bodyRefMax}`);
    writeVarint(cursor, node.body * 2 + (node.deleted ? 1 : 0));
  }
  const raw = writeHashes(cursor, tree);
  cursor.bytes[start] = (version << 4) | (line ? lineFlag : 0) | (raw ? rawFlag : 0);
}

export function decodeTree(bytes: Buffer, start = 0, end = bytes.length): RevTree {
  const cursor: ReadCursor = { bytes, at: start + 1, end };
  const head = start < end ? bytes[start]! : 0;
  if (head >> 4 !== version) throw new CorruptRecord(`no revision tree of version ${version}`);
  const count = readVarint(cursor);
  if (count === 0 || count > end - start) throw new CorruptRecord('an impossible number of revisions');
  const nodes = (head & lineFlag) !== 0 ? readLine(cursor, count, head) : readForest(cursor, count, head);
  if (cursor.at !== end) throw new CorruptRecord('bytes are left after a revision tree');
  if ((head & rawFlag) !== 0) markRaw(nodes);
  return nodes;
}

function isLine(tree: RevTree): boolean {
  for (let i = 0; i < tree.length; i++) if (tree[i]!.parent !== i - 1) return false;
  return true;
}

/** The distance to the parent; a root has none, written as 0, and its generation instead. */
function writeParent(cursor: WriteCursor, node: RevNode, index: number): void {
  writeVarint(cursor, node.parent < 0 ? 0 : index - node.parent);
  if (node.parent < 0) writeVarint(cursor, node.pos);
}

/** Answers whether all were raw. */
function writeHashes(cursor: WriteCursor, tree: RevTree): boolean {
  if (tree.length === 1 ? writeRawHash(cursor, tree[0]!.hash) : writeAllRaw(cursor, tree)) return true;
  for (const node of tree) writeHash(cursor, node.hash);
  return false;
}

function writeAllRaw(cursor: WriteCursor, tree: RevTree): boolean {
  let digits = '';
  for (const { hash } of tree) {
    if (hash.length !== rawHashDigits) return false;
    digits += hash;
  }
  return writeRawHashes(cursor, digits);
}

function readLine(cursor: ReadCursor, count: number, head: number): RevNode[] {
  const pos = readVarint(cursor);
  const metas: number[] = [];
  for (let i = 0; i < count; i++) metas.push(readVarint(cursor));
  const raw = (head & rawFlag) !== 0 ? readRawHashes(cursor, count) : undefined;
  const nodes: RevNode[] = [];
  for (let i = 0; i < count; i++) {
    const hash = raw === undefined ? readHash(cursor) : raw.slice(i * rawHashDigits, (i + 1) * rawHashDigits);
    const meta = metas[i]!;
    nodes.push(makeNode(pos + i, hash, i - 1, meta % 2 === 1, Math.floor(meta / 2), i === count - 1));
  }
  return nodes;
}

function readForest(cursor: ReadCursor, count: number, head: number): RevNode[] {
  const parents = new Int32Array(count);
  const positions = new Float64Array(count);
  const metas = new Float64Array(count);
  const inner = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const distance = readVarint(cursor);
    if (distance > i) throw new CorruptRecord('a parent before the first revision');
    const parent = distance === 0 ? -1 : i - distance;
    if (parent >= 0) inner[parent] = 1;
    parents[i] = parent;
    positions[i] = parent < 0 ? readVarint(cursor) : positions[parent]! + 1;
    metas[i] = readVarint(cursor);
  }
  const raw = (head & rawFlag) !== 0 ? readRawHashes(cursor, count) : undefined;
  const nodes: RevNode[] = [];
  for (let i = 0; i < count; i++) {
    const hash = raw === undefined ? readHash(cursor) : raw.slice(i * rawHashDigits, (i + 1) * rawHashDigits);
    const meta = metas[i]!;
    nodes.push(
      makeNode(positions[i]!, hash, parents[i]!, meta % 2 === 1, Math.floor(meta / 2), inner[i] === 0),
    );
  }
  return nodes;
}
