import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { badRequest, RequestError, Unavailable } from '../base/errors.js';
import { encodeBookmark, noBookmark } from './bookmark.js';
import type { Choice } from './choose-index.js';
import { Cursor, type CursorStats, type Wait } from './cursor.js';
import { explain } from './explain.js';
import type { FindContext } from './find-context.js';
import { viewOfIndex } from './index-view.js';
import { readFindRequest, type FindRequest } from './find-request.js';
import { MatchCounter } from './match-counter.js';
import { Seen, type IndexReader, type IndexRow } from './index-reader.js';
import type { DocSource, Visible } from './matching.js';
import { chooseFor, planQuery, type Plan, type Scope } from './plan.js';
import { PrimaryReader } from './primary-reader.js';
import { ViewIndexReader } from './view-index-reader.js';
import { GroupCollector } from './group-collector.js';
import { PageCollector } from './page-collector.js';
import { TextCursor } from './text-cursor.js';
import { openText, type TextSource } from './text-source.js';
import { warnings, type QueryWarning } from './warnings.js';
import type { Database } from '../node/database.js';
import type { LocalReader } from '../shard/group-reader.js';
import { checkPartition, partitionRange } from '../shard/partitions.js';
import type { Selector } from '../selectors/selector.js';
import { checkVisible, type Show } from '../node/read-gate.js';
import { queryIndexes } from './query-indexes.js';
import type { ViewSource } from '../views/query-view.js';
import { viewSource } from '../views/view-source.js';
import type { Position } from '../indexes/index-state.js';
import { partitionKey } from '../indexes/key-order.js';

/** Reads the body of a query, and holds it against the database. */
export function readQuery(
  context: FindContext,
  body: Record<string, unknown>,
  compiled?: Selector,
): FindRequest {
  const { registry, partition } = context;
  const request = readFindRequest(body, registry.config.number('mango/default_limit'), compiled);
  const named = request.partition === undefined ? undefined : toBytes(request.partition.toWellFormed());
  if (named !== undefined) {
    checkPartition(named);
    if (partition !== undefined && named !== partition)
      throw badRequest('Conflicting value for `partition` in the body');
  }
  if (partition !== undefined) request.partition ??= fromBytes(partition);
  return request;
}

/** A query that is only explained may name a partition of a database that has none. */
export function checkPartitioned({ database }: FindContext, { partition }: FindRequest): void {
  if (partition !== undefined && !database.isPartitioned)
    throw badRequest('partition specified on non-partitioned db');
}

function scopeOf(database: Database): Scope {
  return { indexes: queryIndexes(database), isPartitioned: database.isPartitioned };
}

/** What `_explain` answers. */
export function explainQuery(context: FindContext, request: FindRequest): Record<string, unknown> {
  const { registry, database, user } = context;
  const { isPartitioned } = database;
  const choice = chooseFor(request, scopeOf(database));
  const ddoc = choice.index?.ddoc;
  if (typeof ddoc === 'string') checkVisible(registry.showFor(database, user), toBytes(ddoc));
  return explain(request, choice, { dbname: database.name, isPartitioned });
}

/** What a query has cost, for monitoring. */
export interface QueryOutcome extends CursorStats {
  returned: number;
  warnings: readonly QueryWarning['kind'][];
}

/** How often a query is planned while indexes change. */
const plansMax = 100;

/** A query under way: its answer as text, piece by piece. */
export class DocSearch {
  #plan: Plan;
  #choice: Choice;
  /** How often it was planned. */
  #plans = 1;
  readonly #started: number;
  /** Undefined while the documents themselves are read. */
  #view: ViewSource | undefined;
  #text: TextSource | undefined;
  #first = true;
  /** What the next piece has to wait for. */
  waiting: Wait = undefined;
  /** Undefined until the end of its pieces. */
  outcome: QueryOutcome | undefined;

