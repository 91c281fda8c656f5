import { findRevs, type OpenedRev } from '../../src/documents/open-doc.js';

/** Several revisions of a document at once. */
export function openRevs(...asked: Parameters<typeof findRevs>): OpenedRev[] | undefined {
  const found = findRevs(...asked);
  return found?.revs.map((each) => found.open(each));
}
