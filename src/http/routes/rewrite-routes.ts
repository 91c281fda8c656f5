import { IncomingMessage } from 'node:http';
import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, FunctionError, notFound, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import type { DesignDoc } from '../../node/design-doc-cache.js';
import { openDesignDoc, requireJavascript } from '../../design/design-functions.js';
import { callFunction } from '../request/design-call.js';
import { Exchange } from '../exchange.js';
import { answerFunction } from '../answer/function-answer.js';
import { nodeHeaders } from '../request/from-node.js';
import { functionBody, functionRequest, requestedParts } from '../request/function-request.js';
import { encodePart, splitPath } from '../request/path.js';
import { Query } from '../request/query.js';
import { applyRules } from '../request/rewrite-rules.js';
import { everyMethod, forEveryMethod, type DatabaseRoute } from './route.js';

/** Leads one request through the routes, from the beginning. */
export type Router = (exchange: Exchange) => void | Promise<void>;

/** Rewrites in a row, after which rules are taken to run in circles. */
const rewritesMax = 20;

/** Addresses below a design document that its own rules give a meaning. */
export function rewriteRoutes(route: Router): readonly DatabaseRoute[] {
  const rewrite = (exchange: Exchange, database: Database): Promise<void> =>
    rewriteRequest(exchange, database, route);
  return [
    {
      path: '/{db}/_design/{ddoc}/_rewrite/*',
      allow: everyMethod.join(),
      access: 'member',
      methods: forEveryMethod(rewrite),
    },
  ];
}

async function rewriteRequest(exchange: Exchange, database: Database, route: Router): Promise<void> {
  if (exchange.rewrites >= rewritesMax) throw badRequest('The rewrite rules run in circles.');
  const design = openDesignDoc(database, exchange.parts[2]!);
  const { rewrites } = design.value;
  if (typeof rewrites === 'string') return rewriteByFunction(exchange, database, design, route);
  if (!Array.isArray(rewrites)) throw invalidPath();
  const found = applyRules(rewrites, {
    method: exchange.method,
    path: exchange.parts.slice(4).map(fromBytes),
    query: new Map(exchange.query.entries()),
  });
  if (found === undefined) throw notFound('missing');
  await route(rewritten(exchange, found.path, { query: found.query }));
}

const invalidPath = (): RequestError => new RequestError('rewrite_error', 'Invalid path.');

/** What a rewrite function may change of a request. */
interface Change {
  query?: Iterable<[string, string]>;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** The request as if it had come to another address, relative to the design document. */
function rewritten(exchange: Exchange, path: string, change: Change): Exchange {
  const [db, , ddoc] = exchange.parts as [Bytes, Bytes, Bytes];
  const parts = resolve([db, asBytes('_design'), ddoc], path);
  const pairs = [...(change.query ?? [])].map(([name, value]) =>
    [name, value].map((text) => encodeURIComponent(text.toWellFormed())).join('='),
  );
  const query = pairs.join('&');
  const rawPath = `/${parts.map(encodePart).join('/')}${query === '' ? '' : `?${query}`}`;
  const next = new Exchange(
    exchange.services,
    changedRequest(exchange.request, change),
    exchange.response,
    change.method ?? exchange.method,
    parts,
    rawPath,
    new Query(query),
    exchange.id,
  );
  next.user = exchange.user;
  next.callback = exchange.callback;
  next.requestedParts = requestedParts(exchange);
  next.rewrites = exchange.rewrites + 1;
  return next;
}

/** Rules must not lead out of their database: what they lead to is asked for in the client's name. */
function resolve(base: readonly Bytes[], path: string): Bytes[] {
  const parts = [...base];
  for (const part of splitPath(toBytes(path))) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
    if (parts.length === 0) throw badRequest('The rewrite rule leads out of the database.');
  }
  return parts;
}

async function rewriteByFunction(
  exchange: Exchange,
  database: Database,
  design: DesignDoc,
  route: Router,
): Promise<void> {
  requireJavascript(design.value);
  const body = await functionBody(exchange);
  const request = functionRequest(exchange, database, { body });
  const text = await callFunction(
    exchange,
    database,
    { design, path: ['rewrites'] },
    asBytes(`[${request}]`),
  ).catch((error: unknown) => {
    const isThrown = error instanceof FunctionError && error.error === 'render_error';
    throw isThrown ? new FunctionError('rewrite_error', error.reason) : error;
  });
  const result = JSON.parse(fromBytes(text)) as unknown;
  const query = new Map(exchange.query.entries());
  if (typeof result === 'string') return route(rewritten(exchange, result, { query, body }));
  if (typeof result !== 'object' || result === null) throw invalidPath();
  const answer = result as Record<string, unknown>;
  if (answer['code'] !== undefined) return answerFunction(exchange, answer, 200, {});
  if (typeof answer['path'] !== 'string') throw invalidPath();
  await route(rewritten(exchange, answer['path'], { query, body, ...changeOf(answer) }));
}

const methodsKnown = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY']);

function changeOf({ query, method, headers, body }: Readonly<Record<string, unknown>>): Change {
  const wrong = (name: string): FunctionError =>
    new FunctionError('rewrite_error', `The rewrite function gave a \`${name}\` that cannot be used.`);
  if (method !== undefined && !methodsKnown.has(method as string)) throw wrong('method');
  if (body !== undefined && typeof body !== 'string') throw wrong('body');
  return {
    ...(query === undefined ? {} : { query: texts(query) ?? raise(wrong('query')) }),
    ...(method === undefined ? {} : { method: method as string }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(texts(headers) ?? raise(wrong('headers'))) }),
    ...(body === undefined ? {} : { body }),
  };
}

function raise(error: Error): never {
  throw error;
}

/** Members as texts; undefined where there are no members. */
function texts(value: unknown): [string, string][] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).map(([name, each]) => [
    name,
    typeof each === 'string' ? each : JSON.stringify(each),
  ]);
}

/** The request with other headers, or another body in the place of one that was read already. */
function changedRequest(request: IncomingMessage, { headers = {}, body }: Change): IncomingMessage {
  if (body === undefined && Object.keys(headers).length === 0) return request;
  const changed = new IncomingMessage(request.socket);
  const given = Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !nodeHeaders.has(name));
  const names = new Set(given.map(([name]) => name));
  const bytes = Buffer.from(body === undefined || body === 'undefined' ? '' : body);
  const raw: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    if (names.has(name.toLowerCase()) || bodyHeaders.has(name.toLowerCase())) continue;
    raw.push(name, request.rawHeaders[i + 1]!);
  }
  for (const [name, value] of given) if (!bodyHeaders.has(name)) raw.push(name, toBytes(value));
  if (bytes.length > 0) raw.push('content-length', String(bytes.length));
  changed.rawHeaders = raw;
  changed.method = request.method ?? 'GET';
  for (let i = 0; i < raw.length; i += 2) changed.headers[raw[i]!.toLowerCase()] = raw[i + 1]!;
  if (bytes.length > 0) changed.push(bytes);
  changed.push(null);
  changed.complete = true;
  return changed;
}

/** These tell of the body as the client sent it. */
const bodyHeaders = new Set(['content-length', 'transfer-encoding', 'content-encoding']);
