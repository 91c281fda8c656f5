/**
 * Walks over the rows that a plan is about, in turns: after some milliseconds it lets others on, and goes on behind the
 * last row when it is asked to. It may be abandoned at any point.
 */
import type { Runtime } from '../base/runtime.js';
import { fromBytes } from '../base/bytes.js';
import { parseField } from '../selectors/field-path.js';
import type { FindRequest } from './find-request.js';
import type { IndexReader, IndexRow, Place, Seen } from './index-reader.js';
import { KeyMatcher } from './key-matching.js';
import type { KeyRange } from './key-ranges.js';
import { DocMatcher, type DocSource, type Match } from './matching.js';
import type { Plan } from './plan.js';
import { Projection } from './projection.js';

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

  constructor(
    source: DocSource,
    /** Asked at the beginning of each turn. */
    private readonly reader: () => IndexReader,
    private readonly plan: Plan,
    request: FindRequest,
    private readonly runtime: Runtime,
  ) {
    this.#behind = request.bookmark;
    this.#isCovered = plan.covering && source.visible === undefined;
    this.#match = this.#isCovered ? keyMatcher(plan, request) : docMatcher(source, request, this.stats);
  }

  /** Every step is one turn; the collector is emptied in between. */
  *run(collector: Collector): Generator<void> {
    const { ranges, descending } = this.plan;
    this.#beginTurn();
    for (const range of descending ? ranges.toReversed() : ranges) {
      while (!collector.isFull && !this.#read(range, collector)) {
        yield;
        this.#beginTurn();
      }
      if (collector.isFull) return;
      if (this.#isTurnOver()) {
        yield;
        this.#beginTurn();
      }
    }
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
      if (collector.isFull && this.stats.keys > counted) return true;
      if (match !== undefined) collector.take(match);
      if (collector.isFull) continue;
      if (collector.isHeavy || this.#isTurnOver()) {
        this.#behind = { id: row.id, key: JSON.parse(fromBytes(row.keyText)) as unknown[] };
        return false;
      }
    }
    return true;
  }
}

type Matcher = (row: IndexRow, seen: Seen | undefined) => Match | undefined;

function keyMatcher({ index }: Plan, { selector, fields }: FindRequest): Matcher {
  const keys = new KeyMatcher(selector, index, fields);
  return (row) => keys.match(row);
}

function docMatcher(
  source: DocSource,
  { selector, conflicts, fields, aggregate }: FindRequest,
  stats: CursorStats,
): Matcher {
  const others = (aggregate?.fields ?? []).map((field) => parseField(field)[0]!);
  const docs = new DocMatcher(source, selector, conflicts, fields && new Projection(fields), others);
  return (row, seen) => {
    // Of documents that are seen in part, only what is seen may decide.
    const match = docs.match(row, source.visible === undefined ? seen : undefined);
    // Design documents are never results; those that match are not counted either, as in CouchDB.
    const isLeftOut = isDesign(row);
    if (isLeftOut && match !== undefined) stats.keys--;
    else stats.docs++;
    return isLeftOut ? undefined : match;
  };
}

const isDesign = ({ id }: IndexRow): boolean => id.startsWith(designPrefix);
