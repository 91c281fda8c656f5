import { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { digestOf } from './passwords.js';
import { isDbAdmin, type SecurityObject } from './rights.js';
import { readTotp } from './totp.js';
import { userHash } from './user-hash.js';
import { userIdPrefix } from './users-database.js';

export type UserDoc = Readonly<Record<string, unknown>>;

/** A change of a user document: what it was, what it is to be, and who wants it. */
export interface UserChange {
  id: string;
  doc: UserDoc;
  previous: UserDoc | undefined;
  user: UserContext;
  security: SecurityObject;
  /** How many iterations of a hash this server accepts at a login. */
  iterations: { min: number; max: number };
}

const forbid = (reason: string): never => {
  throw new RequestError('forbidden', reason);
};

/** Deletions: by admins, and by the user whose document it is. */
export function checkUserDeletion({
  previous,
  user,
  security,
}: Pick<UserChange, 'previous' | 'user' | 'security'>): void {
  if (isDbAdmin(user, security)) return;
  if (user.name === null || previous?.['name'] !== user.name)
    forbid('Only admins may delete other user docs.');
}

/** What CouchDB asks of user documents, in its order and words: clients show the reasons to people. */
export function checkUserDoc(change: UserChange): void {
  const { doc } = change;
  if (doc['type'] !== 'user') forbid('doc.type must be user');
  if (!doc['name']) forbid('doc.name is required');
  checkRoles(doc['roles']);
  if (typeof doc['name'] !== 'string' || change.id !== userIdPrefix + doc['name']) {
    forbid('Doc ID must be of the form org.couchdb.user:name');
  }
  if (change.previous !== undefined && change.previous['name'] !== doc['name']) {
    forbid('Usernames can not be changed.');
  }
  checkHash(doc);
  checkTotp(doc);
  if (!isDbAdmin(change.user, change.security)) checkOwnChange(change);
  checkNames(doc);
}

function checkRoles(roles: unknown): void {
  if (!roles) forbid('doc.roles must exist');
  if (!Array.isArray(roles)) forbid('doc.roles must be an array');
  else if (!roles.every((role) => typeof role === 'string')) forbid('doc.roles can only contain strings');
}

const schemes: readonly unknown[] = ['simple', 'pbkdf2'];

function checkHash(doc: UserDoc): void {
  const { password_sha, salt, password_scheme: scheme, iterations, derived_key } = doc;
  if (password_sha && !salt) {
    forbid('Users with password_sha must have a salt.See /_utils/script/couch.js for example code.');
  }
  if (scheme && !schemes.includes(scheme)) {
    forbid(`Password scheme \`${typeof scheme === 'string' ? scheme : typeof scheme}\` not supported.`);
  }
  if (scheme === 'pbkdf2') {
    if (typeof iterations !== 'number') forbid('iterations must be a number.');
    if (typeof derived_key !== 'string') forbid('derived_key must be a string.');
    checkPbkdf2(doc);
  } else if (password_sha) {
    if (typeof salt !== 'string') forbid('salt must be a string.');
    if (userHash(doc) === undefined) forbid('password_sha must have 40 hexadecimal digits.');
  }
}

/** What no login could be checked by would lock its user out. CouchDB takes it. */
function checkPbkdf2(doc: UserDoc): void {
  const { salt, iterations, pbkdf2_prf: prf = 'sha' } = doc;
  if (typeof salt !== 'string') forbid('salt must be a string.');
  if (typeof prf !== 'string' || digestOf(prf) === undefined)
    forbid('pbkdf2_prf must be sha, sha224, sha256, sha384 or sha512.');
  if (!Number.isInteger(iterations) || (iterations as number) < 1 || (iterations as number) > 0x7fffffff)
    forbid('iterations must be a whole number of 1 or more.');
  if (userHash(doc) === undefined) forbid('derived_key must be hexadecimal.');
}

/** One that cannot be used would lock its user out. */
function checkTotp({ totp }: UserDoc): void {
  if (totp === undefined) return;
  const read = readTotp(totp);
  if ('wrong' in read) forbid(read.wrong);
}

/** Users who aren't admins may change their own document only, and not the roles in it. */
function checkOwnChange(change: UserChange): void {
  const { doc, previous, user } = change;
  checkOwnIterations(change);
  const roles = doc['roles'] as string[];
  if (previous === undefined) {
    if (roles.length > 0) forbid('Only _admin may set roles');
    return;
  }
  if (user.name !== doc['name']) forbid('You may only update your own user document.');
  const before = Array.isArray(previous['roles']) ? (previous['roles'] as unknown[]) : [];
  const same = JSON.stringify([...roles].sort()) === JSON.stringify([...before].sort());
  if (!same) forbid('Only _admin may edit roles');
}

/** An admin may bring accounts whose hashes the server is yet to be told to accept; users would lock themselves out. */
function checkOwnIterations({ doc, iterations: { min, max } }: UserChange): void {
  const { password_scheme: scheme, iterations } = doc;
  if (scheme !== 'pbkdf2' || ((iterations as number) >= min && (iterations as number) <= max)) return;
  forbid(`iterations must be a whole number from ${min} to ${max}.`);
}

/** The role that may read a server's figures and nothing else is given to ordinary users. */
const metricsRole = '_metrics';

function checkNames({ roles, name }: UserDoc): void {
  if ((roles as string[]).some((role) => role.startsWith('_') && role !== metricsRole)) {
    forbid('No system roles (starting with underscore) in users db.');
  }
  if ((name as string).startsWith('_')) forbid('Username may not start with underscore.');
  if ((name as string).includes(':')) forbid('Character `:` is not allowed in usernames.');
}
