import { asBytes, fromBytes, noBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { openDesignDoc } from '../../design/design-functions.js';
import { isSystemName } from '../../auth/system-databases.js';
import { checkDatabaseAccess, checkServerAccess } from './access.js';
import type { Exchange } from '../exchange.js';
import { pathPartition } from '../request/partition-path.js';
import { encodePart } from '../request/path.js';
import { accessOf, RouteTable, type Access, type Route } from './route.js';
import { attachmentName, attachmentRoute, designAttachmentRoute } from './attachment-routes.js';
import { bulkGetRoutes } from './bulk-get-routes.js';
import { bulkRoutes } from './bulk-routes.js';
import { changesRoutes, feedRoutes } from './changes-routes.js';
import { clusterRoutes, operatorRoutes } from './cluster-routes.js';
import { joinRoutes } from './join-routes.js';
import { createDatabase, databaseRoutes, deleteDatabase, getDatabase } from './database-routes.js';
import { designRoutes } from './design-routes.js';
import { designDocumentRoute, documentRoute, localDocumentRoute, postDocument } from './document-routes.js';
import { findRoutes } from './find-routes.js';
import { indexRoutes } from './index-routes.js';
import { listingRoutes } from './listing-routes.js';
import { listRoutes } from './list-routes.js';
import { nodeRoutes } from './node-routes.js';
import { partitionRoutes } from './partition-routes.js';
import { pageRoutes } from './page-routes.js';
import { replicationRoutes } from './replication-routes.js';
import { revisionRoutes } from './revision-routes.js';
import { rewriteRoutes } from './rewrite-routes.js';
import { serverRoutes } from './server-routes.js';
import { sessionRoutes } from './session-routes.js';
import { setupRoutes } from './setup-routes.js';
import { analyzeRoutes } from './analyze-routes.js';
import { nouveauRoutes } from './nouveau-routes.js';
import { searchRoutes } from './search-routes.js';
import { upkeepRoutes } from './upkeep-routes.js';
import { viewRoutes } from './view-routes.js';
import { reshardRoutes } from './reshard-routes.js';

/** All routes of the server, and all those below a database. */
export const allServerRoutes = [
  ...serverRoutes,
  ...feedRoutes,
  ...sessionRoutes,
  ...setupRoutes,
  ...nodeRoutes,
  ...pageRoutes,
  ...replicationRoutes,
  ...analyzeRoutes,
  ...reshardRoutes,
  ...clusterRoutes,
  ...operatorRoutes,
  ...joinRoutes,
];
export const allDatabaseRoutes = [
  ...databaseRoutes,
  ...upkeepRoutes,
  ...listingRoutes,
  ...bulkRoutes,
  ...bulkGetRoutes,
  ...revisionRoutes,
  ...findRoutes,
  ...indexRoutes,
  ...viewRoutes,
  ...searchRoutes,
  ...nouveauRoutes,
  ...partitionRoutes,
  ...designRoutes,
  ...listRoutes,
  ...rewriteRoutes((exchange) => route(exchange)),
  ...changesRoutes,
];

const serverTable = new RouteTable(allServerRoutes, 0);
const databaseTable = new RouteTable(allDatabaseRoutes, 1);

/** A database itself. */
const databaseRoute: Route<(exchange: Exchange) => void | Promise<void>> = {
  path: '/{db}',
  allow: 'DELETE,GET,HEAD,POST',
  access: { GET: 'member', POST: 'writer', PUT: 'server_admin', DELETE: 'server_admin' },
  methods: {
    GET: (exchange) => getDatabase(exchange, openDatabase(exchange, 'GET')),
    POST: (exchange) => postDocument(exchange, openDatabase(exchange, 'POST')),
    PUT: (exchange) => {
      checkServerAccess(accessOf(databaseRoute, 'PUT'), exchange);
      return createDatabase(exchange);
    },
    DELETE: (exchange) => {
      checkServerAccess(accessOf(databaseRoute, 'DELETE'), exchange);
      return deleteDatabase(exchange);
    },
  },
};

function openDatabase(exchange: Exchange, method: string): Database {
  const database = exchange.services.registry.database(fromBytes(exchange.parts[0]!));
  checkDatabaseAccess(accessOf(databaseRoute, method), exchange, database);
  return database;
}

/** A database and its documents: the routes that are told by the form of the path and not by a name in it. */
export const documentRoutes = [
  databaseRoute,
  documentRoute,
  designDocumentRoute,
  localDocumentRoute,
  attachmentRoute,
  designAttachmentRoute,
];

/** Finds what answers a request and lets it. */
export function route(exchange: Exchange): void | Promise<void> {
  const { parts } = exchange;
  const found = serverTable.find(parts);
  if (found !== undefined) {
    const handler = handlerOf(found, exchange);
    checkServerAccess(accessOf(found, exchange.method), exchange);
    if (handler === undefined) throw methodNotAllowed(found.allow);
    return handler(exchange);
  }
  // What is below an underscore and is no system database does not exist, and only server admins are told so.
  const isReserved = parts[0]?.charCodeAt(0) === underscore;
  // One that earlier versions of the interface had is not there for anybody.
  const isFormer = parts.length === 1 && parts[0] === '_stats';
  if (isReserved && !isFormer && !isSystemName(exchange.services.config, fromBytes(parts[0]!)))
    checkServerAccess('server_admin', exchange);
  if (parts.length === 1) return callDatabase(exchange);
  return routeBelow(exchange, databaseBelow(exchange));
}

/** The database of a path; for what only server admins may do, others don't learn whether it is there. */
function databaseBelow(exchange: Exchange): Database {
  const { services, parts } = exchange;
  try {
    return services.registry.database(fromBytes(parts[0]!));
  } catch (error) {
    const isMissing = error instanceof RequestError && error.error === 'not_found';
    if (isMissing && databaseTable.find(parts)?.access === 'server_admin')
      checkServerAccess('server_admin', exchange);
    throw error;
  }
}

function routeBelow(exchange: Exchange, database: Database): void | Promise<void> {
  const { parts } = exchange;
  const second = parts[1]!;
  if (second.charCodeAt(0) !== underscore) {
    const route = parts.length === 2 ? documentRoute : attachmentRoute;
    if (handlerOf<unknown>(route, exchange) !== undefined) {
      checkDatabaseAccess('member', exchange, database);
      // These look at headers first.
      if (exchange.method !== 'COPY' && exchange.method !== 'POST') database.checkPlace(second);
    }
    if (parts.length === 2) return callDocument(documentRoute, exchange, database, second);
    return callAttachment(attachmentRoute, exchange, database, second, 2);
  }
  const found = databaseTable.find(parts);
  if (found !== undefined) return permittedHandler(found, exchange, database)(exchange, database);
  return routeReserved(exchange, database);
}

const underscore = 0x5f;

function callDatabase(exchange: Exchange): void | Promise<void> {
  const handler = handlerOf(databaseRoute, exchange);
  if (handler !== undefined) return handler(exchange);
  openDatabase(exchange, 'GET');
  throw methodNotAllowed(databaseRoute.allow);
}

/** Design and local documents, whose ids are made of two parts of the path, and reserved ids. */
function routeReserved(exchange: Exchange, database: Database): void | Promise<void> {
  const { parts, method } = exchange;
  const [, second = noBytes, third] = parts;
  checkDatabaseAccess('member', exchange, database);
  if (second === '_local' || second === '_local/') {
    if (third === undefined) throw badRequest('Invalid _local document id.');
    if (parts.length > 3) throw badRequest('_local documents do not accept attachments.');
    return callDocument(localDocumentRoute, exchange, database, asBytes(`_local/${third}`));
  }
  if (second === '_design' && third !== undefined) {
    if (parts[3]?.charCodeAt(0) === underscore) openDesignDoc(database, third);
    if (parts.length > 3)
      return callAttachment(designAttachmentRoute, exchange, database, asBytes(`_design/${third}`), 3);
    return callDocument(designDocumentRoute, exchange, database, asBytes(`_design/${third}`));
  }
  const isRead = method === 'GET' || method === 'HEAD';
  const isDesign = second.startsWith('_design/');
  if (isRead && isDesign) return redirectDesign(exchange, second);
  if (parts.length > 2)
    return callAttachment(isDesign ? designAttachmentRoute : attachmentRoute, exchange, database, second, 2);
  return callDocument(isDesign ? designDocumentRoute : documentRoute, exchange, database, second);
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
  route: typeof attachmentRoute,
  exchange: Exchange,
  database: Database,
  id: Bytes,
  nameFrom: number,
): void | Promise<void> {
  const handler = permittedHandler(route, exchange, database);
  return handler(exchange, database, id, attachmentName(exchange.parts.slice(nameFrom)));
}

function callDocument(
  route: typeof documentRoute,
  exchange: Exchange,
  database: Database,
  id: Bytes,
): void | Promise<void> {
  return permittedHandler(route, exchange, database)(exchange, database, id);
}

/** Strangers don't learn which methods there are. */
function permittedHandler<Handler>(route: Route<Handler>, exchange: Exchange, database: Database): Handler {
  const handler = handlerOf(route, exchange);
  checkDatabaseAccess(
    handler === undefined ? accessOfPath(route) : accessOf(route, exchange.method),
    exchange,
    database,
  );
  if (route.path.startsWith('/{db}/_partition/{partition}/')) pathPartition(exchange, database);
  if (handler !== undefined) return handler;
  // What is below a design document is asked of it, so a missing one is told of first.
  if (route.path.startsWith('/{db}/_design/{ddoc}/_')) openDesignDoc(database, exchange.parts[2]!);
  throw methodNotAllowed(route.allow);
}

/** Who is told which methods there are. */
function accessOfPath({ access }: Route<unknown>): Access {
  return access === 'maintenance' || access === 'listing' ? access : 'member';
}

function handlerOf<Handler>(found: Route<Handler>, exchange: Exchange): Handler | undefined {
  exchange.route = found;
  return found.methods[exchange.method === 'HEAD' ? 'GET' : exchange.method];
}

/** A refusal that also says what is allowed. */
export class MethodNotAllowed extends RequestError {
  constructor(readonly allow: string) {
    super('method_not_allowed', `Only ${allow} allowed`);
  }
}

const methodNotAllowed = (allow: string): RequestError => new MethodNotAllowed(allow);
