import type { OutgoingHttpHeaders } from 'node:http';
import { asBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import {
  Listing,
  rowsForKeys,
  rowsForKeysWithData,
  type ListingKind,
  type NamedKey,
} from '../../documents/list-docs.js';
import { encodeSequence } from '../../node/sequence.js';
import { streamedBytes } from '../answer/compression.js';
import type { Exchange } from '../exchange.js';
import { listingRequest, type ListingRequest } from '../request/listing-query.js';
import {
  bodyParameters,
  json,
  list as listOf,
  parseError,
  partitionName,
  queryParameters,
  sharedParameters,
  type Parameter,
} from '../request/parameters.js';
import { checkPartitionAsked } from '../request/partition-asked.js';
import { limitRows } from '../request/row-limit.js';
import { checkListing } from '../../auth/system-databases.js';
import { rowsForList, type RowsForList } from '../../views/list-rows.js';
import { namesTag } from '../request/negotiate.js';
import type { Access, DatabaseHandler, DatabaseRoute } from './route.js';
import { writePiece, writePieces } from '../answer/stream.js';

const listingRoutesOf = (name: string, kind: ListingKind, access: Access): DatabaseRoute[] => [
  {
    path: `/{db}/${name}`,
    allow: 'GET,HEAD,POST',
    access,
    methods: { GET: list(kind), POST: listByBody(kind) },
  },
  { path: `/{db}/${name}/queries`, allow: 'POST', access, methods: { POST: listQueries(kind) } },
];

/** Documents in the order of their ids. */
export const listingRoutes: readonly DatabaseRoute[] = [
  ...listingRoutesOf('_all_docs', 'all', 'listing'),
  ...listingRoutesOf('_design_docs', 'design', 'listing'),
  ...listingRoutesOf('_local_docs', 'local', 'local_listing'),
];

export function list(kind: ListingKind): DatabaseHandler {
  return (exchange, database) => {
    // Keys are read before everything else.
    const keys = exchange.query.first('keys');
    if (keys !== undefined) listOf({ text: keys });
    return answer(exchange, database, kind, listingRequest(queryParameters(exchange, database)));
  };
}

/** Every parameter may stand in the body; where the query speaks too, the query counts. */
export function listByBody(kind: ListingKind): DatabaseHandler {
  return async (exchange, database) => {
    const body = await exchange.jsonObject();
    if ('partition' in body) partitionName({ value: body['partition'] });
    if ('keys' in body) listOf({ value: body['keys'] });
    const asked = [...queryParameters(exchange, database)].map(singleKey);
    await answer(exchange, database, kind, listingRequest([...bodyParameters(body), ...asked]));
  };
}

/** Several listings in one answer; the query string holds what is the same for all. */
export function listQueries(kind: ListingKind): DatabaseHandler {
  return async (exchange, database) => {
    const { queries } = await exchange.jsonObject({ typed: false });
    if (queries === undefined) throw badRequest('POST body must include `queries` parameter.');
    if (!Array.isArray(queries)) throw badRequest('`queries` member must be an array.');
    const shared = sharedParameters(exchange, database);
    const requests: ListingRequest[] = [];
    const slice = exchange.runtime.slice();
    for (const query of queries as unknown[]) {
      if (slice.isOver) await slice.next();
      if (typeof query !== 'object' || query === null || Array.isArray(query))
        throw badRequest('Each query must be a JSON object.');
      if ('keys' in query && !Array.isArray(query.keys))
        throw parseError('`keys` must be an array of strings.');
      const own = [...bodyParameters(query as Record<string, unknown>)].map(singleKey);
      const request = limitRows(exchange.services.config, listingRequest([...shared, ...own]));
      await checkPartitionAsked(database, kind, request);
      requests.push(request);
    }
    await answerAll(exchange, database, kind, requests);
  };
}

/** Among several queries, and in a query beside a body, a list of one key is that key: no row where it is missing. */
function singleKey([name, parameter]: [string, Parameter]): [string, Parameter] {
  if (name !== 'keys') return [name, parameter];
  const keys = json(parameter);
  if (!Array.isArray(keys)) throw parseError('`keys` must be an array of strings.');
  return keys.length === 1 ? ['key', { value: keys[0] }] : [name, { value: keys }];
}

/** A tag belongs to one address, so where the database stands is all it has to tell. */
function etagOf(database: Database): string {
  return `"${database.record.instance}-${database.total('position').toString(36)}"`;
}

function answer(
  exchange: Exchange,
  database: Database,
  kind: ListingKind,
  request: ListingRequest,
): void | Promise<void> {
  const checking = checkPartitionAsked(database, kind, request);
  const answerNow = (): void | Promise<void> => answerChecked(exchange, database, kind, request);
  return checking === undefined ? answerNow() : checking.then(answerNow);
}

/** Waits for what offsets are told from, the first time; after that a page is answered without waiting for anything. */
function answerChecked(
  exchange: Exchange,
  database: Database,
  kind: ListingKind,
  request: ListingRequest,
): void | Promise<void> {
  limitRows(exchange.services.config, request);
  const etag = etagOf(database);
  if (namesTag(exchange.header('if-none-match'), etag)) return exchange.empty(304, { ETag: etag });
  request.show = exchange.services.registry.showFor(database, exchange.user);
  const listing = new Listing(database, kind, request);
  const answerNow = (): void | Promise<void> => answerReady(exchange, database, kind, request, listing, etag);
  return needsOffset(kind, request) && !listing.isReady ? listing.ready().then(answerNow) : answerNow();
}

const needsOffset = (kind: ListingKind, { keys }: ListingRequest): boolean =>
  kind !== 'local' && keys === undefined;

function answerReady(
  exchange: Exchange,
  database: Database,
  kind: ListingKind,
  request: ListingRequest,
  listing: Listing,
  etag: string,
): void | Promise<void> {
  const headers = { ETag: etag };
  const opening = openingOf(database, kind, request, listing);
  if (wantsData(kind, request)) {
    return answerWithData(exchange, dataRowsOf(exchange, database, kind, request, listing), opening, headers);
  }
  const rows = rowsOf(database, kind, request, listing);
  const first = rows.next();
  const second = first.done ? first : rows.next();
  if (!second.done) return stream(exchange, asBytes(opening + first.value + second.value), rows, headers);
  exchange.text(200, asBytes(`${opening}${first.done ? '' : first.value}\n]}`), { ETag: etag });
}

async function stream(
  exchange: Exchange,
  beginning: Bytes,
  rows: Iterable<Bytes>,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const { response } = exchange;
  exchange.jsonHead(200, headers, streamedBytes);
  if (exchange.method === 'HEAD') return void response.end();
  if (!(await writePiece(exchange, beginning))) return;
  if (await writePieces(exchange, rows)) exchange.endJson(asBytes('\n]}\n'));
}

async function answerWithData(
  exchange: Exchange,
  rows: AsyncIterable<Bytes>,
  opening: Bytes,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const { response } = exchange;
  exchange.jsonHead(200, headers);
  if (exchange.method === 'HEAD') return void response.end();
  if (!(await writePiece(exchange, opening))) return;
  if (await writeAll(exchange, rows)) exchange.endJson(asBytes('\n]}\n'));
}

/** Whether all of it has been sent. */
async function writeAll(exchange: Exchange, pieces: AsyncIterable<Bytes>): Promise<boolean> {
  for await (const piece of pieces) {
    if (!(await writePiece(exchange, piece))) return false;
  }
  return true;
}

async function answerAll(
  exchange: Exchange,
  database: Database,
  kind: ListingKind,
  requests: ListingRequest[],
): Promise<void> {
  exchange.jsonHead(200);
  let separator = '{"results":[\n';
  for (const request of requests) {
    request.show = exchange.services.registry.showFor(database, exchange.user);
    const listing = new Listing(database, kind, request);
    if (needsOffset(kind, request)) await listing.ready();
    if (!(await writePiece(exchange, asBytes(separator + openingOf(database, kind, request, listing)))))
      return;
    const sent = wantsData(kind, request)
      ? await writeAll(exchange, dataRowsOf(exchange, database, kind, request, listing))
      : await writePieces(exchange, rowsOf(database, kind, request, listing));
    if (!sent) return;
    separator = '\n]},\n';
  }
  exchange.endJson(requests.length === 0 ? asBytes('{"results":[]}\n') : asBytes('\n]}\n]}\n'));
}

/** The rows of `_all_docs` for a list function. */
export async function allDocsForList(
  exchange: Exchange,
  database: Database,
  parameters: Iterable<[string, Parameter]>,
): Promise<{ etag: string; rows: RowsForList }> {
  const { services, user } = exchange;
  const request = limitRows(services.config, listingRequest(parameters));
  checkListing(services.config, user, database);
  await checkPartitionAsked(database, 'all', request);
  request.show = services.registry.showFor(database, user);
  const listing = new Listing(database, 'all', request);
  if (needsOffset('all', request)) await listing.ready();
  const inParts = wantsData('all', request);
  const pieces = inParts
    ? dataRowsOf(exchange, database, 'all', request, listing)
    : rowsOf(database, 'all', request, listing);
  const opening = openingOf(database, 'all', request, listing);
  return { etag: etagOf(database), rows: rowsForList(opening, pieces, inParts, exchange.runtime) };
}

function openingOf(
  database: Database,
  kind: ListingKind,
  { keys, updateSeq }: ListingRequest,
  listing: Listing,
): Bytes {
  const noSeq = updateSeq ? ',"update_seq":null' : '';
  if (kind === 'local') return asBytes(`{"total_rows":null,"offset":null${noSeq},"rows":[`);
  if (keys !== undefined) return asBytes(`{"total_rows":${listing.total()},"offset":null${noSeq},"rows":[`);
  const seq = updateSeq ? `,"update_seq":"${encodeSequence(database)}"` : '';
  return asBytes(`{"total_rows":${listing.total()},"offset":${listing.offset()}${seq},"rows":[`);
}

function rowsOf(
  database: Database,
  kind: ListingKind,
  request: ListingRequest,
  listing: Listing,
): Generator<Bytes> {
  if (request.keys === undefined) return listing.pieces();
  return rowsForKeys(database, kind, namedKeys(request, request.keys), request);
}

const wantsData = (kind: ListingKind, { attachments, includeDocs }: ListingRequest): boolean =>
  attachments && includeDocs && kind !== 'local';

function dataRowsOf(
  { services: { registry } }: Exchange,
  database: Database,
  kind: ListingKind,
  request: ListingRequest,
  listing: Listing,
): AsyncGenerator<Bytes> {
  if (request.keys === undefined) return listing.piecesWithData(registry);
  return rowsForKeysWithData(registry, database, kind, namedKeys(request, request.keys), request);
}

/** Made as they are needed: there may be hundreds of thousands. */
function* namedKeys(
  { skip, limit, descending }: ListingRequest,
  keys: readonly unknown[],
): Generator<NamedKey> {
  const ordered = descending ? [...keys].reverse() : keys;
  for (let at = skip; at < Math.min(keys.length, skip + limit); at++) {
    const key = ordered[at];
    const id = typeof key === 'string' ? toBytes(key.toWellFormed()) : undefined;
    yield { text: toBytes(JSON.stringify(key)), id };
  }
}
