import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { decodeDocRecord, decodeWinner, plainHeadBytes, plainRev } from '../shard/doc-record.js';
import { decodeLocal } from '../shard/local-record.js';
import { allIds, type DocEntry, type DocTable } from '../shard/group-reader.js';
import { designIds } from '../shard/walk-docs.js';
import { hasAttachments } from '../shard/content.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { docPieces } from './doc-pieces.js';
import { designPrefix, localPrefix } from '../shard/doc-id.js';
import { conflictsMember, quotedText, quoteId, quoteRev, shortRow } from '../shard/doc-text.js';
import { keyRange, type Bounds, type KeyRange } from '../shard/key-range.js';
import { localRow } from './local-row.js';
import { winnerText } from './open-doc.js';
import { partitionRange } from '../shard/partitions.js';
import type { Show } from '../node/read-gate.js';

/** Which documents a listing shows. */
export type ListingKind = 'all' | 'design' | 'local';

export interface ListQuery extends Bounds {
  skip: number;
  limit: number;
  includeDocs: boolean;
  conflicts: boolean;
  /** With the documents: their attachments too. */
  attachments: boolean;
  encodingInfo: boolean;
  /** Of all documents only those of a partition. */
  partition?: Bytes | undefined;
  /** Hides what the user must not see of documents. */
  show?: Show | undefined;
}

/** Rows are handed on in pieces of about this size, or of what is found in one slice of time. */
const pieceBytes = 64 * 1024;
const pieceRows = 2_000;
const rowsAtOnce = 50;

/**
 * The rows of a listing, as text, piece by piece. Each piece is read at one moment; the next goes on behind the last
 * key, so a document saved meanwhile is seen if it lies ahead. No read is held open while the client is waited for.
 */
export class Listing {
  readonly #range: KeyRange;
  readonly #space: KeyRange;
  readonly #table: DocTable;

  constructor(
    private readonly database: Database,
    private readonly kind: ListingKind,
    private readonly query: ListQuery,
  ) {
    this.#table = kind === 'local' ? 'local' : 'live';
    this.#space = spaceOf(kind, query.partition);
    this.#range = keyRange(noBytes, this.#space, query);
  }

  /** Documents that the listing could show without bounds. */
  total(): number {
    const { partition } = this.query;
    if (partition !== undefined) return this.database.collection.partition(partition).doc_count;
    if (this.kind === 'all') return this.database.total('doc_count');
    return this.database.collection.countDocs(this.#table, this.#space);
  }

  /** Resolves when `offset` can be asked. */
  ready(): Promise<void> {
    return this.database.collection.ranked();
  }

  get isReady(): boolean {
    return this.#beginsFirst || this.database.collection.isRanked;
  }

  /** Nothing stands before the bounds. */
  get #beginsFirst(): boolean {
    return !this.query.descending && this.#range.start === this.#space.start && this.kind !== 'design';
  }

  /**
   * Rows before the bounds, in the order of the listing, and those that are skipped, even beyond the bounds; of design
   * documents, as in CouchDB, those of `_all_docs`.
   */
  offset(): number {
    if (this.kind === 'local') return 0;
    const before = this.#docsBefore(this.kind === 'design' ? allIds : this.#space);
    if (this.kind !== 'design' && this.query.skip === 0) return before;
    return Math.min(this.total(), before + this.query.skip);
  }

