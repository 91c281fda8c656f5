import { RequestError } from '../base/errors.js';
import { serverAdminRole, type UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import type { LocalDoc } from './peer.js';
import { stateMembers } from './replicator-database.js';
import { flag, mutuallyExclusive, parseSpec } from './spec.js';

/** A document of a replicator database that is about to be saved. */
export interface DocChange {
  body: LocalDoc;
  deleted: boolean;
  previous: LocalDoc | undefined;
  user: UserContext;
  /** Whether the user is an admin of the database. */
  isAdmin: boolean;
}

const forbidden = (reason: string): RequestError => new RequestError('forbidden', reason);

/** The error of a document that a user who isn't an admin would write for another user. */
export function ownerRefusal(
  body: LocalDoc,
  user: UserContext,
  isAdmin: () => boolean,
): RequestError | undefined {
  const { owner } = body;
  if (owner === undefined || owner === null || owner === user.name || isAdmin()) return undefined;
  return forbidden("Can't update replication documents from other users.");
}

/** Who owns a document after the change; refuses changes to the documents of others. */
export function checkOwner({ body, previous, deleted, user, isAdmin }: DocChange): unknown {
  const owner = body['owner'];
  const before = previous?.['owner'];
  const refusal =
    ownerRefusal(body, user, () => isAdmin) ?? ownerRefusal(previous ?? {}, user, () => isAdmin);
  if (refusal !== undefined) throw refusal;
  if (!isAdmin && deleted && before !== user.name)
    throw forbidden('Replication documents are deleted by admins or by the users who own them.');
  return owner ?? user.name;
}

/** Refuses a document with members that its user may not write. */
export function checkMembers(change: DocChange): void {
  if (change.deleted) return;
  checkStateMembers(change);
  checkCancel(change);
  checkUserContext(change);
}

/** The error of a document that asks for a replication that can't be. */
export function specRefusal(body: LocalDoc, user: UserContext, config: Config): RequestError | undefined {
  return refusalOf(() => parseSpec(body, { config, user, localNames: false }));
}

/** What a part of a document is refused with where reading it fails. */
function refusalOf(read: () => unknown): RequestError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof RequestError) return forbidden(reasonFor(error));
    throw error;
  }
}

/** Only the replicator and server admins, who restore documents, write states; others may omit them or send them unchanged. */
function checkStateMembers({ body, previous, user }: DocChange): void {
  if (user.roles.includes(serverAdminRole)) return;
  for (const name of stateMembers) {
    if (name in body && JSON.stringify(body[name]) !== JSON.stringify(previous?.[name]))
      throw forbidden(`The member \`${name}\` is written by the replicator alone.`);
  }
}

/** Only `/_replicate` cancels, but its type is checked here too. */
function checkCancel({ body }: DocChange): void {
  const refusal = refusalOf(() => flag(body, 'cancel', false));
  if (refusal !== undefined) throw refusal;
}

function checkUserContext({ body, user, isAdmin }: DocChange): void {
  const context = body['user_ctx'];
  if (context === undefined) return;
  if (typeof context !== 'object' || context === null || Array.isArray(context))
    throw forbidden('The `user_ctx` property must be an object.');
  // What an admin writes is not compared with anything; the replicator ignores a name or roles of another type.
  if (isAdmin) return;
  const { name, roles = [] } = context as Record<string, unknown>;
  if (name !== undefined && name !== null && (typeof name !== 'string' || name === ''))
    throw forbidden('The `user_ctx.name` property must be a non-empty string or null.');
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string' && role !== ''))
    throw forbidden('The `user_ctx.roles` property must be an array of non-empty strings.');
  if ((name ?? null) !== user.name) throw forbidden('The given `user_ctx.name` is not valid');
  const foreign = roles.find((role) => !user.roles.includes(role as string)) as string | undefined;
  if (foreign !== undefined) throw forbidden(`Invalid role (\`${foreign}\`) in the \`user_ctx\``);
}

/** In the words that CouchDB has for it, which scripts look for: its own form of errors, in their own notation. */
function reasonFor({ error, reason }: RequestError): string {
  if (error === 'bad_rep_doc' || error === 'error' || error === 'invalid_replication') return reason;
  if (error === 'invalid_operator') {
    const operator = reason.slice(reason.lastIndexOf(' ') + 1);
    return `{throw,{mango_error,mango_selector,{invalid_operator,<<"${operator}">>}}}`;
  }
  if (error === 'bad_request')
    return `{throw,{bad_request,${reason === mutuallyExclusive ? `"${reason}"` : `<<"${reason}">>`}}}`;
  return `${error}: ${reason}`;
}
