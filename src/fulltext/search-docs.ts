import { RequestError } from '../base/errors.js';
import { makeAnalyzer, type Analyzer } from '../search/analysis/analyzer.js';
import { parseQuery } from '../search/query/parse-query.js';
import type { QueryNode } from '../search/query/query-node.js';
import { readDoc, type IndexedDoc } from '../search/postings.js';
import { BlockCursors } from './block-cursors.js';
import { evaluate, type Found } from './evaluate.js';
import { Facets, isDrilledTo } from './facets.js';
import { Groups } from './groups.js';
import { IndexStatistics } from './index-statistics.js';
import { Planner } from './make-plan.js';
import type { Plan } from './plan.js';
import type { SearchSource } from './search-source.js';
import type { SearchRequest } from './search-request.js';
import type { SearchResult } from './search-result.js';
import { SearchReader } from './search-reader.js';
import { byRelevance, type OrderValue, type Sorting } from './sorting.js';
import { TopHits, type Hit } from './top-hits.js';

/** Documents that are looked at without letting others run: so many for each part of the query at first, then as many as take about this long. */
const docsAtFirst = 20_000;
const docsAtOnceMax = 64_000;
const docsAtOnceMin = 4;
const stepMs = 6;
/** Documents that are read from the index as it is at one moment, unless that takes too long. */
const docsReadAtOnce = 32;

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
  readonly #isByRelevance: boolean;
  /** Whether more is needed of each match than its relevance. */
  readonly #needsDocs: boolean;
  /** Whether more is needed of some matches. */
  readonly #readsDocs: boolean;
  #total = 0;
  /** How many there are: one for each group of the database. */
  readonly #indexes: number;
  readonly #statistics: IndexStatistics;
  readonly #cursors = new BlockCursors();

  constructor(
    private readonly source: SearchSource,
    private readonly request: SearchRequest,
    private readonly timeoutMs: number,
    /** Whether the one who asks is still there: otherwise the search stops. */
    private readonly isWanted: () => boolean = () => true,
  ) {
    this.#started = source.database.runtime.monotonicMs();
    this.#indexes = source.readers().length;
    this.#statistics = new IndexStatistics(() =>
      source.readers().flatMap((reader) => (reader ? [new SearchReader(reader, request.partition)] : [])),
    );
    this.#node = parseQuery(request.query ?? '*:*');
    const { sort, limit, after, group, counts, ranges, drilldown } = request;
    this.#top = new TopHits(group === undefined ? limit : 0, sort, after);
    this.#facets = new Facets(request);
    this.#groups = group && new Groups(group, () => new TopHits(limit, sort));
    this.#isByRelevance = sort[0] === byRelevance;
    this.#needsDocs =
      (!this.#isByRelevance && sort.some(({ needsDoc }) => needsDoc)) ||
      [group, counts, ranges].some((each) => each !== undefined) ||
      drilldown.length > 0;
    this.#readsDocs = this.#needsDocs || sort.some(({ needsDoc }) => needsDoc);
  }

  async run(): Promise<SearchResult> {
    const analyzer = await makeAnalyzer(this.source.analyzer);
    for (let group = 0; group < this.#indexes; group++) await this.#searchGroup(group, analyzer);
    return {
      total: this.#total,
      hits: this.#top.hits,
      groups: this.#groups,
      facets: this.#facets,
      query: this.#node,
      analyzer,
      docOf: ({ doc }) => this.#reader(doc % this.#indexes)?.doc(Math.floor(doc / this.#indexes)),
      check: () => this.#check(),
    };
  }

  /** Each group of the database has an index with numbers of its own. */
  async #searchGroup(group: number, analyzer: Analyzer): Promise<void> {
    const first = this.#reader(group);
    if (first === undefined) return;
    const planner = new Planner(
      () => this.#reader(group) ?? first,
      this.#statistics,
      analyzer,
      () => this.#check(),
      this.source.database.runtime,
      this.request.readNumber,
    );
    await this.#collect(group, await planner.plan(this.#node));
  }

  #reader(group: number): SearchReader | undefined {
    const reader = this.source.readers()[group];
    return reader && new SearchReader(reader, this.request.partition, this.#cursors);
  }

  #check(): void {
    if (!this.isWanted()) throw new RequestError('timeout', 'The client has closed the connection.');
    if (this.source.database.runtime.monotonicMs() - this.#started > this.timeoutMs)
      throw new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');
  }

  async #collect(group: number, plan: Plan): Promise<void> {
    const { runtime } = this.source.database;
    let size = clamp(docsAtFirst / partsOf(plan));
    for (let from = 0; ;) {
      const reader = this.#reader(group);
      if (reader === undefined || from >= reader.end) return;
      const begun = runtime.monotonicMs();
      const range = { from, to: from + size };
      const [found] = evaluate(reader, [plan], range) ?? [];
      if (found === undefined) {
        size = range.to - from;
        await runtime.nextTurn();
        this.#check();
        continue;
      }
      from = range.to;
      const tookMs = runtime.monotonicMs() - begun;
      size = clamp(tookMs < stepMs / 2 ? size * 2 : (size * stepMs) / tookMs);
      if (this.#readsDocs) await this.#takeInParts(group, found);
      else this.#takeScored(group, reader, found, undefined);
      if (runtime.monotonicMs() - this.#started < stepMs) continue;
      await runtime.nextTurn();
      this.#check();
    }
  }

  /** Reading documents takes much longer than finding them. */
  async #takeInParts(group: number, { docs, scores }: Found): Promise<void> {
    const { runtime } = this.source.database;
    const slice = runtime.slice();
    const isOver = (): boolean => slice.isOver;
    for (let at = 0; at < docs.length;) {
      if (slice.isOver) {
        await slice.next();
        this.#check();
      }
      const reader = this.#reader(group);
      if (reader === undefined) return;
      const end = at + docsReadAtOnce;
      const part = { docs: docs.slice(at, end), scores: scores.slice(at, end) };
      at += this.#needsDocs
        ? this.#take(group, reader, part, isOver)
        : this.#takeScored(group, reader, part, isOver);
    }
  }

  /** Gives how many it has taken: fewer than all where time is over. */
  #take(group: number, reader: SearchReader, { docs, scores }: Found, isOver: () => boolean): number {
    for (const [i, indexed] of indexedDocs(reader, docs)) {
      if (isDrilledTo(indexed, this.request.drilldown))
        this.#add(this.#numberOf(group, docs[i]!), scores[i]!, indexed);
      if (isOver()) return i + 1;
    }
    return docs.length;
  }

  #add(doc: number, score: number, indexed: IndexedDoc): void {
    this.#total++;
    this.#facets.add(indexed);
    const hit = this.#hit(doc, score, indexed);
    if (this.#groups === undefined) this.#top.add(hit);
    else this.#groups.add(hit, orderOf(this.request.group!.sort, doc, score, indexed), indexed);
  }

  /** Documents of one index come in the order of their numbers, so of those that are equally relevant the first are kept. Gives as above. */
  #takeScored(
    group: number,
    reader: SearchReader,
    { docs, scores }: Found,
    isOver: (() => boolean) | undefined,
  ): number {
    const { sort } = this.request;
    const isFirstKept = this.#indexes === 1 && sort.length === 1;
    let bar = this.#isByRelevance ? this.#top.bar : -Infinity;
    let i = 0;
    while (i < docs.length) {
      const at = i++;
      if (scores[at]! < bar || (scores[at] === bar && isFirstKept)) continue;
      const indexed = this.#readsDocs ? reader.doc(docs[at]!) : undefined;
      this.#top.add(this.#hit(this.#numberOf(group, docs[at]!), scores[at]!, indexed));
      if (this.#isByRelevance) bar = this.#top.bar;
      if (isOver?.()) break;
    }
    this.#total += i;
    return i;
  }

  /** The number of a document among those of all indexes. */
  #numberOf(group: number, doc: number): number {
    return doc * this.#indexes + group;
  }

  #hit(doc: number, score: number, indexed: IndexedDoc | undefined): Hit {
    return { doc, order: orderOf(this.request.sort, doc, score, indexed) };
  }
}

function partsOf(plan: Plan): number {
  if (plan.kind === 'phrase') return plan.terms.length * 2;
  if (plan.kind !== 'bool') return 1;
  return [...plan.must, ...plan.should, ...plan.not].reduce((sum, part) => sum + partsOf(part), 1);
}

const clamp = (size: number): number => Math.min(docsAtOnceMax, Math.max(docsAtOnceMin, Math.floor(size)));

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

function* indexedDocs(reader: SearchReader, docs: readonly number[]): Generator<[number, IndexedDoc]> {
  const range = { from: docs[0]!, to: docs.at(-1)! + 1 };
  if (docs.length < (range.to - range.from) * seekShare) {
    for (const [i, doc] of docs.entries()) {
      const indexed = reader.doc(doc);
      if (indexed !== undefined) yield [i, indexed];
    }
    return;
  }
  let i = 0;
  for (const { doc, row } of reader.allDocs(range)) {
    while (i < docs.length && docs[i]! < doc) i++;
    if (docs[i] === doc) yield [i, readDoc(row.value)];
  }
}
