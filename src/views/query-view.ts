import { asBytes, inOnePiece, noBytes, type Bytes } from '../base/bytes.js';
import { quoteId } from '../shard/doc-text.js';
import type { Fold } from '../indexes/reduce/fold.js';
import { endOf, type QueryReduce } from '../indexes/reduce/query-reduce.js';
import type { Piece } from '../indexes/tree/piece.js';
import type { Row, RowEnd } from '../indexes/tree/row.js';
import {
  groupKeyText,
  placeBehind,
  rowsBefore,
  type FoundGroup,
  type ViewRange,
  type ViewReader,
} from '../indexes/view-reader.js';
import type { ViewRequest } from '../indexes/view-request.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import type { Show } from '../node/read-gate.js';
import { reducedText, reducedTexts } from './reduced-text.js';
import { docPiecesOfRow, docTextOfRow, type ViewDocOptions } from './view-docs.js';
import { viewOpening } from './view-opening.js';

/** Rows are handed on in pieces of about this size, or of what is found in one slice of time. */
const pieceBytes = 64 * 1024;
const groupsAtOnce = 200;
const rowsAtOnce = 50;

/** What a query reads from. `again` gives the index as it is by then. */
export interface ViewSource {
  database: Database;
  reader: ViewReader | undefined;
  again: () => ViewReader | undefined;
  reduce: QueryReduce | undefined;
  /** What the reader may see of documents; undefined where nothing is hidden. */
  show: Show | undefined;
}

/**
 * The answer to a view query, as text, piece by piece. Each piece is read at one moment; the next goes on behind the last
 * row. No read is held open while the client is waited for.
 */
export class ViewAnswer {
  readonly #docOptions: ViewDocOptions;
  /** The ranges, which are asked for before the rows and with them. */
  #known: { reader: ViewReader; ranges: readonly ViewRange[] } | undefined;

  constructor(
    private readonly source: ViewSource,
    private readonly request: ViewRequest,
  ) {
    const { conflicts, encodingInfo } = request;
    this.#docOptions = { conflicts, encodingInfo, show: source.show };
  }

  /** All before the rows. */
  opening(): Bytes {
    const { database, reader } = this.source;
    return viewOpening(database, reader, this.request, {
      offset: () => this.#offset(),
      hasRows: () => this.#hasRows(),
    });
  }

  #offset(): number {
    const { reader } = this.source;
    const { keys, skip, descending } = this.request;
    if (reader === undefined) return 0;
    const before = keys?.length === 0 ? 0 : rowsBefore(reader, this.#ranges(reader), descending);
    return Math.min(before + skip, reader.total);
  }

