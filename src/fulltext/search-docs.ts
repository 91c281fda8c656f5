import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { makeAnalyzer, type Analyzer } from '../search/analysis/analyzer.js';
import { parseQuery } from '../search/query/parse-query.js';
import type { QueryNode } from '../search/query/query-node.js';
import { readDoc, type IndexedDoc } from '../search/postings.js';
import { writeBookmark } from './bookmark.js';
import { evaluate, type Found } from './evaluate.js';
import { Facets, isDrilledTo } from './facets.js';
import { Groups } from './groups.js';
import { Highlighter } from './highlight.js';
import { Planner } from './make-plan.js';
import type { Plan } from './plan.js';
import { docJson } from './search-doc-text.js';
import type { SearchSource } from './search-source.js';
import type { SearchRequest } from './search-request.js';
import { SearchReader, type DocRange } from './search-reader.js';
import { byRelevance, type OrderValue, type Sorting } from './sorting.js';
import { TopHits, type Hit } from './top-hits.js';

/** Documents that are looked at without letting others run: so many for each part of the query at first, then as many as take about this long. */
const docsAtFirst = 20_000;
const docsAtOnceMax = 64_000;
const docsAtOnceMin = 10;
const stepMs = 6;

/**
 * A search under way. The documents of the index are gone through in the order of their numbers, some at a time; each part is
 * read at one moment, so that a search never holds a read open, and its memory does not grow with the database.
 */
export class TextSearch {
  readonly #started: number;
  readonly #node: QueryNode;
  readonly #top: TopHits;
  readonly #facets: Facets;
  readonly #groups: Groups | undefined;
  /** Whether more is needed of each match than its relevance. */
  readonly #needsDocs: boolean;
  #total = 0;
  /** How many there are: one for each group of the database. */
  readonly #indexes: number;

  constructor(
    private readonly source: SearchSource,
    private readonly request: SearchRequest,
    private readonly timeoutMs: number,
    /** Whether the one who asks is still there: otherwise the search stops. */
    private readonly isWanted: () => boolean = () => true,
  ) {
    this.#started = source.database.runtime.monotonicMs();
    this.#indexes = source.readers().length;
    this.#node = parseQuery(request.query);
    const { sort, limit, after, group, counts, ranges, drilldown } = request;
    this.#top = new TopHits(group === undefined ? limit : 0, sort, after);
    this.#facets = new Facets(request);
    this.#groups = group && new Groups(group, () => new TopHits(limit, sort));
    this.#needsDocs =
      [...sort, ...(group?.sort ?? [])].some(({ needsDoc }) => needsDoc) ||
      [group, counts, ranges].some((each) => each !== undefined) ||
      drilldown.length > 0;
  }

  /** The answer, as JSON. */
  async answer(): Promise<Bytes> {
    const analyzer = await makeAnalyzer(this.source.analyzer);
    for (let group = 0; group < this.#indexes; group++) await this.#searchGroup(group, analyzer);
    const { highlight } = this.request;
    const highlighter = highlight && new Highlighter(analyzer, this.#node, highlight);
    return this.#groups === undefined ? await this.#rows(highlighter) : await this.#grouped(highlighter);
  }

  /** Each group of the database has an index with numbers of its own; how relevant a document is, is told by its group. */
  async #searchGroup(group: number, analyzer: Analyzer): Promise<void> {
    const first = this.#reader(group);
    if (first === undefined) return;
    const planner = new Planner(
      () => this.#reader(group) ?? first,
      analyzer,
      () => this.#check(),
      this.source.database.runtime,
    );
    await this.#collect(group, await planner.plan(this.#node));
  }

  #reader(group: number): SearchReader | undefined {
    const reader = this.source.readers()[group];
    return reader && new SearchReader(reader, this.request.partition);
  }

  #check(): void {
    if (!this.isWanted()) throw new RequestError('timeout', 'The client has closed the connection.');
    if (this.source.database.runtime.monotonicMs() - this.#started > this.timeoutMs)
      throw new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');
  }

  async #collect(group: number, plan: Plan): Promise<void> {
    let size = clamp(docsAtFirst / partsOf(plan));
    for (let from = 0; ;) {
      const reader = this.#reader(group);
      if (reader === undefined || from >= reader.end) return;
      const begun = this.source.database.runtime.monotonicMs();
      const range = { from, to: from + size };
      this.#take(group, reader, evaluate(reader, plan, range), range);
      from = range.to;
      const tookMs = this.source.database.runtime.monotonicMs() - begun;
      size = clamp(tookMs < stepMs / 2 ? size * 2 : (size * stepMs) / tookMs);
      if (this.source.database.runtime.monotonicMs() - this.#started < stepMs) continue;
      await this.source.database.runtime.nextTurn();
      this.#check();
    }
  }

  #take(group: number, reader: SearchReader, { docs, scores }: Found, range: DocRange): void {
    if (!this.#needsDocs) {
      this.#total += docs.length;
      this.#takeScored(group, docs, scores);
      return;
    }
    for (const [i, indexed] of indexedDocs(reader, docs, range)) {
      if (!isDrilledTo(indexed, this.request.drilldown)) continue;
      this.#total++;
      this.#facets.add(indexed);
      const doc = this.#numberOf(group, docs[i]!);
      const hit = this.#hit(doc, scores[i]!, indexed);
      if (this.#groups === undefined) this.#top.add(hit);
      else {
        const order = orderOf(this.request.group!.sort, doc, scores[i]!, indexed);
        this.#groups.add(hit, order, indexed);
      }
    }
  }

