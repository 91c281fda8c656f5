import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import type { RevNode, RevTree } from '../revisions/tree.js';
import type { NumberedEntry, Range } from '../storage/store.js';
import type { DocRecord, WinnerView } from './doc-record.js';
import type { KeyRange } from './key-range.js';
import type { LocalRecord } from './local-record.js';
import type { PartitionCounts } from './partition-counts.js';
import type { PurgeRecord } from './purge-record.js';
import type { ShardMap } from './shard-map.js';
import type { ShardState } from './shard-state.js';
import type { CopiedTable, Split } from './split.js';

/** A value, or a promise of it where it has to be fetched from somewhere else. */
export type Awaitable<T> = T | Promise<T>;

/** Tables whose keys are ids of documents. */
export type DocTable = 'live' | 'deleted' | 'local';

/** A record of one of these tables. */
export interface DocEntry {
  /** The id, or what stands for it where it is too long: the record has the id then. */
  key: Bytes;
  value: Bytes;
}

/** All keys of ids lie in between: no UTF-8 text begins with the byte 0xff. */
export const allIds: KeyRange = Object.freeze({ start: noBytes, end: asBytes('\xff') });

/** Which records are read in one batch. */
export interface DocsQuery extends KeyRange {
  /** From the end to the start. */
  reverse?: boolean;
  /** Records to pass over first. */
  offset?: number;
  limit: number;
  /** The batch ends with the record that brings it to so many bytes of keys and values. */
  bytesMax?: number;
  /** Where the beginning of each value is enough: so many bytes of it. There may be more. */
  headBytes?: number;
}

/** The range of a query in a table whose keys begin with `prefix`. Made member by member: spreading costs as much as a row. */
export function rangeBehind(prefix: Bytes, query: DocsQuery): Range {
  const { start, end, reverse = false, headBytes = Infinity, offset = 0, limit } = query;
  const keyFrom = prefix.length;
  return {
    start: asBytes(prefix + start),
    end: asBytes(prefix + end),
    reverse,
    headBytes,
    keyFrom,
    offset,
    limit,
  };
}

/** Changes of one shard, behind one sequence and up to another. */
export interface ChangesQuery {
  after: number;
  upTo: number;
  descending: boolean;
  limit: number;
}

/** A document by its id, with the key under which it was found before. */
export interface DocPlace {
  readonly id: Bytes;
  /** Gives the key that is remembered, or has it made. */
  docKey?(keyOf: (id: Bytes) => Bytes): Bytes;
}

/**
 * Reads a group: what is on disk as of its last commit. Batches are bounded, and each is read at one moment; what follows is
 * asked for by the next, which goes on behind the last key. A group of this node answers at once (`LocalReader`), which keeps
 * promises off the way of most requests.
 */
export interface GroupReader {
  readonly shards: ShardMap;
  /** The counters of the shards, by number. */
  readonly states: readonly ShardState[];
  /** Counts the commits in which design documents changed. */
  readonly designChanges: number;
  /** The bytes of files that its records and attachments take. */
  readonly fileBytes: number;

  /** The winning revision of a document, live or deleted. */
  winner(id: Bytes): Awaitable<WinnerView | undefined>;
  doc(id: Bytes): Awaitable<DocRecord | undefined>;
  /** The same without caching, for callers that read one document after the other, as replications do. */
  docUncached(id: Bytes): Awaitable<DocRecord | undefined>;
  /** The revisions of a document, for comparing them. */
  treeOnce(id: Bytes): Awaitable<RevTree | undefined>;
  /** The record of a live document. */
  liveRecord(place: DocPlace): Awaitable<Bytes | undefined>;
  /** The record of a deleted document. */
  deletedRecord(id: Bytes): Awaitable<Bytes | undefined>;
  /** The winner's body, wherever it stands. */
  winnerBody(shard: number, winner: Pick<WinnerView, 'body' | 'bodyRef' | 'bodyLength'>): Awaitable<Bytes>;
  /** The body of a revision, or undefined where it is no longer kept. */
  body(shard: number, doc: DocRecord, node: RevNode): Awaitable<Bytes | undefined>;
  bodyOnce(shard: number, doc: DocRecord, node: RevNode): Awaitable<Bytes | undefined>;
  local(id: Bytes): Awaitable<LocalRecord | undefined>;

  /** Records in the order of their ids. */
  docs(table: DocTable, query: DocsQuery): Awaitable<DocEntry[]>;
  countDocs(table: DocTable, range: KeyRange): Awaitable<number>;
  /** Resolves when `docsBefore` can be asked. */
  ranked(): Promise<void>;
  readonly isRanked: boolean;
  /** How many live documents have a key below this one. */
  docsBefore(key: Bytes): Awaitable<number>;

  /** In the order of sequences. */
  changes(shard: number, query: ChangesQuery): Awaitable<NumberedEntry[]>;
  change(shard: number, seq: number): Awaitable<Bytes | undefined>;
  /** How many changes a shard has behind a sequence; counts by walking. */
  countChanges(shard: number, after: number): Awaitable<number>;
  /** Resolves when `rankedChanges` can be asked. */
  changesRanked(): Promise<void>;
  /** The same as `countChanges`, from sums that are kept. */
  rankedChanges(shard: number, after: number): Awaitable<number>;

  /** The purges of a shard that are still remembered, the oldest first. */
  purges(shard: number): Awaitable<PurgeRecord[]>;
  partition(name: Bytes): Awaitable<PartitionCounts>;

  /** Whether a kept revision names the blob. */
  hasBlob(blob: string): Awaitable<boolean>;
  /** Whether a kept revision of that shard does. */
  shardHasBlob(shard: number, blob: string): Awaitable<boolean>;
  /** The bytes of a small blob; empty text for one that is kept as a file; undefined where no kept revision names it. */
  smallBlob(blob: string): Awaitable<Bytes | undefined>;

  /** The split under way in the group of a shard. */
  splitNear(shard: number): Awaitable<Split | undefined>;
  /** Numbers of records that a split copies or removes. */
  numbers(table: CopiedTable, shard: number, query: NumbersQuery): Awaitable<number[]>;
}

export interface NumbersQuery {
  first: number;
  last: number;
  limit: number;
}

type AtOnce<T> = {
  [Member in keyof T]: T[Member] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result extends Promise<void> ? Result : Exclude<Result, Promise<unknown>>
    : T[Member];
};

/** A reader whose groups are of this node: it answers at once. */
export type LocalReader = AtOnce<GroupReader>;
