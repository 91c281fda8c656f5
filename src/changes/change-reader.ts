import { asBytes, type Bytes } from '../base/bytes.js';
import { hasAttachments } from '../shard/content.js';
import { isDeletedChange, plainChangeId, plainChangePos } from '../shard/change-record.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { docPieces } from '../documents/doc-pieces.js';
import { isPlainText } from '../shard/doc-text.js';
import { followPositions, SequenceWriter, type Positions } from '../node/sequence.js';
import type { ShardMap } from '../shard/shard-map.js';
import { changedDoc, rowHead } from './change-rows.js';
import type { ChangesView } from './changes-view.js';
import { chooseChanges, stillThere, type Chosen } from './choose-changes.js';
import { gapOf, mergeChanges, type ChangeEntry, type End, type Span } from './merge-changes.js';
import { countPending } from './pending.js';

/** What stands between the id and the hash of a short row, by generation. */
const revOpenings = Array.from({ length: 128 }, (_, pos) => `","changes":[{"rev":"${pos}-`);

/**
 * Rows as they are sent. A part of a row whose end is yet to come counts as none; there may also be nothing at all, when there was
 * nothing to show for a while.
 */
export interface Piece {
  bytes: Buffer;
  rows: number;
}

/** Rows are handed on in pieces of about this size, or of what is read in one slice of time. */
const pieceBytes = 64 * 1024;
const noBytes = Buffer.alloc(0);
const rowsAtOnce = { first: 200, least: 16, most: 2_000 };

/**
 * Reads changes from one place to another, as rows, piece by piece. Each piece is read at one moment, and the next goes
 * on behind it; no read is held open in between. A change that is gone when its turn comes has been replaced by a later
 * one, which stands ahead.
 */
export class ChangeReader {
  /** The shards that places here are about. */
  #shards: ShardMap;
  #writer: SequenceWriter;
  /** Descending: the lower end. */
  #floor: Positions | undefined;
  /** Of each shard that is read from its beginning: changes passed so far. */
  #passed: (number | undefined)[];
  #rowsAtOnce = rowsAtOnce.first;
  /** Rows so far; counted only where it matters which of them have sequences. */
  #rows = 0;
  /** What a filter or a look-up has chosen and is yet to be shown. */
  #chosen: Chosen | undefined;
  /** The row under way whose attachments are being read. */
  #open: AsyncGenerator<Bytes, Bytes | undefined> | undefined;
  #lastToken: Bytes | undefined;
  #isClosed = false;

