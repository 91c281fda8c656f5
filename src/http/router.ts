import { fromBytes, type Bytes } from '../base/bytes.js';
import { badRequest, Refusal } from '../base/errors.js';
import {
  checkDbAdmin,
  checkMaintenance,
  checkMember,
  isServerAdmin,
  requireServerAdmin,
} from '../auth/rights.js';
import type { Database } from '../cluster/database.js';
import type { Exchange } from './exchange.js';
import { encodePart } from './path.js';
import { RouteTable, type Access, type Route } from './route.js';
import { attachmentAllow, attachmentMethods, attachmentName } from './routes/attachment-routes.js';
import { bulkGetRoutes } from './routes/bulk-get-routes.js';
import { bulkRoutes } from './routes/bulk-routes.js';
import { changesRoutes, feedRoutes } from './routes/changes-routes.js';
import { createDatabase, databaseRoutes, deleteDatabase, getDatabase } from './routes/database-routes.js';
import { findRoutes } from './routes/find-routes.js';
import { designRoutes } from './routes/design-routes.js';
import { documentAllow, documentMethods, postDocument } from './routes/document-routes.js';
import { indexRoutes } from './routes/index-routes.js';
import { listingRoutes } from './routes/listing-routes.js';
import { listRoutes } from './routes/list-routes.js';
import { nodeRoutes } from './routes/node-routes.js';
import { partitionRoutes } from './routes/partition-routes.js';
import { pageRoutes } from './routes/page-routes.js';
import { revisionRoutes } from './routes/revision-routes.js';
import { rewriteRoutes } from './routes/rewrite-routes.js';
import { serverRoutes } from './routes/server-routes.js';
import { viewRoutes } from './routes/view-routes.js';
import { unbuiltServerRoutes } from './routes/unbuilt-routes.js';

/** All routes of the server, and all those below a database. */
export const allServerRoutes = [
  ...serverRoutes,
  ...feedRoutes,
  ...nodeRoutes,
  ...pageRoutes,
  ...unbuiltServerRoutes,
];
export const allDatabaseRoutes = [
  ...databaseRoutes,
  ...listingRoutes,
  ...bulkRoutes,
  ...bulkGetRoutes,
  ...revisionRoutes,
  ...findRoutes,
  ...indexRoutes,
  ...viewRoutes,
  ...partitionRoutes,
  ...designRoutes,
  ...listRoutes,
  ...rewriteRoutes((exchange) => route(exchange)),
  ...changesRoutes,
];

const serverTable = new RouteTable(allServerRoutes, 0);
const databaseTable = new RouteTable(allDatabaseRoutes, 1);
const databaseAllow = 'DELETE,GET,HEAD,POST';

/** Finds what answers a request and lets it. */
export function route(exchange: Exchange): void | Promise<void> {
  const { parts } = exchange;
  const found = serverTable.find(parts);
  if (found !== undefined) {
    const handler = handlerOf(found, exchange.method);
    checkServerAccess(found.access, exchange);
    return handler(exchange);
  }
  if (parts.length === 1) return routeDatabase(exchange);
  const database = exchange.services.cluster.database(fromBytes(parts[0]!));
  return routeBelow(exchange, database);
}

function routeDatabase(exchange: Exchange): void | Promise<void> {
  const { method, services, parts } = exchange;
  if (method === 'PUT') return createDatabase(exchange);
  if (method === 'DELETE') return deleteDatabase(exchange);
  const database = services.cluster.database(fromBytes(parts[0]!));
  checkMember(exchange.user, database.security);
  if (method === 'GET' || method === 'HEAD') return getDatabase(exchange, database);
  if (method === 'POST') return postDocument(exchange, database);
  throw methodNotAllowed(databaseAllow);
}

