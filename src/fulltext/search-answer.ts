import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import { writeBookmark } from './bookmark.js';
import { Highlighter } from './highlight.js';
import { HitTexts } from './hit-texts.js';
import { docJson } from './search-doc-text.js';
import type { SearchRequest } from './search-request.js';
import type { SearchResult } from './search-result.js';
import type { SearchSource } from './search-source.js';
import type { Hit } from './top-hits.js';

/** The answer of `_search`, as JSON. `hold` is told how large it has become; it throws where there is no room for that. */
export async function searchAnswer(
  source: SearchSource,
  request: SearchRequest,
  result: SearchResult,
  hold: (bytes: number) => void,
): Promise<Bytes> {
  const { highlight } = request;
  const highlighter = highlight && new Highlighter(result.analyzer, result.query, highlight);
  const { runtime } = source.database;
  const texts = new HitTexts({ runtime, check: result.check, hold }, (hit) =>
    rowText(source, request, result, hit, highlighter),
  );
  return request.group === undefined
    ? await rows(runtime, request, result, texts)
    : await groups(runtime, request.group, result, texts);
}

async function rows(
  runtime: Runtime,
  { counts, ranges, after }: SearchRequest,
  { total, hits, facets }: SearchResult,
  hitTexts: HitTexts,
): Promise<Bytes> {
  const bookmark = writeBookmark(hits.at(-1)?.order ?? after);
  const shown = await hitTexts.write(hits);
  const counted = asBytes(counts === undefined ? '' : `,"counts":${await facets.counts(runtime)}`);
  const ranged = asBytes(ranges === undefined ? '' : `,"ranges":${await facets.ranges(runtime)}`);
  hitTexts.count(counted);
  hitTexts.count(ranged);
  return asBytes(`{"total_rows":${total},"bookmark":"${bookmark}","rows":[${shown}]${counted}${ranged}}`);
}

async function groups(
  runtime: Runtime,
  { isOld }: NonNullable<SearchRequest['group']>,
  result: SearchResult,
  hitTexts: HitTexts,
): Promise<Bytes> {
  const [total, member] = isOld ? ['total_hits', 'hits'] : ['total_rows', 'rows'];
  const texts: Bytes[] = [];
  const first = await result.groups!.first(runtime);
  for (const { by, count, hits } of first) {
    const value = bytesOf(by);
    hitTexts.count(value);
    const shown = await hitTexts.write(hits);
    texts.push(asBytes(`{"by":${value},"${total}":${count},"${member}":[${shown}]}`));
  }
  const grouped = isOld ? `,"total_grouped_hits":${first.reduce((sum, { count }) => sum + count, 0)}` : '';
  return asBytes(`{"${total}":${result.total}${grouped},"groups":[${texts.join(',')}]}`);
}

function rowText(
  source: SearchSource,
  { includeFields, includeDocs }: SearchRequest,
  result: SearchResult,
  hit: Hit,
  highlighter: Highlighter | undefined,
): Bytes | undefined {
  const indexed = result.docOf(hit);
  if (indexed === undefined) return undefined;
  const stored = indexed.values.s ?? {};
  const shown =
    includeFields === undefined
      ? stored
      : Object.fromEntries(Object.entries(stored).filter(([name]) => includeFields.has(name)));
  const marked = highlighter === undefined ? '' : `,"highlights":${bytesOf(highlighter.highlights(stored))}`;
  const text = includeDocs ? `,"doc":${docJson(source, indexed.id)}` : '';
  const id = bytesOf(fromBytes(indexed.id));
  return asBytes(`{"id":${id},"order":${bytesOf(hit.order)},"fields":${bytesOf(shown)}${marked}${text}}`);
}

export const bytesOf = (value: unknown): Bytes => toBytes(JSON.stringify(value));
