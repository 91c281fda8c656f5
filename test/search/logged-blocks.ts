import { asBytes } from '../../src/base/bytes.js';
import { PostingLog } from '../../src/indexes/posting-log.js';
import { blocksOf } from '../../src/indexes/search-blocks.js';
import { BlockWriter, type Block } from '../../src/search/posting-block.js';

export interface Posting {
  doc: number;
  length: number;
  /** In thousandths. */
  boost: number;
  positions: number[];
}

/** The blocks that an index gets of the postings of one term. */
export function loggedBlocks(postings: readonly Posting[]): Block[] {
  const log = new PostingLog();
  const term = log.term(asBytes('tword'));
  for (const { length, boost, positions } of postings) {
    if (positions.length === 0) log.list(term, length);
    for (const position of positions) log.add(term, position, { length, boost: boost / 1_000 });
    log.endDoc();
  }
  const sorted = log.sorted(Uint32Array.from(postings, ({ doc }) => doc));
  return [...blocksOf(sorted, sorted.slots(term), new BlockWriter(64))];
}
