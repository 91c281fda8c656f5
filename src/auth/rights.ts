import { RequestError } from '../base/errors.js';
import { serverAdminRole, type UserContext } from '../base/user-context.js';

/**
 * A database's security object: any JSON object, of which `admins`, `members` (formerly `readers`) and `viewers`, who may
 * only read, decide rights.
 */
export type SecurityObject = Readonly<Record<string, unknown>>;

export function isServerAdmin(user: UserContext): boolean {
  return user.roles.includes(serverAdminRole);
}

/** A database admin, or a server admin, who is one everywhere. */
export function isDbAdmin(user: UserContext, security: SecurityObject): boolean {
  return isServerAdmin(user) || isListed(user, groupOf(security['admins']));
}

/** Whether the user may read and write documents. A database without members and viewers is public. */
function isMember(user: UserContext, security: SecurityObject): boolean {
  const members = groupOf(security['members'] ?? security['readers']);
  if (isEmpty(members) && isEmpty(groupOf(security['viewers']))) return true;
  return isListed(user, members) || isDbAdmin(user, security);
}

/** Whether the user may read documents. */
export function isReader(user: UserContext, security: SecurityObject): boolean {
  return isMember(user, security) || isListed(user, groupOf(security['viewers']));
}

export function requireServerAdmin(user: UserContext): void {
  if (!isServerAdmin(user)) throw new RequestError('unauthorized', 'You are not a server admin.');
}

/** For reading: members and viewers. */
export function checkMember(user: UserContext, security: SecurityObject): void {
  if (isReader(user, security)) return;
  throw user.name === null
    ? new RequestError('unauthorized', 'You are not authorized to access this db.')
    : new RequestError('forbidden', 'You are not allowed to access this db.');
}

/** For writing. */
export function checkWriter(user: UserContext, security: SecurityObject): void {
  if (isMember(user, security)) return;
  checkMember(user, security);
  throw new RequestError('forbidden', 'You are a viewer of this db: you may read it, but not change it.');
}

/** For changes of design documents and of the database's settings. */
export function checkDbAdmin(user: UserContext, security: SecurityObject): void {
  const refusal = dbAdminRefusal(user, security);
  if (refusal !== undefined) throw refusal;
}

export function dbAdminRefusal(user: UserContext, security: SecurityObject): RequestError | undefined {
  if (isDbAdmin(user, security)) return undefined;
  return new RequestError(
    user.name === null ? 'unauthorized' : 'forbidden',
    'You are not a db or server admin.',
  );
}

/** For compaction and clean-up, whose refusal has a name and words of its own. */
export function checkMaintenance(user: UserContext, security: SecurityObject): void {
  checkMember(user, security);
  if (!isDbAdmin(user, security)) throw new RequestError('unauthorized', 'You are not a server or db admin.');
}

interface Group {
  names: readonly unknown[];
  roles: readonly unknown[];
}

function groupOf(value: unknown): Group {
  const group = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { names: listOf(group['names']), roles: listOf(group['roles']) };
}

const isEmpty = ({ names, roles }: Group): boolean => names.length === 0 && roles.length === 0;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isListed(user: UserContext, group: Group): boolean {
  if (user.name !== null && group.names.includes(user.name)) return true;
  return user.roles.some((role) => group.roles.includes(role));
}