  /** Whether there is a row to be shown or passed over. */
  #hasRows(): boolean {
    const { reader } = this.source;
    const { skip, limit, descending } = this.request;
    if (reader === undefined || skip + limit === 0) return false;
    return this.#ranges(reader).some((range) => reader.place(range, descending).within > 0);
  }

  /** The rows; a promise stands only before those that a function has to reduce. */
  pieces(registry: DatabaseRegistry): Iterable<Bytes> | AsyncIterable<Bytes> {
    const { shape, includeDocs, attachments } = this.request;
    const { reader, reduce } = this.source;
    if (reader === undefined || reader.total === 0) return [];
    if (shape === 'rows')
      return includeDocs && attachments ? this.#rowsWithData(registry, reader) : this.#rows(reader);
    return reduce!.isSync ? this.#reduced(reader, reduce!) : this.#reducedLater(reader, reduce!);
  }

  /** The ranges that the query is about: one, or one for each key. */
  #ranges(reader: ViewReader): readonly ViewRange[] {
    if (this.#known?.reader !== reader) this.#known = { reader, ranges: this.#rangesIn(reader) };
    return this.#known.ranges;
  }

  #rangesIn(reader: ViewReader): ViewRange[] {
    const { keys, descending, shape } = this.request;
    if (keys === undefined) return [reader.range(this.request)];
    // Groups come in the order of the keys in any case, as in CouchDB.
    const inOrder = descending && shape === 'rows' ? keys.toReversed() : keys;
    return inOrder.map((key) => reader.rangeOfKey(key, this.request));
  }

  *#rows(first: ViewReader): Generator<Bytes> {
    const { descending, includeDocs } = this.request;
    let { skip, limit: left } = this.request;
    let separator = '\n';
    let reader: ViewReader | undefined = first;
    let text = '';
    const slice = this.source.database.runtime.slice();
    for (const whole of this.#ranges(first)) {
      let range: ViewRange | undefined = whole;
      while (range !== undefined && left > 0 && reader !== undefined) {
        let rows = 0;
        let last: Row | undefined;
        let isFull = false;
        for (const row of reader.rows(range, { descending, skip, limit: left })) {
          text += `${separator}${rowText(row)}${includeDocs ? this.#doc(row) : ''}}`;
          separator = ',\n';
          last = row;
          rows++;
          isFull = text.length >= pieceBytes || ((rows & 63) === 0 && slice.isOver);
          if (isFull) break;
        }
        skip = rows > 0 ? 0 : Math.max(0, skip - reader.place(range, descending).within);
        left -= rows;
        if (!isFull && !slice.isOver) break;
        yield asBytes(text);
        text = '';
        slice.restart();
        // Time has passed: the index may be another by now.
        reader = this.source.again();
        if (!isFull || reader === undefined) break;
        ({ range, skip } = placeBehind(reader, range, last!, descending));
      }
    }
    if (text !== '') yield asBytes(text);
  }

  #doc(row: Row): Bytes {
    return asBytes(`,"doc":${docTextOfRow(this.source.database, row, this.#docOptions)}`);
  }

  /** The same with the bytes of attachments in the documents; nothing of them is held in memory for long. */
  async *#rowsWithData(registry: DatabaseRegistry, first: ViewReader): AsyncGenerator<Bytes> {
    const { descending } = this.request;
    let { skip, limit: left } = this.request;
    let separator = '\n';
    for (const whole of this.#ranges(first)) {
      let range: ViewRange | undefined = whole;
      while (range !== undefined && left > 0) {
        const reader: ViewReader | undefined = this.source.again();
        if (reader === undefined) return;
        const rows = [...reader.rows(range, { descending, skip, limit: Math.min(left, rowsAtOnce) })];
        for (const row of rows) {
          yield asBytes(`${separator}${rowText(row)},"doc":`);
          yield* docPiecesOfRow(registry, this.source.database, row, this.#docOptions);
          yield asBytes('}');
          separator = ',\n';
        }
        skip = rows.length > 0 ? 0 : Math.max(0, skip - reader.place(range, descending).within);
        left -= rows.length;
        if (rows.length < rowsAtOnce) break;
        const next = this.source.again();
        if (next === undefined) return;
        ({ range, skip } = placeBehind(next, range, rows.at(-1)!, descending));
      }
    }
  }

  *#reduced(first: ViewReader, reduce: Extract<QueryReduce, { isSync: true }>): Generator<Bytes> {
    const { shape, descending } = this.request;
    if (shape === 'groups' && !descending && reduce.fold !== undefined)
      return yield* this.#folded(first, reduce.fold);
    let separator = '\n';
    for (const groups of this.#groups(first)) {
      if (groups.length === 0) {
        yield noBytes;
        continue;
      }
      const values = reduce.evaluate(groups.map(({ pieces }) => pieces));
      yield asBytes(separator + reducedTexts(groups, values));
      separator = ',\n';
    }
  }

  /** Groups in ascending order, reduced by what is built in. */
  *#folded(first: ViewReader, fold: Fold<unknown>): Generator<Bytes> {
    const { groupLevel, skip, limit } = this.request;
    let reader: ViewReader | undefined = first;
    let separator = '\n';
    let at = 0;
    let text = '';
    const slice = this.source.database.runtime.slice();
    for (const whole of this.#ranges(first)) {
      let range: ViewRange | undefined = whole;
      while (range !== undefined && reader !== undefined && at < skip + limit) {
        let last: Bytes | undefined;
        let groups = 0;
        let isFull = false;
        for (const part of reader.foldGroups(range, groupLevel, fold)) {
          groups++;
          last = part.group;
          if (at++ >= skip) {
            part.shown ??= inOnePiece(reducedText(part.text, fold.show(part.state)));
            text += separator + (part.shown as Bytes);
            separator = ',\n';
          }
          if (at >= skip + limit) break;
          isFull = text.length >= pieceBytes || ((groups & 63) === 0 && slice.isOver);
          if (isFull) break;
        }
        range = isFull ? reader.behindGroup(range, { key: last! }, groupLevel, false) : undefined;
        if (!isFull && !slice.isOver) break;
        yield asBytes(text);
        text = '';
        slice.restart();
        reader = this.source.again();
      }
    }
    if (text !== '') yield asBytes(text);
  }

  async *#reducedLater(
    first: ViewReader,
    reduce: Extract<QueryReduce, { isSync: false }>,
  ): AsyncGenerator<Bytes> {
    let separator = '\n';
    for (const groups of this.#groups(first)) {
      if (groups.length === 0) {
        yield noBytes;
        continue;
      }
      const values = await reduce.evaluate(groups.map(({ pieces }) => pieces));
      yield asBytes(separator + reducedTexts(groups, values));
      separator = ',\n';
    }
  }

  /**
   * What is reduced to one value each, some at a time, which are read at one moment. A range without rows has none. Where it
   * takes long to come to the first, batches are empty.
   */
  *#groups(first: ViewReader): Generator<GroupPieces[]> {
    const { groupLevel, descending, skip, limit } = this.request;
    const end = endOf(this.source.reduce);
    let reader: ViewReader | undefined = first;
    let batch: GroupPieces[] = [];
    let at = 0;
    const slice = this.source.database.runtime.slice();
    for (const whole of this.#ranges(first)) {
      let range: ViewRange | undefined = whole;
      while (range !== undefined && reader !== undefined && at < skip + limit) {
        let last: Row | undefined;
        let isFull = false;
        for (const { first: row, pieces } of groupsOf(reader, range, this.request, end)) {
          if (at++ >= skip)
            batch.push({ keyText: row === undefined ? nullText : groupKeyText(row, groupLevel), pieces });
          last = row;
          isFull = batch.length >= groupsAtOnce || ((at & 63) === 0 && slice.isOver);
          if (isFull || at >= skip + limit) break;
        }
        const isOver = isFull || slice.isOver;
        // Where all rows of a range are one group, there is nothing behind it.
        range =
          isFull && last !== undefined ? reader.behindGroup(range, last, groupLevel, descending) : undefined;
        if (!isOver) continue;
        yield batch;
        batch = [];
        slice.restart();
        reader = this.source.again();
      }
    }
    if (batch.length > 0) yield batch;
  }
}

interface GroupPieces {
  keyText: Bytes;
  pieces: readonly Piece[];
}

function groupsOf(
  reader: ViewReader,
  range: ViewRange,
  { shape, groupLevel, descending }: ViewRequest,
  end: RowEnd | undefined,
): Iterable<FoundGroup> {
  if (shape === 'groups') return reader.groups(range, groupLevel, descending, end);
  const pieces = reader.pieces(range, end);
  return pieces.length === 0 ? [] : [{ pieces }];
}

const nullText = asBytes('null');

/** Without its end, where a document may follow. */
const rowText = ({ id, keyText, value }: Row): Bytes =>
  asBytes(`{"id":${quoteId(id)},"key":${keyText},"value":${value}`);
