import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { IndexStatistics } from '../../src/fulltext/index-statistics.js';
import type { SearchReader } from '../../src/fulltext/search-reader.js';

test('the documents of a term are counted once, however many groups ask', () => {
  let counted = 0;
  const reader = { count: (key: string) => (counted++, key.length) } as unknown as SearchReader;
  const statistics = new IndexStatistics(() => [reader, reader, reader]);
  for (let group = 0; group < 3; group++) {
    assert.equal(statistics.count(asBytes('ab'), 2), 6);
    assert.equal(statistics.count(asBytes('abc'), 3), 9);
  }
  assert.equal(counted, 6);
});
