import { fromBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Rev } from '../revisions/rev.js';
import { attachmentsOf } from '../shard/content.js';
import { attach, type Follower } from './attachments/attach.js';
import { missingStub } from './attachments/attachment-input.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { isDesignId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';
import { NewBlobs } from './attachments/new-blobs.js';
import { documentConflict, isGated, passGates } from './pass-gates.js';
import { discardUnneeded } from '../node/sweep-blobs.js';
import { updateDocs, type SavedEdit } from './update-docs.js';

export interface SaveOptions {
  /** Whose documents they are; gates ask for it. */
  user: UserContext;
  /** False for revisions made elsewhere. */
  newEdits: boolean;
  /** Where attachments come from that follow their document. */
  follower?: Follower | undefined;
  /** Attachments already stored and referenced in the content; the caller that stored them releases them. */
  blobs?: NewBlobs | undefined;
}

/** What became of a document: its new revision, or why it was not saved. */
export type Saved = Rev | RequestError;

/**
 * Saves documents with whatever attachments they bring, each on its own, and tells what became of each, in their
 * order. Every write of documents takes this way.
 */
export async function saveDocs(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  for (const { id } of inputs) database.checkId(id);
  if (!inputs.some(({ attachments }) => attachments !== undefined))
    return await saveAttached(registry, database, inputs, options);
  const blobs = new NewBlobs();
  try {
    const attached = await attach(registry, database, inputs, options.newEdits, blobs, options.follower);
    return await saveAttached(registry, database, attached, { ...options, blobs });
  } finally {
    blobs.release();
    await discardUnneeded(registry, blobs.stored);
  }
}

/** One document, whose refusal is thrown. */
export async function saveDoc(
  registry: DatabaseRegistry,
  database: Database,
  input: NamedInput,
  options: SaveOptions,
): Promise<Rev> {
  const [saved] = await saveDocs(registry, database, [input], options);
  if (saved instanceof RequestError) throw saved;
  return saved!;
}

async function saveAttached(
  { saveGates }: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  const { newEdits, blobs } = options;
  if (!isGated(saveGates, database, inputs)) return await update(database, inputs, newEdits, blobs);
  if (database.judging !== undefined && inputs.some(({ id }) => isDesignId(id))) await database.judging;
  const results: (Saved | NamedInput)[] = await passGates(saveGates, database, inputs, options);
  const passed = results.flatMap((each, at) => (each instanceof RequestError ? [] : [at]));
  if (passed.length === 0) return results as Saved[];
  const ready = passed.map((at) => results[at] as NamedInput);
  const saved = await update(database, ready, newEdits, blobs);
  for (const [i, at] of passed.entries()) results[at] = saved[i]!;
  return results as Saved[];
}

async function update(
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
  blobs: NewBlobs | undefined,
): Promise<Saved[]> {
  const saved: (Saved | SavedEdit)[] = await updateDocs(database, inputs, newEdits, blobs);
  for (let i = 0; i < saved.length; i++) {
    if (saved[i] === 'missing_blob') saved[i] = lostAttachment(database, inputs[i]!);
    saved[i] ??= documentConflict;
  }
  return saved as Saved[];
}

/** A document keeps an attachment whose bytes are not there: they went with the revision that had them, or are lost. */
function lostAttachment({ collection }: Database, { id, body }: NamedInput): RequestError {
  const attachments = attachmentsOf(body);
  const lost = attachments.find(({ blob }) => !collection.hasBlob(blob));
  return missingStub(fromBytes(id), (lost ?? attachments[0])?.name ?? '');
}