  #docsBefore(space: KeyRange): number {
    const { collection } = this.database;
    const { start, end } = this.#range;
    if (this.query.descending) return collection.docsBefore(space.end) - collection.docsBefore(end);
    return this.#beginsFirst ? 0 : collection.docsBefore(start) - collection.docsBefore(space.start);
  }

  *pieces(): Generator<Bytes> {
    const { descending, includeDocs } = this.query;
    const isWhole = includeDocs || this.kind === 'local';
    const range = { ...this.#range };
    let { skip, limit: left } = this.query;
    let separator = '\n';
    while (left > 0 && range.start < range.end) {
      const slice = this.database.runtime.slice();
      let text = '';
      let rows = 0;
      let last: Bytes | undefined;
      const found = this.database.collection.docs(this.#table, {
        start: range.start,
        end: range.end,
        reverse: descending,
        offset: skip,
        limit: Math.min(left, pieceRows),
        headBytes: isWhole ? Infinity : plainHeadBytes,
        // A row is about twice as long as the part of the record that it is made of.
        bytesMax: isWhole ? pieceBytes : pieceBytes / 2,
      });
      for (const entry of found) {
        text += separator + this.#row(entry);
        separator = ',\n';
        last = entry.key;
        rows++;
        // Not at a piece: rows are longer than records, and what is left of them would be read again.
        if (text.length >= 2 * pieceBytes || ((rows & 63) === 0 && slice.isOver)) break;
      }
      skip = 0;
      left -= rows;
      if (last === undefined) return;
      if (descending) range.end = last;
      else range.start = asBytes(last + '\0');
      yield asBytes(text);
    }
  }

  /** The same rows with the bytes of attachments in the documents; nothing of them is held in memory for long. */
  async *piecesWithData(registry: DatabaseRegistry): AsyncGenerator<Bytes> {
    const wanted = { after: -1, encodingInfo: this.query.encodingInfo };
    const range = { ...this.#range };
    let { skip, limit: left } = this.query;
    let separator = '\n';
    while (left > 0 && range.start < range.end) {
      const found = this.database.collection.docs(this.#table, {
        ...range,
        reverse: this.query.descending,
        offset: skip,
        limit: Math.min(left, rowsAtOnce),
      });
      if (found.length === 0) return;
      for (const entry of found) {
        const view = decodeWinner(entry.value);
        const id = view.longId ?? entry.key;
        const stored = this.database.collection.winnerBody(this.database.shardOf(id), view);
        const content = this.query.show === undefined ? stored : this.query.show(id, stored);
        if (content instanceof RequestError || !hasAttachments(content))
          yield asBytes(separator + this.#row(entry));
        else {
          const quoted = quoteId(id);
          const head = `{"id":${quoted},"key":${quoted},"value":{"rev":${quoteRev(view)}}`;
          const before = asBytes(`${separator}${head},"doc":`);
          const conflicts = this.query.conflicts && view.conflicted;
          const extra = conflicts ? conflictsMember(decodeDocRecord(entry.value)) : noBytes;
          const doc = { id, rev: view, content, extra, plain: true };
          yield* docPieces(registry, this.database, doc, wanted, before);
          yield asBytes('}');
        }
        separator = ',\n';
      }
      const last = found.at(-1)!.key;
      if (this.query.descending) range.end = last;
      else range.start = asBytes(last + '\0');
      left -= found.length;
      skip = 0;
    }
  }

  #row({ key, value }: DocEntry): Bytes {
    if (this.kind === 'local') return localRow(key, decodeLocal(value), this.query.includeDocs);
    if (!this.query.includeDocs) return this.#shortRow(key, value);
    const view = decodeWinner(value);
    const id = view.longId ?? key;
    const quoted = quoteId(id);
    const rev = quoteRev(view);
    const row = `{"id":${quoted},"key":${quoted},"value":{"rev":${rev}}`;
    if (this.query.conflicts && view.conflicted) {
      const doc = winnerText(this.database, id, decodeDocRecord(value), true, this.query.show);
      return asBytes(`${row},"doc":${doc}}`);
    }
    const body = view.body ?? this.database.collection.winnerBody(this.database.shardOf(id), view);
    const shown = this.query.show === undefined ? body : this.query.show(id, body);
    if (shown instanceof RequestError) return asBytes(`${row},"doc":null}`);
    return asBytes(`${row},"doc":${quotedText(quoted, rev, shown, noBytes, this.query.encodingInfo)}}`);
  }

  /** A row without its document: only the beginning of the record has been read. */
  #shortRow(key: Bytes, head: Bytes): Bytes {
    let rev = plainRev(head);
    let id = key;
    if (rev === undefined) {
      // Read again, by the key: the id may be longer, and is in the part of the record that was left out.
      const { collection } = this.database;
      const [record] = collection.docs(this.#table, { start: key, end: asBytes(`${key}\0`), limit: 1 });
      const view = decodeWinner(record!.value);
      rev = quoteRev(view);
      id = view.longId ?? id;
    }
    return shortRow(id, rev);
  }
}