  /** Documents of one index come in the order of their numbers, so of those that are equally relevant the first are kept. */
  #takeScored(group: number, docs: readonly number[], scores: readonly number[]): void {
    const isByRelevance = this.request.sort[0] === byRelevance;
    let bar = isByRelevance ? this.#top.bar : -Infinity;
    for (let i = 0; i < docs.length; i++) {
      if (scores[i]! < bar || (scores[i] === bar && this.#indexes === 1)) continue;
      this.#top.add(this.#hit(this.#numberOf(group, docs[i]!), scores[i]!, undefined));
      if (isByRelevance) bar = this.#top.bar;
    }
  }

  /** The number of a document among those of all indexes. */
  #numberOf(group: number, doc: number): number {
    return doc * this.#indexes + group;
  }

  #hit(doc: number, score: number, indexed: IndexedDoc | undefined): Hit {
    return { doc, order: orderOf(this.request.sort, doc, score, indexed) };
  }

  async #rows(highlighter: Highlighter | undefined): Promise<Bytes> {
    const { counts, ranges, after } = this.request;
    const { hits } = this.#top;
    const bookmark = writeBookmark(hits.at(-1)?.order ?? after);
    const rows = await this.#texts(hits, highlighter);
    const counted = counts === undefined ? '' : `,"counts":${bytesOf(this.#facets.counts())}`;
    const ranged = ranges === undefined ? '' : `,"ranges":${bytesOf(this.#facets.ranges())}`;
    return `{"total_rows":${this.#total},"bookmark":"${bookmark}","rows":[${rows}]${counted}${ranged}}`;
  }

  async #grouped(highlighter: Highlighter | undefined): Promise<Bytes> {
    const isOld = this.request.group!.isOld;
    const [total, rows] = isOld ? ['total_hits', 'hits'] : ['total_rows', 'rows'];
    const texts: Bytes[] = [];
    const first = this.#groups!.first();
    for (const { by, count, hits } of first) {
      const shown = await this.#texts(hits, highlighter);
      texts.push(`{"by":${bytesOf(by)},"${total}":${count},"${rows}":[${shown}]}`);
    }
    const grouped = isOld ? `,"total_grouped_hits":${first.reduce((sum, { count }) => sum + count, 0)}` : '';
    return `{"${total}":${this.#total}${grouped},"groups":[${texts.join(',')}]}`;
  }

  async #texts(hits: readonly Hit[], highlighter: Highlighter | undefined): Promise<Bytes> {
    const texts: Bytes[] = [];
    let until = this.source.database.runtime.monotonicMs() + stepMs;
    for (const hit of hits) {
      const text = this.#text(hit, highlighter);
      if (text !== undefined) texts.push(text);
      if (this.source.database.runtime.monotonicMs() < until) continue;
      await this.source.database.runtime.nextTurn();
      until = this.source.database.runtime.monotonicMs() + stepMs;
    }
    return texts.join(',');
  }

  /** One that has left the index since it was found is not shown. */
  #text({ doc, order }: Hit, highlighter: Highlighter | undefined): Bytes | undefined {
    const indexed = this.#reader(doc % this.#indexes)?.doc(Math.floor(doc / this.#indexes));
    if (indexed === undefined) return undefined;
    const { includeFields, includeDocs } = this.request;
    const stored = indexed.values.s ?? {};
    const shown =
      includeFields === undefined
        ? stored
        : Object.fromEntries(Object.entries(stored).filter(([name]) => includeFields.has(name)));
    const marked =
      highlighter === undefined ? '' : `,"highlights":${bytesOf(highlighter.highlights(stored))}`;
    const text = includeDocs ? `,"doc":${docJson(this.source, indexed.id)}` : '';
    const id = bytesOf(fromBytes(indexed.id));
    return `{"id":${id},"order":${bytesOf(order)},"fields":${bytesOf(shown)}${marked}${text}}`;
  }
}

function partsOf(plan: Plan): number {
  if (plan.kind === 'phrase') return plan.terms.length * 2;
  if (plan.kind !== 'bool') return 1;
  return [...plan.must, ...plan.should, ...plan.not].reduce((sum, part) => sum + partsOf(part), 1);
}

const clamp = (size: number): number => Math.min(docsAtOnceMax, Math.max(docsAtOnceMin, Math.floor(size)));

const bytesOf = (value: unknown): Bytes => toBytes(JSON.stringify(value));

function orderOf(
  sort: readonly Sorting[],
  doc: number,
  score: number,
  indexed: IndexedDoc | undefined,
): readonly OrderValue[] {
  const order: OrderValue[] = sort.map((each) => each.valueOf({ doc, score, indexed }));
  order.push(doc);
  return order;
}

/** A few documents are looked up one by one, many by going through all of the range. */
const seekShare = 1 / 16;

function* indexedDocs(
  reader: SearchReader,
  docs: readonly number[],
  range: DocRange,
): Generator<[number, IndexedDoc]> {
  if (docs.length < (range.to - range.from) * seekShare) {
    for (const [i, doc] of docs.entries()) {
      const indexed = reader.doc(doc);
      if (indexed !== undefined) yield [i, indexed];
    }
    return;
  }
  let i = 0;
  for (const { doc, value } of reader.allDocs(range)) {
    while (i < docs.length && docs[i]! < doc) i++;
    if (docs[i] === doc) yield [i, readDoc(value)];
  }
}
