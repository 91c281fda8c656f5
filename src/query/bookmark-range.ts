/**
 * Bookmarks are of the query that they are given with, or of one that reads the same index. CouchDB reads on from the key of the
 * bookmark to the end of the query's range, and answers as for a listing whose first key is behind its last one.
 */
import { keysOutOfOrder } from '../base/errors.js';
import type { SelectorNode } from '../selectors/node.js';
import type { Bookmark } from './bookmark.js';
import { compareBounds, type KeyBound, type KeyRange } from './key-ranges.js';
import type { QueryIndex } from './query-index.js';
import { singleRange } from './single-range.js';

interface Read {
  readonly index: QueryIndex;
  readonly ranges: readonly KeyRange[];
  readonly descending: boolean;
}

export function checkBookmark({ key }: Bookmark, selector: SelectorNode, read: Read): void {
  const { index, ranges, descending } = read;
  if (index.type !== 'json') return;
  const { start, end } = singleRange(selector, index);
  if (start === null || end === null) return;
  const first: KeyBound = { values: start as unknown[], after: false };
  const last: KeyBound = { values: (end as unknown[]).slice(0, -1), after: true };
  const isBehind = (bound: KeyBound | undefined): boolean => {
    if (bound === undefined) return false;
    const order = compareBounds({ values: key, after: false }, bound);
    return descending ? order < 0 : order > 0;
  };
  // What is read can hold ids that are outside of CouchDB's range: their pages go on.
  const isRead = ranges.some(({ low, high }) => !isBehind(descending ? low : high));
  if (!isRead && isBehind(descending ? first : last)) throw keysOutOfOrder(descending);
}
