import { toBytes, type Bytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import { evaluate } from '../fulltext/evaluate.js';
import type { OrderRule, OrderValue } from '../fulltext/sorting.js';
import { TopHits, type Hit } from '../fulltext/top-hits.js';
import type { Collector, CursorStats } from './cursor.js';
import type { FindRequest } from './find-request.js';
import type { IndexRow } from './index-reader.js';
import { DocMatcher, type DocSource, type Match } from './matching.js';
import { parseField } from '../selectors/field-path.js';
import { Projection } from '../selectors/projection.js';
import { invalidBookmark } from './refusals.js';
import type { TextGroup, TextSource } from './text-source.js';

const turnMs = 6;
/** Documents of the index whose postings are looked at at once: so many at first, then as many as take a turn. */
const docsAtFirst = 4_000;
const docsAtOnceMax = 64_000;
const docsAtOnceMin = 4;
/** Hits that are put in order at once: where more are asked for, the index is gone through again. */
const orderedMax = 10_000;
const orderedMin = 100;
/** The documents of one group's index come before those of the next. */
const groupNumbers = 2 ** 32;

interface Found {
  /** The number of the document among those of all indexes. */
  doc: number;
  score: number;
  /** What each `$text` comes to, where that is needed. */
  holds: readonly boolean[];
}

type TextHit = Found & Hit;

const byScore = [{ descending: true }];

/**
 * Goes through the documents that a text index finds, in turns. They come in the order that is asked for, by relevance
 * where the selector has a `$text`, and else in the order in which they were first indexed.
 */
export class TextCursor {
  readonly stats: CursorStats = { keys: 0, docs: 0 };
  readonly #docs: DocMatcher;
  readonly #order: readonly OrderRule[];
  #after: readonly OrderValue[] | undefined;
  #until = 0;

  constructor(
    source: DocSource,
    private readonly text: TextSource,
    private readonly request: FindRequest,
    private readonly runtime: Runtime,
  ) {
    const { selector, conflicts, fields, aggregate } = request;
    const { sort, isScored } = text;
    const others = [...(aggregate?.fields ?? []), ...sort.map(({ field }) => field)];
    const members = others.map((field) => parseField(field)[0]!);
    this.#docs = new DocMatcher(source, selector, conflicts, fields && new Projection(fields), members);
    this.#order = sort.length > 0 ? sort : isScored && aggregate === undefined ? byScore : [];
    this.#after = this.#readBookmark();
  }

  /** Every step is one turn; the collector is emptied in between. */
  *run(collector: Collector): Generator<void> {
    this.#beginTurn();
    if (collector.isFull) return;
    yield* this.#order.length === 0 ? this.#asIndexed(collector) : this.#inOrder(collector);
  }

  #beginTurn(): void {
    this.#until = this.runtime.monotonicMs() + turnMs;
  }

  #isTurnOver(): boolean {
    return this.runtime.monotonicMs() > this.#until;
  }

  *#asIndexed(collector: Collector): Generator<void> {
    const after = this.#after?.[0] as number | undefined;
    for (const found of this.#found(after === undefined ? 0 : after + 1)) {
      const match = found && this.#match(found, [found.doc]);
      if (match !== undefined) collector.take(match);
      if (collector.isFull) return;
      if (!collector.isHeavy && !this.#isTurnOver()) continue;
      yield;
      this.#beginTurn();
    }
  }

  *#inOrder(collector: Collector): Generator<void> {
    const { skip, limit } = this.request;
    let size = Math.min(Math.max(skip + limit, orderedMin), orderedMax);
    for (;;) {
      const top = new TopHits<TextHit>(size, this.#order, this.#after);
      for (const found of this.#found(0)) {
        const order = found && this.#orderOf(found);
        if (order !== undefined) top.add({ ...found!, order });
        if (!this.#isTurnOver()) continue;
        yield;
        this.#beginTurn();
      }
      for (const hit of top.hits) {
        const match = this.#match(hit, hit.order, this.text.sort.length === 0);
        if (match !== undefined) collector.take(match);
        if (collector.isFull) return;
        if (!collector.isHeavy && !this.#isTurnOver()) continue;
        yield;
        this.#beginTurn();
      }
      if (top.hits.length < size) return;
      this.#after = top.hits.at(-1)!.order;
      size = Math.min(2 * size, orderedMax);
    }
  }

  /** What the indexes find behind a number. Undefined stands for the end of a part, where it takes long. */
  *#found(start: number): Generator<Found | undefined> {
    for (const [at, group] of this.text.groups.entries()) {
      const first = at * groupNumbers;
      if (start >= first + groupNumbers) continue;
      for (const found of this.#foundIn(group, Math.max(0, start - first)))
        yield found && { ...found, doc: first + found.doc };
    }
  }

  *#foundIn({ reader: readerNow, plan, texts }: TextGroup, start: number): Generator<Found | undefined> {
    let size = docsAtFirst;
    for (let from = start; ;) {
      const reader = readerNow();
      if (reader === undefined || from >= reader.end) return;
      const begun = this.runtime.monotonicMs();
      const range = { from, to: from + size };
      const [found, ...ofTexts] = evaluate(reader, [plan, ...texts.map((text) => text.plan)], range) ?? [];
      if (found === undefined) {
        size = range.to - from;
        yield undefined;
        continue;
      }
      const tookMs = this.runtime.monotonicMs() - begun;
      const next = tookMs < turnMs / 2 ? size * 2 : (size * turnMs) / tookMs;
      size = Math.min(docsAtOnceMax, Math.max(docsAtOnceMin, Math.floor(next)));
      const having = ofTexts.map(({ docs }) => new Set(docs));
      for (const [i, doc] of found.docs.entries())
        yield { doc, score: found.scores[i]!, holds: having.map((set) => set.has(doc)) };
      yield undefined;
      from = range.to;
    }
  }

  /** Undefined for a document that does not match, where that has to be known first. */
  #orderOf(found: Found): readonly OrderValue[] | undefined {
    const { sort } = this.text;
    if (sort.length === 0) return [found.score, found.doc];
    const doc = this.#match(found, [])?.parsed();
    return doc && [...sort.map((each) => each.valueOf(doc)), found.doc];
  }

  #match({ doc, holds }: Found, order: readonly OrderValue[], isFirst = true): Match | undefined {
    const group = this.text.groups[Math.floor(doc / groupNumbers)]!;
    const id = group.reader()?.doc(doc % groupNumbers)?.id;
    if (id === undefined) return undefined;
    if (isFirst) {
      this.stats.keys++;
      this.stats.docs++;
    }
    for (const [i, { node }] of group.texts.entries()) node.holds = holds[i]!;
    return this.#docs.match(new TextRow(id, order)) as Match | undefined;
  }

  #readBookmark(): readonly OrderValue[] | undefined {
    const { bookmark, bookmarkText } = this.request;
    if (bookmark === undefined) return undefined;
    const { key } = bookmark;
    if (key.length !== this.#order.length + 1 || typeof key.at(-1) !== 'number' || !key.every(isOrderValue))
      throw invalidBookmark(bookmarkText);
    return key as OrderValue[];
  }
}

const isOrderValue = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'string';

class TextRow implements IndexRow {
  constructor(
    readonly id: Bytes,
    private readonly order: readonly OrderValue[],
  ) {}

  get keyText(): Bytes {
    return toBytes(JSON.stringify(this.order));
  }
}
