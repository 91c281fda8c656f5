import { toBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { IndexStatistics } from '../fulltext/index-statistics.js';
import { Planner } from '../fulltext/make-plan.js';
import { SearchReader } from '../fulltext/search-reader.js';
import { namedSearch, searchSource } from '../fulltext/search-source.js';
import { makeAnalyzer } from '../search/analysis/analyzer.js';
import { hasText } from '../selectors/node.js';
import { designPrefix } from '../shard/doc-id.js';
import type { FindContext } from './find-context.js';
import type { FindRequest } from './find-request.js';
import type { QueryIndex } from './query-index.js';
import { ConditionReader } from './text-conditions.js';
import { TextPlanner, type TextPlan } from './text-plan.js';
import { readTextSort, type TextSorting } from './text-sort.js';

/** A text index that is ready to be read for a query. */
export interface TextSource {
  /** Each group of the database has an index of its own. */
  readonly groups: readonly TextGroup[];
  readonly sort: readonly TextSorting[];
  /** Whether documents come by relevance, unless they are sorted. */
  readonly isScored: boolean;
}

export interface TextGroup extends TextPlan {
  /** The index as it is now; undefined where there is none yet. */
  readonly reader: () => SearchReader | undefined;
}

/** Brings a text index up to date, unless the request can do without, and finds out what has to be read. */
export async function openText(
  { registry, database, user }: FindContext,
  request: FindRequest,
  { ddoc, name, text }: QueryIndex,
  isWanted: () => boolean,
): Promise<TextSource> {
  // An index holds documents as they are, so what it finds would tell what is hidden from the user.
  if (registry.showFor(database, user) !== undefined)
    throw new RequestError('forbidden', 'Text indexes of this database may only be used by its admins.');
  const { runtime } = database;
  const { normal } = request.selector;
  const sort = readTextSort(request.sort, normal);
  const until = runtime.monotonicMs() + registry.config.number('tuffet/query_timeout_ms');
  const named = namedSearch(database, ddoc!.slice(designPrefix.length), name);
  const isStale = !request.update || request.stale !== false;
  const source = await searchSource(registry, named, isStale, user);
  const partition = request.partition === undefined ? undefined : toBytes(request.partition.toWellFormed());
  const check = (): void => {
    if (isWanted() && runtime.monotonicMs() < until) return;
    throw new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');
  };
  const analyzer = await makeAnalyzer(source.analyzer);
  const condition = new ConditionReader(text!.definition).read(normal);
  const groups: TextGroup[] = [];
  const statistics = new IndexStatistics(() =>
    source.readers().flatMap((reader) => (reader ? [new SearchReader(reader, partition)] : [])),
  );
  for (const group of source.readers().keys()) {
    const reader = (): SearchReader | undefined => {
      const current = source.readers()[group];
      return current && new SearchReader(current, partition);
    };
    const first = reader();
    if (first === undefined) {
      groups.push({ reader, plan: { kind: 'none' }, texts: [] });
      continue;
    }
    const planner = new Planner(() => reader() ?? first, statistics, analyzer, check, runtime);
    groups.push({ reader, ...(await new TextPlanner(planner, first).plan(condition)) });
  }
  return { groups, sort, isScored: hasText(normal) };
}
