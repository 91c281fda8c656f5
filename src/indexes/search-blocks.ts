import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { editBlock } from '../search/edit-block.js';
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
import { decoding, IndexDamage } from './index-damage.js';
import type { SortedLog } from './sorted-log.js';
import type { Reducer } from './tree/reducer.js';
import type { Row, RowKey } from './tree/row.js';
import type { TreeReader } from './tree/tree-reader.js';

const blockOf = ({ id, value }: Pick<Row, 'id' | 'value'>): Block => ({ first: readDocNumber(id), value });

export const blockRow = (key: Bytes, { first, value }: Block): Row => ({
  key,
  id: docNumber(first),
  n: 0,
  keyText: noBytes,
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

/** The same of neighbouring slots, as rows. Most postings of a build come this way, so it makes nothing else. */
export function pushBlocks(
  log: SortedLog,
  [from, to]: readonly [number, number],
  writer: BlockWriter,
  key: Bytes,
  rows: Row[],
): void {
  for (let slot = from; slot < to; slot++) {
    const full = log.write(slot, writer);
    if (full !== undefined) rows.push(blockRow(key, full));
  }
  const last = writer.finish();
  if (last !== undefined) rows.push(blockRow(key, last));
}

/**
 * Takes documents out of the blocks of a term, and puts others in, which may be the same; both have had their numbers
 * before. Each block that has one of them, or where one belongs, is rewritten.
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
    const { row, end } = blockAt(tree, key, docs[i]!);
    while (i < docs.length && docs[i]! < end) i++;
    if (docs.length === 1 && row !== undefined) {
      const value = decoding(() => editBlock(blockOf(row), docs[0]!, added[0]));
      if (value !== undefined) {
        if (value !== row.value) changes.inserts.push({ ...blockRow(key, blockOf(row)), value });
        return;
      }
    }
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

/** The block of a term that has a document, or would have it, and the first document of the next one. */
function blockAt(tree: TreeReader, key: Bytes, doc: number): { row: Row | undefined; end: number } {
  const rank = tree.rank({ key, id: docNumber(doc), after: true });
  const rows = [...tree.rows(undefined, undefined, { skip: Math.max(0, rank - 1), limit: 3 })];
  const first = rows.findIndex((row) => row.key === key);
  const next = rows[first + 1];
  return {
    row: rows[first],
    end: first >= 0 && next?.key === key ? readDocNumber(next.id) : Infinity,
  };
}

/** Puts small blocks together that stand beside each other in the tree. */
export function joinBlockRows(a: Row, b: Row): Row | undefined {
  if (!isBlockKind(kindOf(a.key))) return undefined;
  const value = joinBlocks(blockOf(a), blockOf(b));
  return value === undefined ? undefined : { key: a.key, id: a.id, n: 0, keyText: noBytes, value };
}

/** What the blocks of a term or a field come to: documents, and the sum of the lengths of the field. */
export interface BlockTotals {
  docs: number;
  length: number;
}

export function decodeTotals(reduction: Bytes): BlockTotals {
  const totals = { docs: 0, length: 0 };
  addTotals(totals, reduction);
  return totals;
}

const space = 0x20;
const zero = 0x30;

/** Each change of a leaf adds up the totals of all its neighbours again, so this makes no object for each. */
function addTotals(totals: BlockTotals, reduction: Bytes): void {
  let docs = 0;
  let at = 0;
  for (let code; (code = reduction.charCodeAt(at++)) !== space;) {
    if (!(code >= zero)) throw new IndexDamage('the totals of a node are no numbers');
    docs = docs * 10 + code - zero;
  }
  let length = 0;
  for (; at < reduction.length; at++) length = length * 10 + reduction.charCodeAt(at) - zero;
  totals.docs += docs;
  totals.length += length;
}

const encodeTotals = ({ docs, length }: BlockTotals): Bytes => asBytes(`${docs} ${length}`);

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
      const totals = { docs: 0, length: 0 };
      for (const value of values) addTotals(totals, value);
      return encodeTotals(totals);
    }),
};
