import type { Bytes } from '../base/bytes.js';
import {
  blockCount,
  BlockWriter,
  joinBlocks,
  rawPostings,
  sumOfLengths,
  type Block,
  type RawPosting,
} from '../search/posting-block.js';
import { docNumber, isBlockKind, kindOf, readDocNumber } from '../search/postings.js';
import { decoding } from './index-damage.js';
import type { SortedLog } from './posting-log.js';
import type { Reducer } from './tree/reducer.js';
import type { Row, RowKey } from './tree/row.js';
import type { TreeReader } from './tree/tree-reader.js';

const blockOf = ({ id, value }: Pick<Row, 'id' | 'value'>): Block => ({ first: readDocNumber(id), value });

export const blockRow = (key: Bytes, { first, value }: Block): Row => ({
  key,
  id: docNumber(first),
  n: 0,
  keyText: '',
  value,
});

/** Postings of a log in blocks. */
export function* blocksOf(log: SortedLog, slots: readonly number[], writer: BlockWriter): Generator<Block> {
  for (const slot of slots) {
    const full = log.write(slot, writer);
    if (full !== undefined) yield full;
  }
  const last = writer.finish();
  if (last !== undefined) yield last;
}

/**
 * Takes documents out of the blocks of a term, and puts others in, which may be the same; both have had their numbers
 * before. Each block that has one of them, or where one belongs, is written anew.
 */
export function changeBlocks(
  tree: TreeReader,
  key: Bytes,
  gone: readonly number[],
  added: readonly RawPosting[],
  changes: { inserts: Row[]; removals: RowKey[] },
): void {
  const docs = [...new Set([...gone, ...added.map(({ doc }) => doc)])].sort((a, b) => a - b);
  const affected = new Set(docs);
  let next = 0;
  for (let i = 0; i < docs.length;) {
    const row = blockAt(tree, key, docs[i]!);
    const end = row === undefined ? Infinity : firstBehind(tree, key, row.id);
    while (i < docs.length && docs[i]! < end) i++;
    const before = row === undefined ? [] : decoding(() => rawPostings(blockOf(row)));
    const kept = before.filter(({ doc }) => !affected.has(doc));
    const from = next;
    while (next < added.length && added[next]!.doc < end) next++;
    const postings = [...kept, ...added.slice(from, next)].sort((a, b) => a.doc - b.doc);
    if (isSame(before, postings)) continue;
    if (row !== undefined) changes.removals.push({ key, id: row.id, n: 0 });
    for (const block of inBlocks(postings)) changes.inserts.push(blockRow(key, block));
  }
}

/** As for terms of a text that has stayed as it was while something else of its document has changed. */
const isSame = (a: readonly RawPosting[], b: readonly RawPosting[]): boolean =>
  a.length === b.length &&
  a.every(({ doc, flags, body }, i) => {
    const other = b[i]!;
    return doc === other.doc && flags === other.flags && body === other.body;
  });

function* inBlocks(postings: readonly RawPosting[]): Generator<Block> {
  const writer = new BlockWriter(1_024);
  for (const posting of postings) {
    const full = writer.take(posting);
    if (full !== undefined) yield full;
  }
  const last = writer.finish();
  if (last !== undefined) yield last;
}

/** The block that has a document, or would have it. */
function blockAt(tree: TreeReader, key: Bytes, doc: number): Row | undefined {
  const [before] = tree.rows(
    { key, after: false },
    { key, id: docNumber(doc), after: true },
    { descending: true, limit: 1 },
  );
  if (before !== undefined) return before;
  const [first] = tree.rows({ key, after: false }, { key, after: true }, { limit: 1 });
  return first;
}

function firstBehind(tree: TreeReader, key: Bytes, id: Bytes): number {
  const [row] = tree.rows({ key, id, after: true }, { key, after: true }, { limit: 1 });
  return row === undefined ? Infinity : readDocNumber(row.id);
}

/** Puts small blocks together that stand beside each other in the tree. */
export function joinBlockRows(a: Row, b: Row): Row | undefined {
  if (!isBlockKind(kindOf(a.key))) return undefined;
  const value = joinBlocks(blockOf(a), blockOf(b));
  return value === undefined ? undefined : { key: a.key, id: a.id, n: 0, keyText: '', value };
}

/** What the blocks of a term or a field come to: documents, and the sum of the lengths of the field. */
export interface BlockTotals {
  docs: number;
  length: number;
}

export const decodeTotals = (reduction: Bytes): BlockTotals => {
  const [docs, length] = reduction.split(' ');
  return { docs: Number(docs), length: Number(length) };
};

const encodeTotals = ({ docs, length }: BlockTotals): Bytes => `${docs} ${length}`;

export function rowTotals(rows: Iterable<Row>): BlockTotals {
  let docs = 0;
  let length = 0;
  for (const { key, value } of rows) {
    const kind = kindOf(key);
    if (kind !== 't' && kind !== 'l' && kind !== 'v') continue;
    docs += blockCount(value);
    if (kind === 'l') length += sumOfLengths(value);
  }
  return { docs, length };
}

/** Keeps the totals of blocks in the nodes of a tree; other rows count as nothing. */
export const blocksReducer: Reducer = {
  reduce: (groups) => groups.map((rows) => encodeTotals(rowTotals(rows))),
  rereduce: (groups) =>
    groups.map((values) => {
      let docs = 0;
      let length = 0;
      for (const value of values) {
        const totals = decodeTotals(value);
        docs += totals.docs;
        length += totals.length;
      }
      return encodeTotals({ docs, length });
    }),
};
