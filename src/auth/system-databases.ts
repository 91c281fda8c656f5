import { RequestError, type ErrorName } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { untilConfirmed } from '../log/confirmation.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { adminsOnly } from '../node/new-system-databases.js';
import type { Config } from '../config/config.js';
import { addAuthDesign } from './auth-design.js';
import { checkDbAdmin, checkMember, isReader, isServerAdmin, requireServerAdmin } from './rights.js';
import { holdsUsers, publicFields, usersDatabase } from './users-database.js';

/** Databases that the server itself works with. */
const systemDatabases: readonly string[] = ['_users', '_replicator', '_global_changes'];

const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** Whether a name that the rule for names does not allow is one of the server's own. */
export function isSystemName(config: Config, name: string): boolean {
  return systemDatabases.includes(name) || name === usersDatabase(config);
}

/** The security object that a new database begins with; undefined if it is left unset, which makes the database public. */
export function securityOfNew(config: Config, name: string): Record<string, unknown> | undefined {
  const closed =
    config.choice('couchdb/default_security') === 'admin_only' ||
    systemDatabases.includes(lastPart(name)) ||
    holdsUsers(config, name);
  return closed ? adminsOnly : undefined;
}

/** Runs a write, once or until it has succeeded. */
type Persistence = <T>(write: () => Promise<T>) => Promise<T>;

/** Makes those of the databases that are missing. */
export async function ensureDatabases(
  registry: DatabaseRegistry,
  config: Config,
  names: readonly string[],
  persist: Persistence = (write) => write(),
): Promise<void> {
  const missing = [...new Set(names)].filter((name) => !registry.exists(name));
  await Promise.all(
    missing.map(async (name) => {
      const security = securityOfNew(config, name);
      const settings = { q: config.number('cluster/q'), ...(security && { security }) };
      // Another request, or an attempt whose outcome was unknown, may have done either before.
      await unless('file_exists', () => persist(() => registry.createDatabase(name, settings)));
      await unless('conflict', () => persist(() => addAuthDesign(registry, config, name)));
    }),
  );
}

/** Ends quietly where a write fails in this way. */
async function unless(name: ErrorName, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof RequestError) || error.error !== name) throw error;
  }
}

/**
 * Gives a data folder that was never used before the databases that clients expect to find. Waits for the log of a cluster: a
 * start that ended here would not be made up for by the next one.
 */
export async function setUp(registry: DatabaseRegistry, config: Config): Promise<void> {
  if (!registry.isNew || !config.boolean('tuffet/auto_setup')) return;
  const names = [usersDatabase(config), ...systemDatabases.filter((name) => name !== '_users')];
  await ensureDatabases(registry, config, names, untilConfirmed);
}

/** Listing a system database shows other users' documents, so only server admins may list users and replications. */
export function checkListing(config: Config, user: UserContext, { name, security }: Database): void {
  if (isServerAdmin(user)) return;
  if (holdsUsers(config, name)) {
    if (user.name === null || publicFields(config).size === 0 || !isReader(user, security))
      requireServerAdmin(user);
  } else if (lastPart(name) === '_replicator') requireServerAdmin(user);
  checkMember(user, security);
}

/** Local documents belong to no user: those of a database with users, replication checkpoints, are for its admins. */
export function checkLocal(config: Config, user: UserContext, { name, security }: Database): void {
  checkMember(user, security);
  if (holdsUsers(config, name)) checkDbAdmin(user, security);
}

/** The security object of the users database decides who sees accounts: it stays as it is unless it is unlocked. */
export function checkSecurityChange(config: Config, { name }: Database): void {
  if (name !== usersDatabase(config) || config.boolean('couchdb/users_db_security_editable')) return;
  throw new RequestError('forbidden', "You can't edit the security object of the user database.");
}
