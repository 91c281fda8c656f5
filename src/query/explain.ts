/** What `_explain` tells of a query: the index that was chosen, how it is read, and why the others were left. */
import { selectorJson } from '../selectors/node.js';
import { noBookmark } from './bookmark.js';
import type { Choice } from './choose-index.js';
import type { FindRequest } from './find-request.js';
import type { KeyRange } from './key-ranges.js';
import { covers, planWith, type Plan } from './plan.js';
import { indexJson, type QueryIndex } from './query-index.js';
import { luceneQuery, luceneSort, textFields } from './lucene-form.js';
import { allFields, indexableFields } from './selector-fields.js';
import { lastKey, singleRange, type SingleRange } from './single-range.js';
import { readTextSort } from './text-sort.js';

export interface ExplainScope {
  readonly dbname: string;
  readonly isPartitioned: boolean;
}

export function explain(
  request: FindRequest,
  choice: Choice,
  { dbname, isPartitioned }: ExplainScope,
): Record<string, unknown> {
  const { index } = choice;
  const plan = index && planWith(request, index);
  const candidates = choice.candidates();
  const hasTextIndex = [index, ...candidates.map((each) => each.index)].some((each) => each?.type === 'text');
  return {
    dbname,
    index: index === undefined ? null : indexJson(index),
    partitioned: isPartitioned,
    selector: selectorJson(request.selector.normal),
    opts: optionsJson(request),
    limit: request.limit,
    skip: request.skip,
    fields: request.fields ?? [],
    index_candidates: candidates.map((each) => ({
      index: indexJson(each.index),
      analysis: {
        usable: each.usable,
        reasons: [{ name: each.reason }],
        ranking: each.ranking,
        covering: each.index.type === 'json' ? covers(each.index, request.fields) : null,
      },
    })),
    selector_hints: [hints(request), ...(hasTextIndex ? [textHints(request)] : [])],
    ...(plan === undefined ? {} : planJson(plan, request)),
  };
}

function optionsJson(request: FindRequest): Record<string, unknown> {
  const { sort } = request;
  return {
    use_index: request.useIndex,
    bookmark: request.bookmarkText ?? noBookmark,
    limit: request.limit,
    skip: request.skip,
    sort: Object.fromEntries(sort.fields.map((field) => [field, sort.direction])),
    fields: request.fields ?? [],
    partition: request.partition ?? '',
    r: request.r,
    conflicts: request.conflicts,
    stale: request.stale,
    update: request.update,
    stable: request.stable,
    execution_stats: request.executionStats,
    allow_fallback: request.allowFallback,
  };
}

function hints({ selector: { normal } }: FindRequest): Record<string, unknown> {
  const indexable = indexableFields(normal);
  const others = [...allFields(normal)].filter((field) => !indexable.has(field));
  return {
    type: 'json',
    indexable_fields: [...indexable].toSorted(),
    unindexable_fields: others.toSorted(),
  };
}

function textHints({ selector: { normal } }: FindRequest): Record<string, unknown> {
  const indexable = new Set(
    normal.kind === 'everything' ? [] : textFields(normal).map((field) => field.split(':')[0]!),
  );
  const others = [...allFields(normal)].filter((field) => !indexable.has(field));
  return {
    type: 'text',
    indexable_fields: [...indexable].toSorted(),
    unindexable_fields: others.toSorted(),
  };
}

function textPlanJson({ selector: { normal }, partition, sort }: FindRequest): Record<string, unknown> {
  return {
    query: luceneQuery(normal),
    partition: partition ?? null,
    sort: luceneSort(readTextSort(sort, normal)),
  };
}

function planJson(plan: Plan, request: FindRequest): Record<string, unknown> {
  const { index, descending, covering } = plan;
  if (index.type === 'text') return textPlanJson(request);
  const single = singleRange(request.selector.normal, index);
  return {
    mrargs: {
      // Copies that are compared are read one by one.
      include_docs: request.r <= 1 && !covering,
      view_type: 'map',
      reduce: false,
      partition: request.partition ?? null,
      start_key: descending ? single.end : single.start,
      end_key: descending ? single.start : single.end,
      direction: descending ? 'rev' : 'fwd',
      stable: request.stable || request.stale === 'ok',
      update: request.update && request.stale === false,
      conflicts: request.conflicts || 'undefined',
    },
    covering,
    ...rangesJson(plan, single),
  };
}

/** The ranges that are read, if they are others than the one of `mrargs`. */
function rangesJson({ index, ranges }: Plan, single: SingleRange): { ranges?: unknown[] } {
  const shown = ranges.map((range) => ({
    start_key: startKey(index, range, single),
    end_key: endKey(index, range),
  }));
  const isSingle =
    shown.length === 0
      ? single.start === null && single.end === null
      : JSON.stringify(shown) === JSON.stringify([{ start_key: single.start, end_key: single.end }]);
  return isSingle ? {} : { ranges: shown };
}

function startKey({ type }: QueryIndex, { low }: KeyRange, { start }: SingleRange): unknown {
  if (type === 'special') return low === undefined ? (start === '' ? '' : null) : low.values[0];
  return low?.values ?? [];
}

function endKey({ type }: QueryIndex, { high }: KeyRange): unknown {
  const values = high?.values.with(
    -1,
    high.beginning === undefined ? high.values.at(-1) : `${high.beginning}\uffff`,
  );
  if (type === 'special') return values === undefined ? lastKey : values[0];
  return [...(values ?? []), lastKey];
}