function routeBelow(exchange: Exchange, database: Database): void | Promise<void> {
  const { parts } = exchange;
  const second = parts[1]!;
  if (second.charCodeAt(0) !== underscore) {
    checkMember(exchange.user, database.security);
    database.checkId(second);
    if (parts.length === 2) return callDocument(exchange, database, second);
    return callAttachment(exchange, database, second, 2);
  }
  const found = databaseTable.find(parts);
  if (found !== undefined) {
    const handler = handlerOf(found, exchange.method);
    checkDatabaseAccess(found.access, exchange, database);
    return handler(exchange, database);
  }
  checkMember(exchange.user, database.security);
  return routeReserved(exchange, database);
}

const underscore = 0x5f;

/** Design and local documents, whose ids are made of two parts of the path, and ids that nobody may have. */
function routeReserved(exchange: Exchange, database: Database): void | Promise<void> {
  const { parts, method } = exchange;
  const [, second = '', third] = parts;
  if (second === '_local' && third !== undefined) {
    if (parts.length > 3) throw badRequest('_local documents do not accept attachments.');
    return callDocument(exchange, database, `_local/${third}`);
  }
  if (second === '_design' && third !== undefined) {
    if (parts.length > 3) return callAttachment(exchange, database, `_design/${third}`, 3);
    return callDocument(exchange, database, `_design/${third}`);
  }
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && second.startsWith('_design/') && (third === undefined || third.startsWith('_')))
    return redirectDesign(exchange, second);
  if (parts.length > 2) return callAttachment(exchange, database, second, 2);
  return callDocument(exchange, database, second);
}

/** The address of a design document has a plain slash. */
function redirectDesign(exchange: Exchange, id: Bytes): void {
  const query = exchange.rawPath.split('?').slice(1).join('?');
  const rest = exchange.parts.slice(2).map((part) => `/${encodePart(part)}`);
  const path = `/${encodePart(exchange.parts[0]!)}/_design/${encodePart(id.slice('_design/'.length))}${rest.join('')}`;
  exchange.empty(301, { Location: exchange.location(query === '' ? path : `${path}?${query}`) });
}

/** What is left of the path behind the document is the attachment's name. */
function callAttachment(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  nameFrom: number,
): void | Promise<void> {
  const handler = attachmentMethods[exchange.method === 'HEAD' ? 'GET' : exchange.method];
  if (handler === undefined) throw methodNotAllowed(attachmentAllow);
  return handler(exchange, database, id, attachmentName(exchange.parts.slice(nameFrom)));
}

function callDocument(exchange: Exchange, database: Database, id: Bytes): void | Promise<void> {
  const handler = documentMethods[exchange.method === 'HEAD' ? 'GET' : exchange.method];
  if (handler === undefined) throw methodNotAllowed(documentAllow);
  return handler(exchange, database, id);
}

function handlerOf<Handler>({ methods, allow }: Route<Handler>, method: string): Handler {
  const handler = methods[method === 'HEAD' ? 'GET' : method];
  if (handler === undefined) throw methodNotAllowed(allow);
  return handler;
}

/** A refusal that also says what is allowed. */
export class MethodNotAllowed extends Refusal {
  constructor(readonly allow: string) {
    super('method_not_allowed', `Only ${allow} allowed`);
  }
}

const methodNotAllowed = (allow: string): Refusal => new MethodNotAllowed(allow);

function checkServerAccess(access: Access, { user }: Exchange): void {
  if (access === 'server_admin') requireServerAdmin(user);
  if (access === 'metrics' && !isServerAdmin(user) && !user.roles.includes('_metrics')) {
    throw new Refusal('unauthorized', 'You are not a server admin or read-only metrics user');
  }
}

function checkDatabaseAccess(access: Access, { user }: Exchange, { security }: Database): void {
  if (access === 'member') checkMember(user, security);
  else if (access === 'db_admin') checkDbAdmin(user, security);
  else if (access === 'maintenance') checkMaintenance(user, security);
  else if (access === 'server_admin') requireServerAdmin(user);
}
