import { RequestError } from '../base/errors.js';
import { makeAnalyzer } from '../search/analysis/analyzer.js';
import { Facets } from './facets.js';
import { nearest } from './nearest.js';
import { reciprocalRanks } from './reciprocal-ranks.js';
import { SearchReader } from './search-reader.js';
import { TextSearch } from './search-docs.js';
import type { KnnRequest, SearchRequest } from './search-request.js';
import type { SearchResult } from './search-result.js';
import type { SearchSource } from './search-source.js';
import { byRelevance } from './sorting.js';
import { TopHits, type Hit } from './top-hits.js';

/** Hits of the words that are merged with those of the vector, at least. */
const mergedMin = 100;

/** A search for the nearest vectors, alone or together with one for words. */
export async function searchByVector(
  source: SearchSource,
  request: SearchRequest & { knn: KnnRequest },
  timeoutMs: number,
  isWanted: () => boolean,
): Promise<SearchResult> {
  const { runtime } = source.database;
  const started = runtime.monotonicMs();
  const leftMs = (): number => timeoutMs - (runtime.monotonicMs() - started);
  const check = (): void => {
    if (!isWanted()) throw new RequestError('timeout', 'The client has closed the connection.');
    if (leftMs() < 0)
      throw new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');
  };
  const { knn, partition, limit } = request;
  const near = await nearest({ source, partition, check }, knn);
  if (request.query === undefined) return await alone(source, request, near, check);
  const merged = { ...request, limit: Math.max(mergedMin, limit, knn.k), after: undefined };
  const found = await new TextSearch(source, merged, leftMs(), isWanted).run();
  const lists = [found.hits, near].map((hits) => hits.map(({ doc }) => doc));
  const ranks = reciprocalRanks(lists);
  const hits = [...ranks].map(([doc, score]) => ({ doc, order: [score, doc] }));
  return { ...found, check, total: ranks.size, hits: page(hits, request) };
}

async function alone(
  source: SearchSource,
  request: SearchRequest,
  near: readonly Hit[],
  check: () => void,
): Promise<SearchResult> {
  const groups = source.readers().length;
  return {
    total: near.length,
    hits: page(near, request),
    groups: undefined,
    facets: new Facets(request),
    query: { kind: 'all' },
    analyzer: await makeAnalyzer(source.analyzer),
    docOf: ({ doc }) => {
      const reader = source.readers()[doc % groups];
      return reader && new SearchReader(reader, request.partition).doc(Math.floor(doc / groups));
    },
    check,
  };
}

function page(hits: Iterable<Hit>, { limit, after }: SearchRequest): readonly Hit[] {
  const top = new TopHits(limit, [byRelevance], after);
  for (const hit of hits) top.add(hit);
  return top.hits;
}
