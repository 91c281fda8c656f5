/** Searches let others run, however long their documents take to be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { TextSearch } from '../../src/fulltext/search-docs.js';
import type { SearchRequest } from '../../src/fulltext/search-request.js';
import type { SearchSource } from '../../src/fulltext/search-source.js';
import { byRelevance, readSort } from '../../src/fulltext/sorting.js';
import { docNumber, encodeDoc, readDocNumber } from '../../src/search/postings.js';

const docs = 100;

/** Its clock goes on only when documents are read. */
class ReadingTime extends SystemRuntime {
  ms = 0;
  reads = 0;
  mostInTurn = 0;
  #inTurn = 0;

  override monotonicMs(): number {
    return this.ms;
  }

  override async nextTurn(): Promise<void> {
    this.#inTurn = 0;
    await Promise.resolve();
  }

  read(): void {
    this.ms += 20;
    this.reads++;
    this.mostInTurn = Math.max(this.mostInTurn, ++this.#inTurn);
  }
}

function sourceOf(runtime: ReadingTime): SearchSource {
  const rowOf = (doc: number): object => ({
    id: docNumber(doc),
    get value() {
      runtime.read();
      return encodeDoc(asBytes(`doc${doc}`), asBytes(`{"v":{"a":[${doc}]}}`));
    },
  });
  const rows = ({ low, high }: Record<'low' | 'high', { key: string; id: string }>): object[] => {
    if (low.key === '\0') return [{ value: String(docs) }];
    const [from, to] = [readDocNumber(asBytes(low.id)), Math.min(docs, readDocNumber(asBytes(high.id)))];
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => rowOf(from + i));
  };
  const readers = (): object[] => [{ rows, pieces: () => [] }];
  return { database: { runtime }, analyzer: { name: 'standard' }, readers } as unknown as SearchSource;
}

const request = {
  query: '*:*',
  limit: 5,
  after: undefined,
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
} satisfies Omit<SearchRequest, 'sort'>;

for (const [name, sort] of [
  ['by a field', readSort('-a<number>')],
  ['by relevance, then by a field', [byRelevance, ...readSort('-a<number>')]],
] as const)
  test(`a search sorted ${name} reads each document once, and few in one turn`, async () => {
    const runtime = new ReadingTime();
    const search = new TextSearch(sourceOf(runtime), { ...request, sort: [...sort] }, 600_000);
    const { total, hits } = await search.run();
    assert.equal(total, docs);
    assert.deepEqual(
      hits.map(({ doc }) => doc),
      [99, 98, 97, 96, 95],
    );
    assert.equal(runtime.reads, docs);
    assert.ok(runtime.mostInTurn <= 2, `${runtime.mostInTurn} documents in one turn`);
  });
