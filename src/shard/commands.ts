import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { RevPath } from '../revisions/tree.js';
import type { CopiedTable, Split } from './split.js';

/**
 * Every change to a shard is one of these, applied by one deterministic function (`apply.ts`). Whatever is random,
 * timed or asked of somebody else has happened before; a command holds all that its outcome depends on, beside the
 * shard itself. `command-codec.ts` has their stored form.
 */
export type Command = EditCommand | LocalCommand | PurgeCommand | CompactCommand | SplitCommand;

interface ShardCommand {
  /** The database's instance number. */
  instance: number;
  shard: number;
  /** Whether the database counts what each of its partitions holds. */
  partitioned?: true;
}

/** A new revision made here: it continues a leaf, or begins the document. */
export interface InteractiveEdit {
  id: Bytes;
  /** The revision the client had. */
  parent: Rev | undefined;
  path: undefined;
  deleted: boolean;
  /** Its text and attachments, see `content.ts`. */
  body: Bytes;
}

/** A revision made elsewhere, with its history. */
export interface ReplicatedEdit {
  id: Bytes;
  parent: undefined;
  path: RevPath;
  deleted: boolean;
  body: Bytes;
}

export type Edit = InteractiveEdit | ReplicatedEdit;

export interface EditCommand extends ShardCommand {
  type: 'edit';
  edits: Edit[];
  revs_limit: number;
  /** The bytes of small blobs that the edits bring, by digest. */
  small_blobs?: ReadonlyMap<string, Bytes>;
  /** The blobs that are there as files, and kept from being removed until the command is done. */
  stored_blobs?: ReadonlySet<string>;
}

/** Local documents have no history: the last writer wins. */
export interface LocalEdit {
  id: Bytes;
  /** The number behind `0-`; 0 removes the document. */
  rev: number;
  body: Bytes;
}

export interface LocalCommand extends ShardCommand {
  type: 'local';
  edits: LocalEdit[];
}

export interface PurgeCommand extends ShardCommand {
  type: 'purge';
  /** Names the request, so that the same purge is recognised. */
  uuid: string;
  purges: { id: Bytes; revs: Rev[] }[];
}

/** Forgets the bodies of superseded revisions of these documents, and purges beyond the limit. */
export interface CompactCommand extends ShardCommand {
  type: 'compact';
  ids: Bytes[];
  purged_infos_limit: number;
}

/**
 * One step of the division of a shard in two. Numbers of changes and purges are looked up before: those that are gone when
 * the step is taken are passed over.
 */
export interface SplitCommand extends ShardCommand {
  type: 'split';
  step: SplitStep;
  /** The shards that the database began with. */
  q: number;
  /** For `copy` and `remove`. */
  table: CopiedTable;
  numbers: number[];
  /** For `copy`: the numbers are all there are behind the one and up to the other. */
  after: number;
  upTo: number;
  /** For `remove`: the shard whose records they are. */
  of: number;
}

export type SplitStep = 'begin' | 'copy' | 'swap' | 'abort' | 'remove' | 'end';

/** Where a split stands. */
export interface SplitProgress {
  /** Whether the shard is gone, and its targets count. */
  isSplit: boolean;
  /** What is still to be done, if anything. */
  split: Split | undefined;
}

/** What became of an edit: the new revision; undefined for a conflict; or a blob that it names is not there. */
export type EditResult = Rev | undefined | 'missing_blob';

export interface Results {
  edit: EditResult[];
  local: undefined;
  /** The revisions removed, for each document in the order of the command. */
  purge: Rev[][];
  compact: undefined;
  split: SplitProgress;
}

export type ResultOf<C extends Command> = Results[C['type']];
