import { fromBytes, type Bytes } from '../base/bytes.js';
import { RequestError, Unavailable } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Rev } from '../revisions/rev.js';
import { attachmentsOf } from '../shard/content.js';
import { attach, type Follower } from './attachments/attach.js';
import { blobsOfGroups } from './attachments/blobs-of-groups.js';
import { missingStub } from './attachments/attachment-input.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import type { SaveGate } from '../node/save-gate.js';
import { isDesignId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';
import { NewBlobs } from './attachments/new-blobs.js';
import { agreeOnValidators, changeValidators, digestOf } from './change-validators.js';
import { changedTooOften, documentConflict, isGated, isGatedInSlices, passGates } from './pass-gates.js';
import { discardUnneeded } from '../node/sweep-blobs.js';
import { checkHistory, updateDocs, type SavedEdit } from './update-docs.js';

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

/** How often documents are validated again because the validation functions have changed meanwhile. */
const roundsMax = 20;
/** From then on while no further change of a design document can begin. */
const roundsAmongOthers = 5;

/** More documents than these are looked at in slices. */
const docsAtOnce = 1_000;

/** What became of a document: its new revision, or why it was not saved. */
export type Saved = Rev | RequestError;

/**
 * Saves documents with whatever attachments they bring, each on its own, and tells what became of each, in their
 * order. Every write of documents takes this way.
 */
export function saveDocs(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  if (inputs.length > docsAtOnce) return saveMany(registry, database, inputs, options);
  if (!options.newEdits) for (const input of inputs) checkHistory(input);
  const isPlain = inputs.every(({ attachments }) => attachments === undefined);
  return (isPlain ? saveAttached : saveWithAttachments)(registry, database, inputs, options);
}

/** The same for more documents than are looked at in one turn of the event loop. */
async function saveMany(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  const slice = database.runtime.slice();
  let isPlain = true;
  for (const input of inputs) {
    if (!options.newEdits) checkHistory(input);
    isPlain &&= input.attachments === undefined;
    if (slice.isOver) await slice.next();
  }
  return await (isPlain ? saveAttached : saveWithAttachments)(registry, database, inputs, options);
}

async function saveWithAttachments(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
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

function saveAttached(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  const save = database.record.groups === undefined ? saveWithBlobs : saveInGroups;
  return save(registry, database, inputs, options);
}

async function saveInGroups(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  const blobs = await blobsOfGroups(registry, database, inputs, options.blobs);
  try {
    return await saveWithBlobs(registry, database, inputs, { ...options, blobs });
  } finally {
    blobs.release();
  }
}

async function saveWithBlobs(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Saved[]> {
  const { saveGates } = registry;
  // Before they are looked at: if the functions change meanwhile, the documents are told to try again.
  const digest = digestOf(saveGates, database);
  const gated =
    inputs.length > docsAtOnce
      ? await isGatedInSlices(saveGates, database, inputs)
      : isGated(saveGates, database, inputs);
  // Most documents concern no gate, and are saved at the first attempt.
  const results = gated
    ? await saveOnce(registry, database, inputs, options)
    : await update(database, inputs, options, digest);
  for (let round = 1; results.includes('retry'); round++) {
    const open = results.flatMap((each, at) => (each === 'retry' ? [at] : []));
    const some = open.map((at) => inputs[at]!);
    const saved = await saveAgain(registry, database, some, options, round).catch((error: unknown) => {
      // The others may be stored: the request as a whole must not be refused.
      if (open.length === inputs.length || !(error instanceof RequestError)) throw error;
      return some.map(() => error);
    });
    for (const [i, at] of open.entries()) results[at] = saved[i]!;
  }
  return results as Saved[];
}

/** Saves documents whose validation functions have changed meanwhile. */
async function saveAgain(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
  round: number,
): Promise<Outcome[]> {
  if (round > roundsMax) throw new Unavailable(changedTooOften);
  await agreeOnValidators(registry.saveGates, database);
  const again = (isAlone: boolean): Promise<Outcome[]> =>
    saveOnce(registry, database, inputs, options, isAlone);
  return await (round < roundsAmongOthers ? again(false) : database.judging.run(() => again(true)));
}

/** What became of a document, or that it has to be validated again. */
type Outcome = Saved | 'retry';

/** Passes documents through the gates that apply to them, if any, and saves those that are accepted. */
async function saveOnce(
  { saveGates }: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
  isAlone = false,
): Promise<Outcome[]> {
  if (!isGated(saveGates, database, inputs)) {
    return await store(saveGates, database, inputs, options);
  }
  const { ended } = database.judging;
  if (ended !== undefined && !isAlone && inputs.some(({ id }) => isDesignId(id))) await ended;
  const results: (Outcome | NamedInput)[] = await passGates(saveGates, database, inputs, {
    ...options,
    isAlone,
  });
  const passed = results.flatMap((each, at) => (each instanceof RequestError ? [] : [at]));
  if (passed.length === 0) return results as Outcome[];
  const ready = passed.map((at) => results[at] as NamedInput);
  const saved = await store(saveGates, database, ready, options);
  for (const [i, at] of passed.entries()) results[at] = saved[i]!;
  return results as Outcome[];
}

/** Saves documents that were checked against the validation functions as they are now. */
async function store(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
  options: SaveOptions,
): Promise<Outcome[]> {
  const saved = await update(database, inputs, options, digestOf(gates, database));
  if (!saved.includes('retry')) return saved;
  const designs = [...inputs.keys()].filter((at) => saved[at] === 'retry' && isDesignId(inputs[at]!.id));
  if (designs.length === 0) return saved;
  const some = designs.map((at) => inputs[at]!);
  const changed = await changeValidators(gates, database, (token) => update(database, some, options, token));
  for (const [i, at] of designs.entries()) saved[at] = changed[i]!;
  return saved;
}

async function update(
  database: Database,
  inputs: readonly NamedInput[],
  { newEdits, blobs }: SaveOptions,
  validators: Bytes | undefined,
): Promise<Outcome[]> {
  const saved: (Outcome | SavedEdit)[] = await updateDocs(database, inputs, newEdits, { blobs, validators });
  const slice = database.runtime.slice();
  for (let i = 0; i < saved.length; i++) {
    if (saved[i] === 'missing_blob') saved[i] = lostAttachment(database, inputs[i]!);
    saved[i] ??= documentConflict;
    if (i % docsAtOnce === docsAtOnce - 1 && slice.isOver) await slice.next();
  }
  return saved as Outcome[];
}

/** A document keeps an attachment whose bytes are not there: they went with the revision that had them, or are lost. */
function lostAttachment({ collection }: Database, { id, body }: NamedInput): RequestError {
  const attachments = attachmentsOf(body);
  const lost = attachments.find(({ blob }) => !collection.hasBlob(blob));
  return missingStub(fromBytes(id), (lost ?? attachments[0])?.name ?? '');
}
