import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../src/base/errors.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { heldReaders } from '../../src/fulltext/held-readers.js';
import { TextSearch } from '../../src/fulltext/search-docs.js';
import type { SearchRequest } from '../../src/fulltext/search-request.js';
import type { SearchSource } from '../../src/fulltext/search-source.js';
import { byRelevance } from '../../src/fulltext/sorting.js';

/** An index that says it has so many documents, and has none: to go through it takes as long as they are many. */
function sourceOf(docs: number): SearchSource {
  const reader = {
    rows: ({ low }: { low: { key: string } }) => (low.key === '\0' ? [{ value: String(docs) }] : []),
    pieces: () => [],
  };
  const database = { runtime: new SystemRuntime() };
  return { database, analyzer: { name: 'standard' }, readers: () => [reader] } as unknown as SearchSource;
}

const request = (query: string): SearchRequest => ({
  query,
  limit: 25,
  after: undefined,
  sort: [byRelevance],
  includeDocs: false,
  includeFields: undefined,
  counts: undefined,
  ranges: undefined,
  drilldown: [],
  group: undefined,
  highlight: undefined,
  isStale: false,
  partition: undefined,
  knn: undefined,
});

test('a search stops when its client is gone', async () => {
  let asked = 0;
  const search = new TextSearch(sourceOf(1e15), request('*:*'), 600_000, () => ++asked < 3);
  await assert.rejects(search.run(), RequestError);
  assert.equal(asked, 3);
});

test('a search stops when its time is up', async () => {
  const search = new TextSearch(sourceOf(1e15), request('*:*'), 50);
  await assert.rejects(search.run(), { error: 'timeout' });
});

test('patterns that would need too much memory are refused', async () => {
  const search = new TextSearch(sourceOf(3e9), request('a*'), 600_000);
  await assert.rejects(search.run(), { error: 'bad_request' });
});

test('a search is refused when an index that it reads is removed', async () => {
  const source = sourceOf(1e15);
  let asked = 0;
  const readersNow = (): ReturnType<SearchSource['readers']> =>
    ++asked < 10 ? source.readers() : [undefined];
  const search = new TextSearch(
    { ...source, readers: heldReaders(readersNow, false) },
    request('*:*'),
    600_000,
  );
  await assert.rejects(search.run(), { error: 'service_unavailable', retryAfterSeconds: 1 });
  assert.equal(asked, 10);
});

test('a search finds nothing in an index that is not there yet, unless it has waited for it', async () => {
  const found = (areThere: boolean): ReturnType<TextSearch['run']> =>
    new TextSearch(
      { ...sourceOf(1), readers: heldReaders(() => [undefined], areThere) },
      request('*:*'),
      600_000,
    ).run();
  assert.equal((await found(false)).total, 0);
  await assert.rejects(async () => await found(true), { error: 'service_unavailable' });
});
