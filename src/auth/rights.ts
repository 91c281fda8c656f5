import { RequestError } from '../base/errors.js';
import { serverAdminRole, type UserContext } from '../base/user-context.js';

/** A database's security object: any JSON object, of which `admins` and `members` (formerly `readers`) decide rights. */
export type SecurityObject = Readonly<Record<string, unknown>>;

export function isServerAdmin(user: UserContext): boolean {
  return user.roles.includes(serverAdminRole);
}

/** A database admin, or a server admin, who is one everywhere. */
export function isDbAdmin(user: UserContext, security: SecurityObject): boolean {
  return isServerAdmin(user) || isListed(user, groupOf(security['admins']));
}

/** Whether the user may read and write documents. A database without members is public. */
function isMember(user: UserContext, security: SecurityObject): boolean {
  const members = groupOf(security['members'] ?? security['readers']);
  if (members.names.length === 0 && members.roles.length === 0) return true;
  return isListed(user, members) || isDbAdmin(user, security);
}

export function requireServerAdmin(user: UserContext): void {
  if (!isServerAdmin(user)) throw new RequestError('unauthorized', 'You are not a server admin.');
}

export function checkMember(user: UserContext, security: SecurityObject): void {
  if (isMember(user, security)) return;
  throw user.name === null
    ? new RequestError('unauthorized', 'You are not authorized to access this db.')
    : new RequestError('forbidden', 'You are not allowed to access this db.');
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

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isListed(user: UserContext, group: Group): boolean {
  if (user.name !== null && group.names.includes(user.name)) return true;
  return user.roles.some((role) => group.roles.includes(role));
}
