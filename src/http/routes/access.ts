import { RequestError } from '../../base/errors.js';
import {
  checkDbAdmin,
  checkMaintenance,
  checkMember,
  checkWriter,
  isServerAdmin,
  requireServerAdmin,
} from '../../auth/rights.js';
import { checkListing, checkLocal, isSystemName } from '../../auth/system-databases.js';
import type { Database } from '../../node/database.js';
import { eventsDatabase } from '../../node/db-events.js';
import type { Exchange } from '../exchange.js';
import type { Access } from './route.js';

type Check<Subject extends unknown[]> = (exchange: Exchange, ...subject: Subject) => void;

const serverAdmins: Check<unknown[]> = ({ user }) => requireServerAdmin(user);
const everybody: Check<unknown[]> = () => {};

const serverChecks: Readonly<Record<Access, Check<[]>>> = {
  public: everybody,
  server_admin: serverAdmins,
  // CouchDB lets every user replicate, and has words for the others, which clients know.
  replicate: ({ user }) => {
    if (user.name === null && user.roles.length === 0)
      throw new RequestError('unauthorized', 'You are not an authenticated user');
    requireServerAdmin(user);
  },
  all_dbs: (exchange) => {
    if (exchange.services.config.boolean('chttpd/admin_only_all_dbs')) serverAdmins(exchange);
  },
  metrics: ({ user }) => {
    if (isServerAdmin(user) || user.roles.includes('_metrics')) return;
    throw new RequestError('unauthorized', 'You are not a server admin or read-only metrics user');
  },
  // Roles of a database; on routes without a database they are those of server admins.
  member: serverAdmins,
  writer: serverAdmins,
  listing: serverAdmins,
  local: serverAdmins,
  local_writer: serverAdmins,
  local_listing: serverAdmins,
  db_admin: serverAdmins,
  design_writer: serverAdmins,
  maintenance: serverAdmins,
};

const databaseChecks: Readonly<Record<Access, Check<[Database]>>> = {
  ...serverChecks,
  member: ({ user }, { security }) => checkMember(user, security),
  writer: ({ user }, { security }) => checkWriter(user, security),
  listing: ({ user, services }, database) => checkListing(services.config, user, database),
  local: ({ user, services }, database) => checkLocal(services.config, user, database),
  local_writer: ({ user, services }, database) => {
    checkWriter(user, database.security);
    checkLocal(services.config, user, database);
  },
  local_listing: ({ user, services }, database) => {
    checkListing(services.config, user, database);
    checkLocal(services.config, user, database);
  },
  // Users who are not admins are refused when the document is saved, after the check for conflicts.
  design_writer: ({ user }, { security }) => checkWriter(user, security),
  db_admin: ({ user }, { security }) => {
    checkMember(user, security);
    checkDbAdmin(user, security);
  },
  maintenance: ({ user }, { security }) => checkMaintenance(user, security),
};

/** Throws if the user may not call a route of the server as a whole. */
export function checkServerAccess(access: Access, exchange: Exchange): void {
  serverChecks[access](exchange);
}

/** What shows documents of all users. */
const adminListings: ReadonlySet<string> = new Set(['_all_docs', '_changes']);

/** Who may not see one at all is told that first, as in CouchDB, unless server admins alone are asked for. */
function checkSystemDatabase({ user, parts, services }: Exchange, { name, security }: Database): void {
  // It tells of every database, whatever its security object says.
  if (name === eventsDatabase) requireServerAdmin(user);
  else if (isSystemName(services.config, name) && !adminListings.has(parts[1] ?? ''))
    checkMember(user, security);
}

/** Throws if the user may not call a route of a database. */
export function checkDatabaseAccess(access: Access, exchange: Exchange, database: Database): void {
  checkSystemDatabase(exchange, database);
  databaseChecks[access](exchange, database);
}
