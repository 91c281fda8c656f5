import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { writeBookmark } from './bookmark.js';
import { HitTexts } from './hit-texts.js';
import { bytesOf } from './search-answer.js';
import { docJson } from './search-doc-text.js';
import type { SearchRequest } from './search-request.js';
import type { SearchResult } from './search-result.js';
import type { SearchSource } from './search-source.js';
import { byRelevance, type OrderValue, type Sorting } from './sorting.js';
import type { Hit } from './top-hits.js';

/** The answer of `_nouveau`, as JSON. `hold` as for `_search`. */
export async function nouveauAnswer(
  source: SearchSource,
  request: SearchRequest,
  result: SearchResult,
  { topFacets, updateMs, hold }: { topFacets: number; updateMs: number; hold: (bytes: number) => void },
): Promise<Bytes> {
  const { counts, ranges, after } = request;
  const { hits, facets, total } = result;
  const { runtime } = source.database;
  const texts = new HitTexts({ runtime, check: result.check, hold }, (hit) =>
    hitText(source, request, result, hit),
  );
  const shown = await texts.write(hits);
  const bookmark = writeBookmark(hits.at(-1)?.order ?? after, '');
  const counted = counts === undefined ? asBytes('null') : await facets.topCounts(topFacets, runtime);
  const ranged = ranges === undefined ? asBytes('null') : await facets.topRanges(topFacets, runtime);
  texts.count(counted);
  texts.count(ranged);
  return asBytes(
    `{"total_hits_relation":"EQUAL_TO","total_hits":${total},"bookmark":"${bookmark}","hits":[${shown}]` +
      `,"counts":${counted},"ranges":${ranged},"update_latency":${Math.ceil(updateMs)}}`,
  );
}

function hitText(
  source: SearchSource,
  { sort, includeDocs }: SearchRequest,
  { docOf }: SearchResult,
  hit: Hit,
): Bytes | undefined {
  const indexed = docOf(hit);
  if (indexed === undefined) return undefined;
  const order = sort.map((sorting, i) => typed(hit.order[i] ?? null, sorting));
  const doc = includeDocs ? `,"doc":${docJson(source, indexed.id)}` : '';
  const fields = bytesOf(indexed.values.s ?? {});
  return asBytes(
    `{"order":${bytesOf(order)},"id":${bytesOf(fromBytes(indexed.id))},"fields":${fields}${doc}}`,
  );
}

function typed(value: OrderValue, sorting: Sorting): { '@type': string; value?: OrderValue } {
  if (value === null) return { '@type': 'null' };
  if (typeof value === 'string') return { '@type': 'string', value };
  return { '@type': sorting === byRelevance ? 'float' : 'double', value };
}
