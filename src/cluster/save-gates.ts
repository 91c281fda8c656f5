import type { Bytes } from '../base/bytes.js';
import { conflict, Refusal } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Rev } from '../revisions/rev.js';
import { find } from '../revisions/tree.js';
import type { Database } from './database.js';
import { isLocalId, type NamedInput } from './document-input.js';

/**
 * Somebody with a say in what is saved: rights, rules of the users database, validation functions. A gate is asked
 * before the command is made, since it may take its time and commands must not depend on anything outside them.
 */
export interface SaveGate {
  /** Whether it has a say in a document; asked for each, so it has to be quick. Local documents pass no gate. */
  concerns(database: Database, id: Bytes): boolean;
  /**
   * Gives the document as it is to be saved, changed or not, or throws a `Refusal` for it. Never asked for a document
   * that is in conflict, nor for a replicated revision that is there already. Attachments are in their place by now:
   * `input.body` is the content with them (`shard/content.ts`).
   */
  check(database: Database, input: NamedInput, context: GateContext): NamedInput | Promise<NamedInput>;
}

export interface GateContext {
  user: UserContext;
  newEdits: boolean;
  /** The revision that the document continues. None for a new document, nor for one begun anew on a deleted one. */
  previous: PreviousRev | undefined;
}

export interface PreviousRev {
  rev: Rev;
  deleted: boolean;
  /** Its text and attachments, see `shard/content.ts`. */
  content: Bytes;
}

/** The conflict that stands in results: one for all, since a bulk request may bring thousands. */
export const documentConflict = conflict();

export function isGated(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
): boolean {
  return inputs.some(({ id }) => !isLocalId(id) && gates.some((gate) => gate.concerns(database, id)));
}

/** Gates at work on documents of one request at a time; a password takes milliseconds of a thread. */
const checksAtOnce = 8;

/** Leads documents through the gates. Each comes out as it is to be saved, or as the refusal it met. */
export async function passGates(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
  settings: Pick<GateContext, 'user' | 'newEdits'>,
): Promise<(NamedInput | Refusal)[]> {
  const passed: (NamedInput | Refusal)[] = [];
  for (let from = 0; from < inputs.length; from += checksAtOnce) {
    const group = inputs.slice(from, from + checksAtOnce);
    passed.push(...(await Promise.all(group.map((input) => passOne(gates, database, input, settings)))));
  }
  return passed;
}

async function passOne(
  gates: readonly SaveGate[],
  database: Database,
  input: NamedInput,
  { user, newEdits }: Pick<GateContext, 'user' | 'newEdits'>,
): Promise<NamedInput | Refusal> {
  const concerned = isLocalId(input.id) ? [] : gates.filter((gate) => gate.concerns(database, input.id));
  if (concerned.length === 0) return input;
  const previous = newEdits ? continuedLeaf(database, input) : knownAncestor(database, input);
  if (previous === 'conflict') return documentConflict;
  if (previous === 'kept') return input;
  try {
    let result = input;
    for (const gate of concerned) result = await gate.check(database, result, { user, newEdits, previous });
    return result;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The rule by which the command will be judged too: an edit names the leaf that it continues. */
function continuedLeaf(
  database: Database,
  { id, rev, revisions, deleted }: NamedInput,
): PreviousRev | undefined | 'conflict' {
  const parent = revisions === undefined ? rev : { pos: revisions.start, hash: revisions.hashes[0]! };
  const doc = database.collection.doc(id);
  if (doc === undefined) return parent === undefined ? undefined : 'conflict';
  if (doc.deleted) return parent === undefined && !deleted ? undefined : 'conflict';
  const node = parent && find(doc.tree, parent);
  if (!node?.leaf) return 'conflict';
  const content = database.collection.body(database.shardOf(id), doc, node);
  return { rev: node, deleted: node.deleted, content: content ?? '{}' };
}

/** The newest revision of a replicated history whose body is here. */
function knownAncestor(
  database: Database,
  { id, rev, revisions }: NamedInput,
): PreviousRev | undefined | 'kept' {
  const path = revisions ?? (rev && { start: rev.pos, hashes: [rev.hash] });
  const doc = path && database.collection.doc(id);
  if (path === undefined || doc === undefined) return undefined;
  for (const [i, hash] of path.hashes.entries()) {
    const node = find(doc.tree, { pos: path.start - i, hash });
    if (node === undefined) continue;
    const content = database.collection.body(database.shardOf(id), doc, node);
    // A leaf is as it is, also where its body is gone; an inner revision would take the body that comes.
    if (i === 0 && (node.leaf || content !== undefined)) return 'kept';
    if (content !== undefined) return { rev: node, deleted: node.deleted, content };
  }
  return undefined;
}
