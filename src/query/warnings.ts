import type { CursorStats } from './cursor.js';
import type { FindRequest } from './find-request.js';
import { useIndexText } from './plan.js';
import type { QueryIndex } from './query-index.js';

export interface Outcome {
  readonly index: QueryIndex;
  /** Whether the index that the request names is the one. */
  readonly isNamed: boolean;
  readonly stats: CursorStats;
  readonly returned: number;
}

/** The names are those of CouchDB's statistics. */
export interface QueryWarning {
  kind: 'unindexed_queries' | 'query_invalid_index' | 'too_many_docs_scanned';
  sentence: string;
}

/** What is worth telling about the way a query was answered. */
export function warnings({ useIndex }: FindRequest, outcome: Outcome, ratioMax: number): QueryWarning[] {
  const { index, isNamed, stats, returned } = outcome;
  const found: QueryWarning[] = [];
  if (useIndex.length > 0 && !isNamed) {
    const what = useIndex.length === 1 ? 'does not contain a valid index' : 'is not a valid index';
    found.push({
      kind: 'query_invalid_index',
      sentence: `${useIndexText(useIndex)} was not used because it ${what} for this query.`,
    });
  }
  if (index.type === 'special')
    found.push({
      kind: 'unindexed_queries',
      sentence: 'No matching index found, create an index to optimize query time.',
    });
  if (ratioMax > 0 && stats.docs / Math.max(1, returned) > ratioMax)
    found.push({
      kind: 'too_many_docs_scanned',
      sentence:
        'The number of documents examined is high in proportion to the number of results returned. ' +
        'Consider adding a more specific index to improve this.',
    });
  return found;
}
