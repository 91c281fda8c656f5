import type { Analyzer } from '../search/analysis/analyzer.js';
import type { IndexedDoc } from '../search/postings.js';
import type { QueryNode } from '../search/query/query-node.js';
import type { Facets } from './facets.js';
import type { Groups } from './groups.js';
import type { Hit } from './top-hits.js';

/** What a search has found, before it is written as an answer. */
export interface SearchResult {
  total: number;
  hits: readonly Hit[];
  groups: Groups | undefined;
  facets: Facets;
  query: QueryNode;
  analyzer: Analyzer;
  /** What the index has of a hit; undefined where it has left the index since it was found. */
  docOf: (hit: Hit) => IndexedDoc | undefined;
  /** Throws when the search times out, or the client has disconnected. */
  check: () => void;
}
