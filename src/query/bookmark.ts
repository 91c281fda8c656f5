import { toBytes, type Bytes } from '../base/bytes.js';
import { quoteId } from '../shard/doc-text.js';
import type { QueryIndex } from './query-index.js';
import { invalidBookmark } from './refusals.js';

/**
 * Where a page of results ended: the last document, by its id and its key in the index. What is written in the meantime
 * moves no other document over this border, so no page shows a document twice or leaves one out that stays in its place.
 */
export interface Bookmark {
  /** The index that was read: the next page is read from it, too, whatever better one there may be by then. */
  readonly ddoc: string | null;
  readonly name: string;
  readonly id: Bytes;
  /** The values of the index' columns. */
  readonly key: readonly unknown[];
}

/** What stands for a bookmark where there is nothing to go on from. */
export const noBookmark = 'nil';

const version = 1;

/** The key comes as the JSON text of a list. */
export function encodeBookmark(index: QueryIndex, id: Bytes, keyText: Bytes): string {
  return Buffer.from(`${headOf(index)},${quoteId(id)},${keyText}]`, 'latin1').toString('base64url');
}

const heads = new WeakMap<QueryIndex, Bytes>();

/** What all bookmarks of an index begin with. */
function headOf(index: QueryIndex): Bytes {
  let head = heads.get(index);
  if (head === undefined) {
    head = toBytes(JSON.stringify([version, index.ddoc, index.name]).slice(0, -1));
    heads.set(index, head);
  }
  return head;
}

/** Undefined for a text that is not a bookmark: `planQuery` reports that after all other errors of a query. */
export function readBookmark(value: unknown): Bookmark | undefined {
  if (value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalidBookmark(value);
  const parsed = parse(value);
  if (!Array.isArray(parsed) || parsed.length !== 5) return undefined;
  const [found, ddoc, name, id, key] = parsed as unknown[];
  if (
    found !== version ||
    !(ddoc === null || typeof ddoc === 'string') ||
    typeof name !== 'string' ||
    typeof id !== 'string' ||
    !Array.isArray(key)
  )
    return undefined;
  return { ddoc, name, id: toBytes(id.toWellFormed()), key };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}
