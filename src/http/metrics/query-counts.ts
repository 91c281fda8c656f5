import type { QueryOutcome } from '../../query/find-docs.js';
import { counter, type Stat } from './stats.js';

/** What Mango queries of clients have cost. */
export class QueryCounts {
  readonly #warnings = { unindexed_queries: 0, query_invalid_index: 0, too_many_docs_scanned: 0 };
  #keys = 0;
  #docs = 0;
  #returned = 0;
  /** Queries that were given up. */
  timeouts = 0;

  /** To be called at the end of each; one that was broken off has no outcome. */
  done(outcome: QueryOutcome | undefined): void {
    if (outcome === undefined) return;
    this.#keys += outcome.keys;
    this.#docs += outcome.docs;
    this.#returned += outcome.returned;
    for (const kind of outcome.warnings) this.#warnings[kind]++;
  }

  stats(): Stat[] {
    const { unindexed_queries, query_invalid_index, too_many_docs_scanned } = this.#warnings;
    return [
      counter(
        'mango/unindexed_queries',
        'number of mango queries that could not use an index',
        unindexed_queries,
      ),
      counter(
        'mango/query_invalid_index',
        'number of mango queries that generated an invalid index warning',
        query_invalid_index,
      ),
      counter(
        'mango/too_many_docs_scanned',
        'number of mango queries that generated an index scan warning',
        too_many_docs_scanned,
      ),
      counter('mango/keys_examined', 'number of keys examined by mango queries', this.#keys),
      counter('mango/docs_examined', 'number of documents examined by mango queries', this.#docs),
      counter('mango/results_returned', 'number of rows returned by mango queries', this.#returned),
      counter('couchdb/httpd/find_timeouts', 'number of HTTP find timeouts', this.timeouts),
    ];
  }
}
