import { asBytes, type Bytes } from '../base/bytes.js';
import { conflict, RequestError, Unavailable } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { find } from '../revisions/tree.js';
import type { Database } from '../node/database.js';
import type { GateContext, PreviousRev, SaveGate } from '../node/save-gate.js';
import { isLocalId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';

export const changedTooOften = 'Design documents changed repeatedly during validation; retry.';

/** The conflict that stands in results: one for all, since a bulk request may bring thousands. */
export const documentConflict = conflict();

export function isGated(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
): boolean {
  for (const { id } of inputs) for (const gate of gates) if (concerns(gate, database, id)) return true;
  return false;
}

/** The same for many documents. */
export async function isGatedInSlices(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
): Promise<boolean> {
  const slice = database.runtime.slice();
  for (let from = 0; from < inputs.length; from += groupLength) {
    if (isGated(gates, database, inputs.slice(from, from + groupLength))) return true;
    if (slice.isOver) await slice.next();
  }
  return false;
}

const concerns = (gate: SaveGate, database: Database, id: Bytes): boolean =>
  isLocalId(id) ? gate.concernsLocal?.(database) === true : gate.concerns(database, id);

/** The error of a document that a gate doesn't admit. */
export function admissionRefusal(
  gates: readonly SaveGate[],
  database: Database,
  input: NamedInput,
  user: UserContext,
): RequestError | undefined {
  for (const gate of gates) {
    if (gate.admit === undefined || !concerns(gate, database, input.id)) continue;
    const refusal = gate.admit(database, input, user);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Gates at work on documents of one request at a time; a password takes milliseconds of a thread. */
const checksAtOnce = 8;
/** Documents that go through the gates together, with the revisions they continue. */
const groupLength = 200;
const groupBytes = 4 * 1024 * 1024;
/** How often documents go back to the first gate because of something that changed behind them. */
const roundsMax = 5;
/** The same while no further change can begin: only those on their way to the disk are in the way. */
const roundsAloneMax = 1_000;

/**
 * Leads documents through the gates. Each comes out as it is to be saved, or as the refusal it met. When this resolves,
 * nothing that a gate goes by has changed since the gate looked at it. `isAlone`: no change of a design document begins meanwhile.
 */
export async function passGates(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
  settings: Pick<GateContext, 'user' | 'newEdits'> & { isAlone?: boolean },
): Promise<(NamedInput | RequestError)[]> {
  const stamped = gates.filter((gate) => gate.stamp !== undefined);
  const stamps = (): unknown[] => stamped.map((gate) => gate.stamp!(database, inputs));
  const pass = async (rounds: number): Promise<(NamedInput | RequestError)[] | undefined> => {
    for (let round = 0; round < rounds; round++) {
      const before = stamps();
      const passed = await passOnce(gates, database, inputs, settings);
      const after = stamps();
      if (before.every((stamp, i) => stamp === after[i])) return passed;
    }
    return undefined;
  };
  const passed = settings.isAlone
    ? await pass(roundsAloneMax)
    : ((await pass(roundsMax)) ?? (await database.judging.run(() => pass(roundsAloneMax))));
  if (passed !== undefined) return passed;
  throw new Unavailable(changedTooOften);
}

async function passOnce(
  gates: readonly SaveGate[],
  database: Database,
  inputs: readonly NamedInput[],
  settings: Pick<GateContext, 'user' | 'newEdits'>,
): Promise<(NamedInput | RequestError)[]> {
  const passed: (NamedInput | RequestError)[] = [];
  while (passed.length < inputs.length) {
    const group: Passing[] = [];
    for (let bytes = 0; group.length < groupLength && bytes < groupBytes;) {
      const input = inputs[passed.length + group.length];
      if (input === undefined) break;
      const passing = begin(gates, database, input, settings);
      bytes += input.body.length + (passing.previous?.content.length ?? 0);
      group.push(passing);
    }
    for (const gate of gates) await passOne(gate, database, group, settings);
    for (const { result } of group) passed.push(result);
  }
  return passed;
}

/** A document and what has become of it so far. */
interface Passing {
  result: NamedInput | RequestError;
  gated: boolean;
  previous: PreviousRev | undefined;
}

function begin(
  gates: readonly SaveGate[],
  database: Database,
  input: NamedInput,
  { user, newEdits }: Pick<GateContext, 'user' | 'newEdits'>,
): Passing {
  if (!gates.some((gate) => concerns(gate, database, input.id)))
    return { result: input, gated: false, previous: undefined };
  const refusal = admissionRefusal(gates, database, input, user);
  if (refusal !== undefined) return { result: refusal, gated: false, previous: undefined };
  if (isLocalId(input.id)) return { result: input, gated: false, previous: undefined };
  const previous = newEdits ? continuedLeaf(database, input) : knownAncestor(database, input);
  if (previous === 'conflict') return { result: documentConflict, gated: false, previous: undefined };
  if (previous === 'kept') return { result: input, gated: false, previous: undefined };
  return { result: input, gated: true, previous };
}

async function passOne(
  gate: SaveGate,
  database: Database,
  group: readonly Passing[],
  { user, newEdits }: Pick<GateContext, 'user' | 'newEdits'>,
): Promise<void> {
  const open = group.filter(
    ({ result, gated }) => gated && !(result instanceof RequestError) && gate.concerns(database, result.id),
  );
  if (open.length === 0) return;
  if (gate.checkAll !== undefined) {
    const docs = open.map(({ result, previous }) => ({ input: result as NamedInput, previous }));
    const results = await gate.checkAll(database, docs, user);
    for (const [i, passing] of open.entries()) passing.result = results[i]!;
  }
  if (gate.check === undefined) return;
  for (let from = 0; from < open.length; from += checksAtOnce) {
    const some = open.slice(from, from + checksAtOnce);
    const check = async (passing: Passing): Promise<void> => {
      if (passing.result instanceof RequestError) return;
      const context = { user, newEdits, previous: passing.previous };
      passing.result = await refusalOr(async () =>
        gate.check!(database, passing.result as NamedInput, context),
      );
    };
    await Promise.all(some.map(check));
  }
}

async function refusalOr<T>(work: () => Promise<T>): Promise<T | RequestError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError) return error;
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
  return { rev: node, deleted: node.deleted, content: content ?? asBytes('{}') };
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
