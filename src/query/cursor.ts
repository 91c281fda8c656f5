/**
 * Walks over the rows that a plan is about, in turns: after some milliseconds it lets others on, and goes on behind the
 * last row when it is asked to. It may be abandoned at any point.
 */
import type { Runtime } from '../base/runtime.js';
import { fromBytes } from '../base/bytes.js';
import { parseField } from '../selectors/field-path.js';
import type { FindRequest } from './find-request.js';
import type { IndexReader, IndexRow, Place, Seen } from './index-reader.js';
import { LargeDocs } from '../selectors/large-docs.js';
import { KeyMatcher } from './key-matching.js';
import type { KeyRange } from './key-ranges.js';
import { DocMatcher, type DocSource, type Match } from './matching.js';
import type { Plan } from './plan.js';
import { Projection } from '../selectors/projection.js';

/** What takes the documents that match. */
export interface Collector {
  take(match: Match): void;
  /** Whether no more are wanted. */
  readonly isFull: boolean;
  /** Whether it holds so much that it should be emptied first. */
  readonly isHeavy: boolean;
}

export interface CursorStats {
  /** Rows of the index. */
  keys: number;
  /** Documents that were looked at. */
  docs: number;
}

export interface DocLimits {
  timeoutMs: number;
  isWanted: () => boolean;
}

/** What has to be waited for before the next step, if anything. */
export type Wait = Promise<void> | void;

const turnMs = 6;
const designPrefix = '_design/';

export class Cursor {
  readonly stats: CursorStats = { keys: 0, docs: 0 };
  readonly #match: Matcher;
  /** Whether no documents are read. */
  readonly #isCovered: boolean;
  /** The last row that was read. */
  #behind: Place | undefined;
  #until = 0;
  /** The verdict on a large document, which is being made. */
  #verdict: Promise<Match | undefined> | undefined;

  constructor(
    source: DocSource,
    /** Asked at the beginning of each turn. */
    private readonly reader: () => IndexReader,
    private readonly plan: Plan,
    request: FindRequest,
    private readonly runtime: Runtime,
    /** How long one document may take, and whether the client is still there. */
    limits: DocLimits,
  ) {
    this.#behind = request.bookmark;
    this.#isCovered = plan.covering && source.visible === undefined;
    this.#match = this.#isCovered
      ? keyMatcher(plan, request)
      : docMatcher(source, request, runtime, limits, this.stats);
  }

  /** Every step is one turn; the collector is emptied in between. What it gives is to be waited for. */
  *run(collector: Collector): Generator<Wait> {
    const { ranges, descending } = this.plan;
    this.#beginTurn();
    for (const range of descending ? ranges.toReversed() : ranges) {
      while (!collector.isFull && !this.#read(range, collector)) {
        yield this.#take(collector);
        this.#beginTurn();
      }
      if (collector.isFull) return;
      if (this.#isTurnOver()) {
        yield;
        this.#beginTurn();
      }
    }
  }

  /** Takes the document whose verdict is being made, when that is there. */
  #take(collector: Collector): Wait {
    const verdict = this.#verdict;
    this.#verdict = undefined;
    const taken = verdict?.then((match) => {
      if (match !== undefined) collector.take(match);
    });
    // It may fail before it is awaited, and is never awaited if the search is abandoned.
    taken?.catch(() => undefined);
    return taken;
  }

  #beginTurn(): void {
    this.#until = this.runtime.monotonicMs() + turnMs;
  }

  #isTurnOver(): boolean {
    return this.runtime.monotonicMs() > this.#until;
  }

  /** Gives false where a range is not at its end, and goes on in the next turn. */
  #read(range: KeyRange, collector: Collector): boolean {
    const reader = this.reader();
    const seen = this.plan.exact ? reader.seen : undefined;
    for (const row of reader.rows(range, this.plan.descending, this.#behind)) {
      const counted = this.stats.keys++;
      // One row behind the last one of a page is read too: CouchDB counts it. Its document does not matter.
      if (collector.isFull && (this.#isCovered || !isDesign(row))) {
        if (!this.#isCovered) this.stats.docs++;
        return true;
      }
      const match = this.#match(row, seen);
      if (match instanceof Promise) {
        this.#verdict = match;
        this.#behind = placeOf(row);
        return false;
      }
      if (collector.isFull && this.stats.keys > counted) return true;
      if (match !== undefined) collector.take(match);
      if (collector.isFull) continue;
      if (collector.isHeavy || this.#isTurnOver()) {
        this.#behind = placeOf(row);
        return false;
      }
    }
    return true;
  }
}

const placeOf = ({ id, keyText }: IndexRow): Place => ({
  id,
  key: JSON.parse(fromBytes(keyText)) as unknown[],
});

type Matcher = (row: IndexRow, seen: Seen | undefined) => Match | Promise<Match | undefined> | undefined;

function keyMatcher({ index }: Plan, { selector, fields }: FindRequest): Matcher {
  const keys = new KeyMatcher(selector, index, fields);
  return (row) => keys.match(row);
}

function docMatcher(
  source: DocSource,
  { selector, conflicts, fields, aggregate }: FindRequest,
  runtime: Runtime,
  { timeoutMs, isWanted }: DocLimits,
  stats: CursorStats,
): Matcher {
  const others = (aggregate?.fields ?? []).map((field) => parseField(field)[0]!);
  const projection = fields && new Projection(fields);
  const large = new LargeDocs(selector, fields ?? aggregate?.fields, runtime, timeoutMs, isWanted);
  const docs = new DocMatcher(source, selector, conflicts, projection, others, large);
  return (row, seen) => {
    // Design documents are never results; those that match are not counted either, as in CouchDB.
    const isLeftOut = isDesign(row);
    const counted = (match: Match | undefined): Match | undefined => {
      if (isLeftOut && match !== undefined) stats.keys--;
      else stats.docs++;
      return isLeftOut ? undefined : match;
    };
    // Of documents that are seen in part, only what is seen may decide.
    const match = docs.match(row, source.visible === undefined ? seen : undefined);
    return match instanceof Promise ? match.then(counted) : counted(match);
  };
}

const isDesign = ({ id }: IndexRow): boolean => id.startsWith(designPrefix);
