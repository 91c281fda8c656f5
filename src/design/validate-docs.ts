import { asBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { FunctionError, RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { find, pathOf } from '../revisions/tree.js';
import { validationPath } from '../script/call-counts.js';
import type { ScriptHost } from '../script/script-host.js';
import { deletedMember, docText, quoteId, revisionsMember } from '../shard/doc-text.js';
import type { Database } from '../node/database.js';
import type { Validator } from '../node/design-doc-cache.js';
import { scriptSpace, validatorsDigest, validatorsOf } from './design-functions.js';
import { isDesignId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';
import type { GatedDoc, SaveGate } from '../node/save-gate.js';

/**
 * The validation functions of a database's design documents: each may refuse a document. They judge documents of every
 * origin, replicated ones too, but no design documents. A database without such functions is not held up.
 */
export function validationGate(scripts: ScriptHost): SaveGate {
  return {
    concerns: (database, id) => !isDesignId(id) && validatorsOf(database).length > 0,
    stamp: (database, inputs) =>
      inputs.every(({ id }) => isDesignId(id)) ? undefined : validatorsOf(database),
    digest: validatorsDigest,
    checkAll: async (database, docs, user) => {
      const results: (NamedInput | RequestError)[] = docs.map(({ input }) => input);
      for (const validator of validatorsOf(database)) {
        const open = [...results.keys()].filter((at) => !(results[at] instanceof RequestError));
        if (open.length === 0) break;
        const calls = open.map((at) => validationCall(database, docs[at]!));
        const refusals = await validate(scripts, database, validator, calls, user);
        for (const [i, at] of open.entries()) results[at] = refusals[i] ?? results[at]!;
      }
      return results;
    },
  };
}

async function validate(
  scripts: ScriptHost,
  database: Database,
  { program, refusal }: Validator,
  calls: readonly Bytes[],
  user: UserContext,
): Promise<(RequestError | undefined)[]> {
  if (refusal !== undefined) return calls.map(() => refusal);
  const shared = toBytes(JSON.stringify([functionUser(database, user), functionSecurity(database)]));
  try {
    const values = await scripts.call(scriptSpace(database), program, [validationPath], calls, shared);
    return values.map((value) => ('ok' in value ? undefined : new FunctionError(value.error, value.reason)));
  } catch (error) {
    // The function cannot be run at all, or had to be stopped.
    if (!(error instanceof RequestError)) throw error;
    return calls.map(() => error);
  }
}

/** Who is asking, as functions see it. */
export function functionUser(database: Database, { name, roles }: UserContext): Record<string, unknown> {
  return { db: database.name, name, roles };
}

/**
 * The security object as functions see it. One that was never set has the members it has in CouchDB, as functions look
 * into them without asking.
 */
export function functionSecurity(database: Database): Readonly<Record<string, unknown>> {
  return database.record.security ?? { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } };
}

/** A document that continues none has no revision. */
function unsavedText(id: Bytes, body: Bytes, extra: Bytes): Bytes {
  const head = `{"_id":${quoteId(id)}`;
  return asBytes(head + docText(id, noRev, body, extra).slice(head.length + noRevMember.length));
}

const noRev = { pos: 0, hash: '' };
const noRevMember = ',"_rev":"0-"';

/** The new document and the one it continues. */
function validationCall(database: Database, { input, previous }: GatedDoc): Bytes {
  const { id, rev, revisions, deleted, body } = input;
  const path = revisions?.hashes.map((hash, i) => ({ pos: revisions.start - i, hash })) ?? (rev && [rev]);
  const mark = deleted ? deletedMember : noBytes;
  const text =
    path === undefined
      ? unsavedText(id, body, mark)
      : docText(id, path[0]!, body, asBytes(mark + revisionsMember(path)));
  if (previous === undefined) return asBytes(`[${text},null]`);
  const tree = database.collection.doc(id)?.tree;
  const node = tree && find(tree, previous.rev);
  const history = node === undefined ? '' : revisionsMember(pathOf(tree!, node));
  const old = asBytes((previous.deleted ? deletedMember : '') + history);
  return asBytes(`[${text},${docText(id, previous.rev, previous.content, old)}]`);
}