/** A key that was asked for: as JSON text, and as an id if it is a string. */
export interface NamedKey {
  text: Bytes;
  id: Bytes | undefined;
}

/** One row for each key that was asked for, in that order, also where there is no such document. */
export function* rowsForKeys(
  database: Database,
  kind: ListingKind,
  keys: Iterable<NamedKey>,
  options: KeyOptions,
): Generator<Bytes> {
  let text = '';
  let separator = '\n';
  const slice = database.runtime.slice();
  for (const { text: key, id } of keys) {
    const row = keyRow(database, kind, key, id, options);
    if (row !== undefined) {
      text += separator + row;
      separator = ',\n';
    }
    if (text.length < pieceBytes && !slice.isOver) continue;
    yield asBytes(text);
    text = '';
    slice.restart();
  }
  if (text !== '') yield asBytes(text);
}

/** The same rows with the bytes of attachments in the documents. */
export async function* rowsForKeysWithData(
  registry: DatabaseRegistry,
  database: Database,
  kind: ListingKind,
  keys: Iterable<NamedKey>,
  options: KeyOptions & Pick<ListQuery, 'encodingInfo'>,
): AsyncGenerator<Bytes> {
  const wanted = { after: -1, encodingInfo: options.encodingInfo };
  let separator = '\n';
  for (const { text: key, id } of keys) {
    const row = keyRow(database, kind, key, id, { ...options, includeDocs: false });
    if (row === undefined) continue;
    const doc = kind === 'local' || id === undefined ? undefined : database.collection.doc(id);
    const stored =
      doc?.deleted === false ? database.collection.winnerBody(database.shardOf(id!), doc) : noBytes;
    const content = options.show === undefined ? stored : options.show(id ?? noBytes, stored);
    if (doc === undefined || content instanceof RequestError || !hasAttachments(content)) {
      yield asBytes(separator + keyRow(database, kind, key, id, options)!);
    } else {
      const extra = options.conflicts ? conflictsMember(doc) : noBytes;
      const opened = { id: id!, rev: doc.rev, content, extra, plain: true };
      yield* docPieces(registry, database, opened, wanted, asBytes(`${separator}${row.slice(0, -1)},"doc":`));
      yield asBytes('}');
    }
    separator = ',\n';
  }
}

type KeyOptions = Pick<ListQuery, 'includeDocs' | 'conflicts' | 'show'>;

function keyRow(
  database: Database,
  kind: ListingKind,
  key: Bytes,
  id: Bytes | undefined,
  { includeDocs, conflicts, show }: KeyOptions,
): Bytes | undefined {
  const prefix = kind === 'design' ? designPrefix : kind === 'local' ? localPrefix : '';
  if (prefix !== '' && !id?.startsWith(prefix)) return undefined;
  // As in CouchDB, `_all_docs` has no local documents, but finds those that are named.
  if (id?.startsWith(localPrefix) && (kind === 'local' || show === undefined)) {
    const record = database.collection.local(id);
    return record === undefined ? missingRow(key) : localRow(id, record, includeDocs);
  }
  const doc = id === undefined ? undefined : database.collection.doc(id);
  if (id === undefined || doc === undefined) return missingRow(key);
  const row = `{"id":${key},"key":${key},"value":{"rev":${quoteRev(doc.rev)}${doc.deleted ? ',"deleted":true' : ''}}`;
  if (!includeDocs) return asBytes(row + '}');
  return asBytes(`${row},"doc":${doc.deleted ? 'null' : winnerText(database, id, doc, conflicts, show)}}`);
}

const missingRow = (key: Bytes): Bytes => asBytes(`{"key":${key},"error":"not_found"}`);

function spaceOf(kind: ListingKind, partition: Bytes | undefined): KeyRange {
  if (partition !== undefined) return partitionRange(partition);
  return kind === 'design' ? designIds : allIds;
}
