import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { RevPath } from '../revisions/tree.js';
import type { CopiedTable, Split } from './split.js';

/**
 * Every change to a shard is one of these, applied by one deterministic function (`apply.ts`). Whatever is random,
 * timed or requested elsewhere has happened before; a command holds all that its outcome depends on, beside the
 * shard itself. `command-codec.ts` has their stored form.
 */
export type Command = WholeCommand | FragmentCommand | AssembledCommand;

/** Those that mean something by themselves. */
export type WholeCommand =
  | EditCommand
  | LocalCommand
  | PurgeCommand
  | CompactCommand
  | SplitCommand
  | ValidatorsCommand
  | CloseCommand;

interface ShardCommand {
  /** Names the command where a log may repeat it: it is applied once, see `command-window.ts`. */
  id?: Bytes;
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
  /**
   * The digest of the validation functions that the documents were checked against; absent where they are not subject to
   * any. Where it is not the group's, results are `retry`. See `validators.ts`.
   */
  validators?: Bytes | undefined;
  /** Set while the database is compacted: bodies that the edits supersede are forgotten at once. */
  compacting?: true;
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
  /** As for edits: needed to purge a design document with a validation function. */
  validators?: Bytes | undefined;
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
  /** For `remove`: the shard whose records they are. For `begin`: the first number that no shard of the database has had. */
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

/** Sets what the group knows of the validation functions of its database. */
export interface ValidatorsCommand extends ShardCommand {
  type: 'validators';
  /** Where given and not what the group knows, nothing is done. */
  expected: Bytes | undefined;
  value: Bytes;
}

/** Closes the group, or opens it again. Closed, it refuses every other command: its shards are moving to other groups. */
export interface CloseCommand extends ShardCommand {
  type: 'close';
  closed: boolean;
}

/** A piece of a command that is too large for one: kept in the group until an `AssembledCommand` uses it. */
export interface FragmentCommand extends ShardCommand {
  type: 'fragment';
  /** What pieces of one command have in common. */
  upload: Bytes;
  at: number;
  bytes: Bytes;
}

/** Applies the command that was brought by fragments. */
export interface AssembledCommand extends ShardCommand {
  type: 'assembled';
  upload: Bytes;
  fragments: number;
}

/**
 * What became of an edit: the new revision; undefined for a conflict; a blob that it names is not there; or it has to be
 * validated again.
 */
export type EditResult = Rev | undefined | 'missing_blob' | 'retry';

/** The revisions removed from a document; `retry` where it is a design document with a validation function. */
export type PurgeResult = Rev[] | 'retry';

export interface Results {
  edit: EditResult[];
  local: undefined;
  /** For each document in the order of the command. */
  purge: PurgeResult[];
  compact: undefined;
  split: SplitProgress;
  /** Whether it was set. */
  validators: boolean;
  close: undefined;
  fragment: undefined;
  /** What the command gives that was assembled. */
  assembled: unknown;
}

export type ResultOf<C extends Command> = Results[C['type']];
