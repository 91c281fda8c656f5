import type { Bytes } from '../base/bytes.js';
import type { SentInput } from '../shard/document-input.js';
import type { Rev } from '../revisions/rev.js';

/**
 * One side of a replication: a database of this server, or one somewhere behind HTTP. The replicator knows nothing
 * else of them, and one suite of tests holds both kinds to the same behaviour.
 *
 * Every call either does its work, or throws: a `RequestError` for what trying again would not change, a `PeerFailure` for
 * what it might. Calls may be repeated: nothing is done twice.
 */
export interface Peer {
  /** For messages, tasks and logs: without credentials. */
  readonly address: string;
  /**
   * Finds out whether the database is there and may be read, and whether there is nothing in it, so that it need not be asked
   * what it lacks.
   */
  open(): Promise<{ isEmpty: boolean }>;
  /** Makes the database; one that is there already is left as it is. */
  create(params: Readonly<Record<string, string>>): Promise<void>;
  /** The changes behind a place, in pages. A continuous feed waits for more when there are none, and ends only by `close`. */
  changes(request: ChangesRequest): AsyncIterable<ChangesPage>;
  /** Which of the revisions are not here. */
  revsDiff(changes: readonly Change[]): Promise<Missing[]>;
  /**
   * Reads revisions, or those that have taken their place, and gives them out as they come, several at a time. One that
   * is gone, as by a purge, is told as such.
   */
  readDocs(wanted: readonly Missing[], counts: ReadCounts): AsyncIterable<readonly ReadResult[]>;
  /** Saves revisions as they are, and tells which were refused. */
  writeDocs(docs: readonly DocRevision[]): Promise<WriteFailure[]>;
  /** Saves one whose attachments are streamed. Gives the refusal, if it met one. */
  writeWithAttachments(doc: DocRevision): Promise<WriteFailure | undefined>;
  /** A local document as a value; undefined where there is none. */
  readLocal(id: string): Promise<LocalDoc | undefined>;
  /** Saves a local document, whatever was there before. */
  writeLocal(id: string, doc: LocalDoc): Promise<void>;
  /** A document as a value; undefined where there is none. For design documents with filters. */
  readDoc(id: string): Promise<LocalDoc | undefined>;
  /** Makes sure that what was written is on disk. */
  commit(): Promise<void>;
  close(): Promise<void>;
}

export type LocalDoc = Record<string, unknown>;

/** A place in a feed, as the source names it: text, a number, or in old relatives of the interface a list. */
export type Seq = string | number | readonly unknown[];

export interface Change {
  id: Bytes;
  revs: readonly Rev[];
}

export interface ChangesPage {
  changes: Change[];
  /** The place behind the page and all that was passed over. */
  lastSeq: Seq;
  /** How many changes follow; null where the source does not say. */
  pending: number | null;
}

/** Which changes are replicated. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'doc_ids'; ids: readonly string[] }
  | { kind: 'selector'; selector: Record<string, unknown> }
  /** `ddoc/name`, or one of the built-in ones, whose names begin with an underscore. */
  | { kind: 'filter'; name: string; params: Readonly<Record<string, unknown>> };

export interface ChangesRequest {
  since: Seq;
  continuous: boolean;
  selection: Selection;
  winningRevsOnly: boolean;
  /** Changes in one page, about. */
  pageSize: number;
}

/** Revisions of a document that one side lacks, and leaves it has that they may descend from. */
export interface Missing {
  id: Bytes;
  revs: readonly Rev[];
  ancestors: readonly Rev[];
}

/** How revisions were read. */
export interface ReadCounts {
  bulkGetAttempts: number;
  bulkGetDocs: number;
}

export type ReadResult = DocRevision | Unread;

/** A revision that could not be read. */
export interface Unread {
  unread: 'gone' | 'refused';
  id: Bytes;
  rev: Rev | undefined;
  reason: string;
}

/** A revision on its way from one side to the other. */
export interface DocRevision {
  readonly id: Bytes;
  readonly rev: Rev;
  /** Of its text, about. */
  readonly bytes: number;
  readonly hasAttachments: boolean;
  /** The attachments whose bytes come along. All others are stubs for what an ancestor on the other side has. */
  readonly carried: readonly CarriedAttachment[];
  /** As JSON. Carried attachments are announced as following. */
  text(): Bytes;
  /** The same as a buffer, which must not change. */
  json(): Buffer;
  /** For a database of this server; refuses what it cannot hold. */
  input(): SentInput;
  /** The same with all its attachments, for a side that lacks what the stubs stand for. */
  carryingAll(): DocRevision;
}

export interface CarriedAttachment {
  name: string;
  type: string;
  /** Of the bytes that come, which are compressed where `gzip` says so. */
  length: number;
  gzip: boolean;
  open(): Promise<AsyncIterable<Buffer>>;
}

export interface WriteFailure {
  id: Bytes;
  rev: Rev;
  error: string;
  reason: string;
}

/** What went wrong may be right the next time: a connection that broke, a server that is busy. */
export class PeerFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PeerFailure';
  }
}