  /** Descending, `start` is the upper end, and `floor` the lower one. */
  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly database: Database,
    private readonly view: ChangesView,
    start: Positions,
    floor?: Positions,
  ) {
    this.#shards = database.collection.shards;
    this.#writer = new SequenceWriter(database, start);
    this.#floor = floor && followPositions(database, floor);
    const isPlain = view.docIds === undefined && view.filter === undefined;
    this.#passed = this.positions.map((seq) => (seq === 0 && isPlain ? 0 : undefined));
  }

  get positions(): Positions {
    return this.#writer.positions;
  }

  /** Where a feed can go on: behind the last row and all that was passed over since. */
  token(): Bytes {
    return this.#lastToken ?? this.#writer.token();
  }

  /** How many changes the reader has not come to. */
  async pending(): Promise<number> {
    this.#followShards();
    if (this.#floor === undefined) return await countPending(this.database, this.positions, this.#passed);
    const behindFloor = await countPending(this.database, this.#floor, []);
    return behindFloor - (await countPending(this.database, this.positions, []));
  }

  /** The next rows up to a place, at most so many; undefined when there are none. */
  next(most: number, upTo: Positions): Piece | undefined | Promise<Piece | undefined> {
    if (this.#isClosed) return undefined;
    if (this.#open !== undefined) return this.#continueRow(this.#open);
    this.#followShards();
    if (most <= 0 || (this.#chosen === undefined && gapOf(this.#span(upTo)) === 0)) return undefined;
    if (this.view.attachments && this.view.includeDocs) return this.#nextWithData(upTo);
    if (this.view.filter !== undefined || this.view.docIds !== undefined) return this.#nextChosen(most, upTo);
    return this.#nextPlain(most, upTo);
  }

  /** Ends reading, also in the middle of a search or a row. */
  close(): void {
    this.#isClosed = true;
    const open = this.#open;
    this.#open = undefined;
    // The error of a read that fails now is not reported.
    open?.return(undefined).catch(() => undefined);
  }

  #span(upTo: Positions): Span {
    return this.#floor === undefined
      ? { after: this.positions, upTo: followPositions(this.database, upTo), descending: false }
      : { after: this.#floor, upTo: this.positions, descending: true };
  }

  /** Where a shard was split since the last piece, goes on with what it was split into; what was chosen there is chosen again. */
  #followShards(): void {
    const { shards } = this.database.collection;
    if (shards === this.#shards) return;
    this.#shards = shards;
    this.#writer = new SequenceWriter(this.database, this.positions);
    this.#floor = this.#floor && followPositions(this.database, this.#floor);
    this.#passed = [];
    this.#chosen = undefined;
  }

  #nextPlain(most: number, upTo: Positions): Piece | undefined {
    for (let span = this.#span(upTo); gapOf(span) > 0; span = this.#span(upTo)) {
      const { entries, ends } = mergeChanges(this.database, span, Math.min(most, this.#rowsAtOnce));
      const piece = this.#render(entries, most);
      if (piece.taken === entries.length) this.#settle(ends);
      if (piece.rows > 0 || piece.taken < entries.length) return piece;
    }
    return undefined;
  }

  async #nextChosen(most: number, upTo: Positions): Promise<Piece | undefined> {
    for (;;) {
      const chosen = await this.#choose(upTo);
      if (chosen === undefined) return undefined;
      const piece = this.#render(chosen.entries, most);
      chosen.entries.splice(0, piece.taken);
      this.#settleChosen(chosen);
      if (piece.rows > 0) return piece;
      // A filter that passes few changes must not block the event loop.
      await this.database.runtime.nextTurn();
      if (this.#isClosed) return undefined;
    }
  }

  /** What is left of the last choice, or a new one; undefined at the end. */
  async #choose(upTo: Positions): Promise<Chosen | undefined> {
    for (;;) {
      this.#followShards();
      if (this.#chosen !== undefined) {
        this.#chosen.entries = stillThere(this.database, this.#chosen.entries);
        return this.#chosen;
      }
      const span = this.#span(upTo);
      if (gapOf(span) === 0) return undefined;
      const chosen = await chooseChanges(this.database, span, this.view);
      // While a filter thought about them, what it was given may have moved.
      if (this.database.collection.shards === this.#shards) this.#chosen = chosen;
    }
  }

  #settleChosen({ entries, ends }: Chosen): void {
    if (entries.length > 0) return;
    this.#settle(ends);
    this.#chosen = undefined;
  }

  #settle(ends: readonly End[]): void {
    for (const { shard, seq } of ends) this.#writer.move(shard, seq);
  }

  #render(entries: readonly ChangeEntry[], most: number): Piece & { taken: number } {
    const slice = this.database.runtime.slice();
    let text = '';
    let rows = 0;
    let taken = 0;
    for (; taken < entries.length; taken++) {
      if (rows >= most || text.length >= pieceBytes) break;
      if ((taken & 63) === 63 && slice.isOver) break;
      const entry = entries[taken]!;
      this.#go(entry);
      const row = this.#plainRow(entry) ?? this.#row(entry);
      if (this.#floor !== undefined) this.#goBack(entry);
      if (row === undefined) continue;
      text += row;
      rows++;
    }
    if (rows > 0) {
      const wanted = Math.ceil((pieceBytes * rows) / text.length) + 8;
      this.#rowsAtOnce = Math.max(rowsAtOnce.least, Math.min(rowsAtOnce.most, wanted));
    }
    return { bytes: Buffer.from(text, 'latin1'), rows, taken };
  }

  #row(entry: ChangeEntry): Bytes | undefined {
    const { row: rowOf, framing } = this.view;
    const seq = this.#seq();
    const row = rowOf(entry, seq);
    if (row === undefined) return undefined;
    this.#rows++;
    return asBytes(framing.before + row + framing.after(seq));
  }

  /** The row that nearly every change has, of few and long parts: a feed is mostly the putting together of texts. */
  #plainRow({ value, revs }: ChangeEntry): Bytes | undefined {
    const { plain } = this.view;
    if (plain === undefined || revs !== undefined) return undefined;
    const pos = plainChangePos(value);
    if (pos === undefined) return undefined;
    const id = value.slice(plainChangeId);
    if (!isPlainText(id)) return undefined;
    const { total, left, moving, right } = this.#writer;
    const end = isDeletedChange(value) ? plain.deletedEnd : plain.end;
    return asBytes(
      plain.opening +
        total +
        left +
        moving +
        right +
        id +
        revOpenings[pos]! +
        value.slice(4, plainChangeId) +
        end,
    );
  }

  #go({ shard, seq }: ChangeEntry): void {
    this.#writer.move(shard, seq);
    if (this.#passed[shard] !== undefined) this.#passed[shard]++;
  }

  /** The sequence of the row at hand, as JSON. */
  #seq(): Bytes {
    const { seqInterval, seqFirst } = this.view;
    if (seqInterval > 1 && this.#rows % seqInterval !== seqFirst) return asBytes('null');
    return asBytes(`"${this.#writer.token()}"`);
  }

  /** Descending, a row's own sequence is the place behind it, and the reader goes on before it. */
  #goBack({ shard, seq }: ChangeEntry): void {
    this.#lastToken = this.#writer.token();
    this.#writer.move(shard, seq - 1);
  }

  /** One row at a time, whose attachments are read as they are wanted. */
  async #nextWithData(upTo: Positions): Promise<Piece | undefined> {
    const chosen = await this.#choose(upTo);
    if (chosen === undefined) return undefined;
    const entry = chosen.entries.shift();
    if (entry !== undefined) {
      this.#go(entry);
      this.#open = this.#rowPieces(entry, this.#seq());
      if (this.#floor !== undefined) this.#goBack(entry);
    }
    this.#settleChosen(chosen);
    return this.#open === undefined ? { bytes: noBytes, rows: 0 } : await this.#continueRow(this.#open);
  }

  async #continueRow(row: AsyncGenerator<Bytes, Bytes | undefined>): Promise<Piece> {
    const { value, done } = await row.next();
    if (done === true) this.#open = undefined;
    return { bytes: Buffer.from(value ?? '', 'latin1'), rows: done === true && value !== undefined ? 1 : 0 };
  }

  /** Ends with the last part of the row, or without one where there is nothing to show. */
  async *#rowPieces(entry: ChangeEntry, seq: Bytes): AsyncGenerator<Bytes, Bytes | undefined> {
    const { framing, encodingInfo, allLeaves, row: rowOf } = this.view;
    const doc = changedDoc(this.database, entry, this.view);
    if (doc === undefined) return undefined;
    this.#rows++;
    if (doc === null || !hasAttachments(doc.content)) {
      const row = rowOf(entry, seq);
      return row === undefined ? undefined : asBytes(framing.before + row + framing.after(seq));
    }
    const before = asBytes(`${framing.before}${rowHead(entry, seq, allLeaves)},"doc":`);
    yield* docPieces(this.registry, this.database, doc, { after: -1, encodingInfo }, before);
    return asBytes(`}${framing.after(seq)}`);
  }
}
