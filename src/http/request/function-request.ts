import { fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import type { Database } from '../../node/database.js';
import { databaseInfo } from '../../node/database-info.js';
import { functionSecurity, functionUser } from '../../design/validate-docs.js';
import type { Exchange } from '../exchange.js';
import { nodeHeaders } from './from-node.js';
import { splitPath } from './path.js';
import { parseJsonText, Query } from './query.js';

/** What a function is told of the request beside what the request itself says. */
export interface FunctionRequestOptions {
  /** The document's id, where the address names one. */
  id?: Bytes | undefined;
  /** The body as a value; functions without a body see the word `undefined`, as CouchDB has it. */
  body?: unknown;
  /** The parameters, where they did not come with the address. */
  query?: Query;
}

/** The request as functions see it, as JSON. */
export function functionRequest(
  exchange: Exchange,
  database: Database,
  { id, body = 'undefined', query = exchange.query }: FunctionRequestOptions = {},
): Bytes {
  const { method, parts, rawPath, request, services, user } = exchange;
  const headers = visibleHeaders(request.rawHeaders, services.config.text('chttpd_auth/x_auth_token'));
  const path = parts.map(fromBytes);
  const value = {
    info: databaseInfo(database, services.registry.membership),
    id: id === undefined ? null : fromBytes(id),
    uuid: services.uuids.next(),
    method,
    requested_path: requestedParts(exchange).map(fromBytes),
    path,
    raw_path: rawPath,
    query: parametersOf(query),
    headers,
    body,
    peer: exchange.sender,
    form: formOf(method, exchange.header('content-type'), body),
    // Sessions are cookies, and so may be what other services on the same host know their users by.
    cookie: {},
    userCtx: functionUser(database, user),
    secObj: functionSecurity(database),
  };
  return toBytes(JSON.stringify(value));
}

/** Parameters are texts, except for those that are JSON in queries of views, as in CouchDB. */
function parametersOf(query: Query): Record<string, unknown> {
  const parameters: [string, unknown][] = [];
  for (const [name, text] of query.entries())
    parameters.push([name, jsonParameters.has(name) ? parseJsonText(text) : text]);
  return Object.fromEntries(parameters);
}

const jsonParameters: ReadonlySet<string> = new Set(['startkey', 'endkey', 'key', 'descending']);

/** The parts of what the client asked for. As in CouchDB, the query string is part of the last one. */
export function requestedParts({ rawPath, requestedParts }: Exchange): readonly Bytes[] {
  return requestedParts ?? splitPath(rawPath);
}

/** The body of a request as functions see it: its text. */
export async function functionBody(exchange: Exchange): Promise<string> {
  const announced =
    exchange.header('content-length') !== undefined || exchange.header('transfer-encoding') !== undefined;
  const bytes = await exchange.body(exchange.jsonBytesMax);
  return announced || bytes.length > 0 ? bytes.toString() : 'undefined';
}

/**
 * Headers with credentials, of users or of nodes. Functions get the user's name and roles, but not these: authors of functions
 * administer one database, and neither the accounts of the server nor its cluster.
 */
const secretHeaders = new Set([
  ...nodeHeaders,
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-auth-couchdb-token',
  'x-auth-svc-token',
]);

/** Headers under their usual spelling, however the client wrote them. */
function visibleHeaders(rawHeaders: readonly string[], tokenHeader: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const lower = name.toLowerCase();
    if (lower.startsWith(':') || secretHeaders.has(lower) || lower === tokenHeader.toLowerCase()) continue;
    const spelled = usualSpelling(name);
    const value = rawHeaders[i + 1]!;
    headers[spelled] = Object.hasOwn(headers, spelled) ? `${headers[spelled]}, ${value}` : value;
  }
  return headers;
}

export const usualSpelling = (name: string): string =>
  name.toLowerCase().replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** As in CouchDB, only `POST` and `PUT` send forms. */
function formOf(method: string, type: string | undefined, body: unknown): Record<string, string> {
  if (method !== 'POST' && method !== 'PUT') return {};
  if (typeof body !== 'string' || !type?.startsWith('application/x-www-form-urlencoded')) return {};
  return Object.fromEntries(new Query(toBytes(body)).entries());
}