  constructor(
    private readonly context: FindContext,
    private readonly request: FindRequest,
    /** Whether the client is still there: otherwise the search stops. */
    private readonly isWanted: () => boolean = () => true,
  ) {
    this.#started = context.database.runtime.monotonicMs();
    const { plan, choice } = planQuery(request, scopeOf(context.database));
    this.#plan = plan;
    this.#choice = choice;
  }

  /** Gives a promise where what is to be read is not there yet. */
  ready(): void | Promise<void> {
    const { index } = this.#plan;
    if (index.type === 'special') return;
    if (index.type === 'text') return this.#openText();
    const { registry, database, user } = this.context;
    const named = viewOfIndex(database, index);
    if (named === undefined) return this.#planAgain();
    const update = this.request.update && this.request.stale === false ? 'true' : 'false';
    const view = viewSource(registry, named, { update }, user);
    if (!(view instanceof Promise)) this.#view = view;
    else return view.then((source) => void (this.#view = source));
  }

  /** The index that was chosen is another by now. */
  async #planAgain(): Promise<void> {
    const { database } = this.context;
    if (++this.#plans > plansMax) throw new Unavailable('The indexes of the database are being changed.');
    await database.runtime.nextTurn();
    ({ plan: this.#plan, choice: this.#choice } = planQuery(this.request, scopeOf(database)));
    await this.ready();
  }

  async #openText(): Promise<void> {
    const source = await openText(this.context, this.request, this.#plan.index, this.isWanted);
    this.#text = this.#plan.isEmpty ? { ...source, groups: [] } : source;
  }

  /**
   * The answer in pieces, one for each turn, which may be empty; the end is the return value. Before each, what it is
   * `waiting` for is to be waited for. It may be abandoned at any point.
   */
  *pieces(): Generator<Bytes, Bytes> {
    const { aggregate } = this.request;
    const cursor = this.#cursor();
    if (aggregate !== undefined) {
      const groups = new GroupCollector(aggregate);
      for (const wait of cursor.run(groups)) {
        this.waiting = wait;
        yield noBytes;
      }
      return asBytes(
        `{"groups":${groups.text()}${this.#ending(cursor.stats, groups.matched, groups.matched)}}`,
      );
    }
    // Where nothing can be found, CouchDB says no more than that.
    if (this.#plan.isEmpty && !this.request.count) return asBytes('{"docs":[]}');
    const count = this.#text === undefined ? this.#countRows() : yield* this.#countMatches();
    const page = new PageCollector({ ...this.request, count: this.request.count && count === undefined });
    let opening = '{"docs":[';
    for (const wait of cursor.run(page)) {
      this.waiting = wait;
      yield asBytes(opening + page.drain());
      opening = '';
    }
    const { returned, matched, last } = page;
    const bookmark = this.#bookmark(last);
    return asBytes(
      `${opening}${page.drain()}\n],\n"bookmark":${bookmark}${this.#ending(cursor.stats, returned, count ?? matched)}}`,
    );
  }

  #cursor(): Pick<Cursor, 'stats' | 'run'> {
    const { request } = this;
    const { registry, database } = this.context;
    const { runtime } = database;
    const limits = { timeoutMs: registry.config.number('tuffet/query_timeout_ms'), isWanted: this.isWanted };
    return this.#text === undefined
      ? new Cursor(this.#source(), () => this.#reader(), this.#plan, request, runtime, limits)
      : new TextCursor(this.#source(), this.#text, request, runtime);
  }

  /** How many documents match: in a text index, their order and the page are of no interest for that. */
  *#countMatches(): Generator<Bytes, number> {
    if (!this.request.count || this.#text === undefined) return 0;
    const all = new MatchCounter();
    const text = { ...this.#text, sort: [], isScored: false };
    const request = { ...this.request, bookmark: undefined };
    const { runtime } = this.context.database;
    const cursor = new TextCursor(this.#source(), text, request, runtime);
    for (const turns = cursor.run(all); !turns.next().done;) yield noBytes;
    return all.matched;
  }

  /** How many documents match, where that can be told without looking at them. */
  #countRows(): number | undefined {
    if (!this.request.count || !this.#plan.exact || this.#source().visible !== undefined) return undefined;
    const reader = this.#reader();
    return reader.count && this.#plan.ranges.reduce((sum, range) => sum + reader.count!(range), 0);
  }

  /** As JSON. */
  #bookmark(last: IndexRow | undefined): Bytes {
    if (last === undefined) return toBytes(JSON.stringify(this.request.bookmarkText ?? noBookmark));
    return asBytes(`"${encodeBookmark(this.#plan.index, last.id, last.keyText)}"`);
  }

  /** What stands behind the documents or groups. */
  #ending(stats: CursorStats, returned: number, matched: number): Bytes {
    const { request } = this;
    const { index } = this.#plan;
    const { isNamed } = this.#choice;
    const ratioMax = this.context.registry.config.number('mango/index_scan_warning_threshold');
    const found = warnings(request, { index, isNamed, stats, returned }, ratioMax);
    this.outcome = { keys: stats.keys, docs: stats.docs, returned, warnings: found.map(({ kind }) => kind) };
    const members = {
      ...(request.count ? { count: matched } : {}),
      ...(request.executionStats ? { execution_stats: this.#stats(stats, returned) } : {}),
      ...(found.length > 0 ? { warning: found.map(({ sentence }) => sentence).join('\n') } : {}),
    };
    const text = toBytes(JSON.stringify(members)).slice(1, -1);
    return text === '' ? noBytes : asBytes(`,\n${text}`);
  }

  #stats(stats: CursorStats, returned: number): Record<string, number> {
    // There is one copy of each document: to ask for more of them is to look at the same.
    const isQuorum = this.request.r > 1;
    return {
      total_keys_examined: stats.keys,
      total_docs_examined: isQuorum ? 0 : stats.docs,
      total_quorum_docs_examined: isQuorum ? stats.docs : 0,
      results_returned: returned,
      execution_time_ms:
        Math.round((this.context.database.runtime.monotonicMs() - this.#started) * 1000) / 1000,
    };
  }

  #source(): DocSource {
    const { registry, database, user } = this.context;
    return new DatabaseSource(database, visibleTo(registry.showFor(database, user)));
  }

  #reader(): IndexReader {
    const { partition } = this.request;
    const named = partition === undefined ? undefined : toBytes(partition.toWellFormed());
    if (this.#view === undefined) {
      const range = named === undefined ? undefined : partitionRange(named);
      return new PrimaryReader(this.context.database.collection, range);
    }
    // At first it is what was waited for; later the index may be another.
    const reader = this.#first ? this.#view.reader : this.#view.again();
    this.#first = false;
    if (reader === undefined) return noRows;
    return new ViewIndexReader(reader, named && partitionKey(named), this.#seen(reader.positions));
  }

  /**
   * An index may be ahead of what is known of a commit on this side, or from before the shards were split or put back to
   * an earlier state: then its rows tell nothing of the documents here.
   */
  #seen(positions: readonly Position[]): Seen | undefined {
    const { states, shards } = this.context.database.collection;
    if (positions.length !== states.length) return undefined;
    const isOther = positions.some(
      ({ seq, epoch }, shard) =>
        !shards.isGone(shard) && (seq > states[shard]!.seq || (seq > 0 && epoch !== states[shard]!.epoch)),
    );
    return isOther ? undefined : new Seen(positions.map(({ seq }) => seq));
  }
}

/** The documents of a database, read from the groups that it has by then. */
class DatabaseSource implements DocSource {
  constructor(
    private readonly database: Database,
    readonly visible: Visible | undefined,
  ) {}

  get collection(): LocalReader {
    return this.database.collection;
  }

  shardOf(id: Bytes): number {
    return this.database.shardOf(id);
  }
}

function visibleTo(show: Show | undefined): Visible | undefined {
  return (
    show &&
    ((id, content) => {
      const shown = show(id, content);
      return shown instanceof RequestError ? undefined : shown;
    })
  );
}

/** An index that is still empty. */
const noRows: IndexReader = { rows: () => [] };
