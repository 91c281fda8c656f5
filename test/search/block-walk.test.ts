import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { BlockCursors } from '../../src/fulltext/block-cursors.js';
import { BlockWalk } from '../../src/fulltext/block-walk.js';
import { SearchReader } from '../../src/fulltext/search-reader.js';
import type { ViewReader } from '../../src/indexes/view-reader.js';
import type { Block } from '../../src/search/posting-block.js';
import { docNumber, termKey } from '../../src/search/postings.js';
import { loggedBlocks } from './logged-blocks.js';

test('others run between the terms that a slow pattern is compared with', async () => {
  const keys = Array.from({ length: 200 }, (_, i) => `k${String(i).padStart(3, '0')}`);
  const blocks = function* ({ key: from, isAfter }: { key: string; isAfter: boolean }): Generator<object> {
    for (const key of keys)
      if (isAfter ? key > from : key >= from) yield { key, row: {}, place: { key, isAfter: true } };
  };
  let inTurn = 0;
  let most = 0;
  const slice = {
    get isOver() {
      return inTurn > 0;
    },
    next: async () => {
      inTurn = 0;
      await Promise.resolve();
    },
  };
  const reader = { end: 1_000, blocks } as unknown as SearchReader;
  const walk = new BlockWalk(
    () => reader,
    () => {},
    slice as never,
  );
  const tested: string[] = [];
  const test = (key: string): boolean => {
    tested.push(key);
    most = Math.max(most, ++inTurn);
    return false;
  };
  await walk.bits(asBytes('k'), asBytes('l'), test);
  assert.deepEqual(tested, keys);
  assert.equal(most, 1);
  tested.length = 0;
  await walk.terms(asBytes('k'), asBytes('l'), test);
  assert.deepEqual(tested, keys);
  assert.equal(most, 1);
});

/** A reader of one term that stands in some documents, in blocks of three; counts how often it is asked. */
class CountingReader {
  asked = 0;
  readonly #rows: { key: string; id: string; value: string }[] = [];

  constructor(key: string, docs: readonly number[]) {
    for (let i = 0; i < docs.length; i += 3) {
      const postings = docs.slice(i, i + 3).map((doc) => ({ doc, length: 1, boost: 1_000, positions: [] }));
      const [{ first, value }] = loggedBlocks(postings) as [Block];
      this.#rows.push({ key, id: docNumber(first), value });
    }
  }

  rows(
    { low, high }: { low: { id?: string }; high: { id?: string; after: boolean } },
    { descending, limit }: { descending: boolean; limit: number },
  ): object[] {
    this.asked++;
    const isWithin = ({ id }: { id: string }): boolean =>
      (low.id === undefined || id >= low.id) &&
      (high.id === undefined || (high.after ? id <= high.id : id < high.id));
    const found = this.#rows.filter(isWithin);
    return (descending ? found.reverse() : found).slice(0, limit);
  }
}

test('a search reads each block once, in however small ranges it goes through the documents', () => {
  const key = termKey('default', 'whale');
  const docs = [3, 4, 5, 90, 91, 200, 201, 202, 950];
  for (const [size, askedMax] of [
    [10, 20],
    [1, 40],
    [150, 20],
    [1_000, 2],
  ] as const) {
    const reader = new CountingReader(`\0${key}`.slice(1), docs);
    const cursors = new BlockCursors();
    const found: number[] = [];
    for (let from = 0; from < 1_000; from += size) {
      const range = { from, to: from + size };
      const search = new SearchReader(reader as unknown as ViewReader, undefined, cursors);
      const first = search.postings(key, range).docs;
      assert.deepEqual(search.postings(key, range).docs, first, 'the same again, for a second clause');
      found.push(...first);
    }
    assert.deepEqual(found, docs);
    assert.ok(reader.asked <= askedMax, `${reader.asked} times in ranges of ${size}`);
  }
});

test('what was known of an index does not count for the next state of it', () => {
  const key = termKey('default', 'whale');
  const cursors = new BlockCursors();
  const postings = (docs: readonly number[], from: number, to: number): readonly number[] =>
    new SearchReader(new CountingReader(key, docs) as unknown as ViewReader, undefined, cursors).postings(
      key,
      {
        from,
        to,
      },
    ).docs;
  assert.deepEqual(postings([900], 0, 10), []);
  assert.deepEqual(postings([15, 900], 10, 20), [15]);
});
