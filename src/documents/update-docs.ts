import type { Bytes } from '../base/bytes.js';
import { badRequest, Unavailable, type RequestError } from '../base/errors.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import { StorageError } from '../base/storage-errors.js';
import { invalidRev, type Rev } from '../revisions/rev.js';
import type { Edit, EditResult, LocalEdit } from '../shard/commands.js';
import { PartlyStored } from '../shard/group-log.js';
import type { NewBlobs } from './attachments/new-blobs.js';
import type { Database } from '../node/database.js';
import { isLocalId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';

/** What became of a document, or why it could not be stored while others could. */
export type SavedEdit = EditResult | StorageError | RequestError;

export interface UpdateOptions {
  /** The attachments that they bring. */
  blobs?: Pick<NewBlobs, 'small' | 'stored'> | undefined;
  /** The digest of the validation functions that they were checked against. */
  validators?: Bytes | undefined;
}

/**
 * Saves documents, each on its own: there is no transaction over several. Gives what became of each, in their order. The
 * documents of a shard share a command; nearly always all reach the disk in the same commit. In the changes they stand in the
 * order of their ids, as in CouchDB.
 */
export async function updateDocs(
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
  options: UpdateOptions = {},
): Promise<SavedEdit[]> {
  const [only] = inputs;
  if (inputs.length === 1 && !isLocalId(only!.id)) return await updateOne(database, only!, newEdits, options);
  const { edits, locals, results } = await placeInputs(database, inputs, newEdits);
  const { instance } = database.record;
  const { blobs, validators } = options;
  const brought = blobs === undefined ? {} : { small_blobs: blobs.small, stored_blobs: blobs.stored };
  const work: Promise<void>[] = [];
  const failures: StorageError[] = [];
  /** Commands may be committed apart from each other: what one could not store, another may have stored. */
  const settle = async (
    at: readonly number[],
    submitted: Promise<EditResult[] | undefined>,
  ): Promise<void> => {
    try {
      const saved = await submitted;
      if (saved !== undefined) for (const [i, place] of at.entries()) results[place] = saved[i];
    } catch (error) {
      if (!(error instanceof StorageError)) throw inputs.length > 1 ? ofSome(error) : error;
      const stored = error instanceof PartlyStored ? error.results : [];
      if (stored.length === 0) failures.push(error);
      for (const [i, place] of at.entries()) results[place] = i < stored.length ? stored[i] : error;
    }
  };
  const common = { revs_limit: database.revsLimit, validators, ...brought };
  for (const [shard, { at, edits: list }] of edits) {
    const command = { type: 'edit', instance, shard, edits: list, ...common } as const;
    work.push(settle(at, database.submit(command)));
  }
  for (const [shard, { at, edits: list }] of locals)
    work.push(settle(at, database.submit({ type: 'local', instance, shard, edits: list })));
  await Promise.all(work);
  if (failures.length > 0 && failures.length === work.length) throw failures[0]!;
  return results;
}

interface PlacedInputs {
  edits: Placed<Edit>;
  locals: Placed<LocalEdit>;
  /** In the order of the inputs: what is known of their results before any of them is saved. */
  results: SavedEdit[];
}

/** Makes edits of documents, and finds the shard of each. */
async function placeInputs(
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
): Promise<PlacedInputs> {
  const edits: Placed<Edit> = new Map();
  const locals: Placed<LocalEdit> = new Map();
  const results: SavedEdit[] = new Array<SavedEdit>(inputs.length).fill(undefined);
  const places = await placesById(database, inputs);
  // The same for all: edits of one document must not part where its shard is split meanwhile.
  const { shards } = database.collection;
  const slice = database.runtime.slice();
  for (const at of places) {
    const input = inputs[at]!;
    const shard = database.shardOf(input.id, shards);
    if (!isLocalId(input.id)) {
      place(edits, shard, at, newEdits ? interactiveEdit(input) : replicatedEdit(input));
    } else {
      const local = localEdit(input);
      if (local === undefined) results[at] = invalidRev();
      else {
        results[at] = newEdits ? { pos: 0, hash: String(local.rev) } : namedRev(input);
        place(locals, shard, at, local);
      }
    }
    if (slice.isOver) await slice.next();
  }
  return { edits, locals, results };
}

/** Edits by their shard, with their places in the request. */
type Placed<Kind> = Map<number, { at: number[]; edits: Kind[] }>;

function place<Kind>(placed: Placed<Kind>, shard: number, at: number, edit: Kind): void {
  let group = placed.get(shard);
  if (group === undefined) placed.set(shard, (group = { at: [], edits: [] }));
  group.at.push(at);
  group.edits.push(edit);
}

/** Where one command could not be sent, another may have been. */
const ofSome = (error: unknown): unknown =>
  error instanceof Unavailable
    ? new Unavailable(`${error.reason} Some of the documents may have been saved.`)
    : error;

/** More documents than these are sorted in slices. */
const sortedAtOnce = 2_000;

/** The places of the inputs in the order of ids; edits of the same document stay in theirs. */
async function placesById(database: Database, inputs: readonly NamedInput[]): Promise<readonly number[]> {
  const places = [...inputs.keys()];
  const compare = (a: number, b: number): number => {
    const one = inputs[a]!.id;
    const other = inputs[b]!.id;
    return one < other ? -1 : one > other ? 1 : a - b;
  };
  if (places.length > sortedAtOnce) return await sortInSlices(places, compare, database.runtime);
  return places.sort(compare);
}

/** The same for one document, which most writes bring. */
function updateOne(
  database: Database,
  input: NamedInput,
  newEdits: boolean,
  options: UpdateOptions,
): Promise<EditResult[]> {
  return database.submit({
    type: 'edit',
    instance: database.record.instance,
    shard: database.shardOf(input.id),
    edits: [newEdits ? interactiveEdit(input) : replicatedEdit(input)],
    revs_limit: database.revsLimit,
    validators: options.validators,
    ...(options.blobs && { small_blobs: options.blobs.small, stored_blobs: options.blobs.stored }),
  });
}

/** A history given by `_revisions` names the same parent as `_rev` would; `_revisions` prevails. */
function interactiveEdit(input: NamedInput): Edit {
  const { id, deleted, body } = input;
  return { id, parent: namedRev(input), path: undefined, deleted, body };
}

const namedRev = ({ rev, revisions }: NamedInput): Rev | undefined =>
  revisions === undefined ? rev : { pos: revisions.start, hash: revisions.hashes[0]! };

function replicatedEdit({ id, rev, revisions, deleted, body }: NamedInput): Edit {
  const path = revisions ?? { start: rev!.pos, hashes: [rev!.hash] };
  return { id, parent: undefined, path, deleted, body };
}

/** Throws if a revision made elsewhere isn't named: nothing of the request is saved then. */
export function checkHistory({ rev, revisions }: NamedInput): void {
  if (rev === undefined && revisions === undefined)
    throw badRequest('When `new_edits: false`, the document needs `_rev` or `_revisions` specified');
}

/** Nothing is checked: the number follows the one that was given, and the last writer wins. Undefined where that is no number. */
function localEdit(input: NamedInput): LocalEdit | undefined {
  const { id, deleted, body } = input;
  if (deleted) return { id, rev: 0, body };
  const number = localNumber(namedRev(input));
  return number === undefined ? undefined : { id, rev: number + 1, body };
}

function localNumber(rev: Rev | undefined): number | undefined {
  if (rev === undefined) return 0;
  return rev.pos === 0 && /^\d{1,15}$/.test(rev.hash) ? Number(rev.hash) : undefined;
}
