import { asBytes, noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { legalId } from '../../shard/doc-id.js';
import { quoteRev } from '../../shard/doc-text.js';
import { findRevs, type DocOptions, type FoundRevs } from '../../documents/open-doc.js';
import { formatRev, invalidRev, parseRev, type Rev } from '../../revisions/rev.js';
import {
  errorPart,
  openedInTurn,
  plainText,
  revPart,
  revPieces,
  sendParts,
  type AttachmentOptions,
} from '../answer/document-answer.js';
import type { Exchange } from '../exchange.js';
import { MultipartWriter, type OutgoingPart } from '../../base/multipart/multipart-writer.js';
import type { DatabaseRoute } from './route.js';
import { begun, writePiece } from '../answer/stream.js';

/** Many revisions in one request: what replicators read by. */
export const bulkGetRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_bulk_get', allow: 'POST', access: 'member', methods: { POST: bulkGet } },
];

/** Each entry of the body says them for itself, or they mean nothing here. */
const unacceptable = ['rev', 'open_revs', 'atts_since', 'w', 'new_edits'];

async function bulkGet(exchange: Exchange, database: Database): Promise<void> {
  const { docs } = await exchange.jsonObject();
  const refused = unacceptable.find((name) => exchange.query.get(name) !== undefined);
  if (docs !== undefined && refused !== undefined)
    throw badRequest(`"${refused}" query parameter is not acceptable`);
  if (!Array.isArray(docs)) throw badRequest("Missing JSON list of 'docs'.");
  if (docs.some(hasOddId)) throw badRequest('Document id must be a string');
  const { query } = exchange;
  const { registry, metrics } = exchange.services;
  metrics.documentReads += docs.length;
  const options = {
    latest: query.isTrue('latest'),
    revs: query.isTrue('revs'),
    show: registry.showFor(database, exchange.user),
  };
  const shown = {
    data: query.isTrue('attachments'),
    since: undefined,
    encodingInfo: query.isTrue('att_encoding_info'),
  };
  const accept = exchange.header('accept') ?? '';
  const multipart = accept.includes('application/json')
    ? undefined
    : /multipart\/(mixed|related|\*)/.exec(accept)?.[1];
  const found = (entry: unknown): Result => openEntry(database, entry, options);
  if (multipart !== undefined) {
    const writer = new MultipartWriter(
      multipart === 'related' ? 'related' : 'mixed',
      exchange.runtime.randomHex(16),
    );
    await sendParts(exchange, writer, parts(registry, database, docs, found, shown), {});
    return;
  }
  exchange.jsonHead(200);
  for await (const piece of pieces(registry, database, docs, found, shown)) {
    if (!(await writePiece(exchange, piece))) return;
  }
  exchange.endJson(asBytes(']}\n'));
}

interface Failure {
  id: unknown;
  rev: unknown;
  error: string;
  reason: string;
}

interface Result {
  id: unknown;
  /** The revisions whose attachments the client has. */
  since: Rev[] | undefined;
  found: FoundRevs | Failure;
}

/** A bad entry spoils only itself. */
function openEntry(database: Database, entry: unknown, options: DocOptions): Result {
  const {
    id,
    rev,
    atts_since: since,
  } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  const fail = (failedRev: unknown, error: string, reason: string): Result => ({
    id,
    since: undefined,
    found: { id, rev: failedRev, error, reason },
  });
  if (typeof id !== 'string') return nameless(entry);
  let read: unknown;
  try {
    const docid = database.docId(legalId(toBytes(id.toWellFormed()), Infinity));
    read = Array.isArray(since) ? since[0] : since;
    const known = since === undefined ? undefined : readSince(since);
    read = rev ?? read;
    if (Array.isArray(rev)) throw invalidRev();
    const wanted = rev === undefined ? 'all' : [parseRev(String(rev))];
    const found = findRevs(database, docid, wanted, options);
    return found === undefined ? fail('undefined', 'not_found', 'missing') : { id, since: known, found };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return fail(read ?? null, error.error, error.reason);
  }
}

function hasOddId(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null) return false;
  return Object.hasOwn(entry, 'id') && typeof (entry as { id: unknown }).id !== 'string';
}

/** What is no document at all is told from one without an id. */
function nameless(entry: unknown): Result {
  const isObject =
    typeof entry === 'object' && entry !== null && !Array.isArray(entry) && Object.keys(entry).length > 0;
  const reason = isObject ? 'document id missed' : 'document must be a JSON object';
  return { id: null, since: undefined, found: { id: null, rev: null, error: 'bad_request', reason } };
}

/** An empty list says nothing. */
function readSince(since: unknown): Rev[] | undefined {
  if (!Array.isArray(since)) throw badRequest('att_since value must be array of revs.');
  return since.length === 0 ? undefined : since.map((rev) => parseRev(String(rev)));
}

const pieceBytes = 64 * 1024;

async function* pieces(
  registry: DatabaseRegistry,
  database: Database,
  docs: readonly unknown[],
  found: (entry: unknown) => Result,
  shown: AttachmentOptions,
): AsyncGenerator<Bytes> {
  let text = '{"results": [';
  let separator = '';
  const slice = database.runtime.slice();
  for (const entry of docs) {
    const whole = resultPieces(registry, database, found(entry), shown);
    text += separator;
    separator = ',\n';
    if (typeof whole === 'string') text += whole;
    else
      for await (const piece of whole) {
        text += piece;
        if (text.length < pieceBytes) continue;
        yield asBytes(text);
        text = '';
      }
    if (text.length < pieceBytes && !slice.isOver) continue;
    yield asBytes(text);
    text = '';
    slice.restart();
  }
  yield asBytes(text);
}

/** What one entry has brought: as text, or, where that is more than one document, piece by piece. */
function resultPieces(
  registry: DatabaseRegistry,
  database: Database,
  { id, since, found }: Result,
  shown: AttachmentOptions,
): Bytes | AsyncGenerator<Bytes> {
  const head = asBytes(`{"id":${toBytes(JSON.stringify(id))},"docs":[`);
  if (!('revs' in found)) return asBytes(`${head}{"error":${toBytes(JSON.stringify(found))}}]}`);
  const options = { ...shown, since };
  // Without their bytes, attachments need not be held.
  if (found.revs.length !== 1 || options.data || since !== undefined)
    return revsPieces(registry, database, { id, found, head, options });
  const single = found.open(found.revs[0]!);
  const item =
    'missing' in single ? missingItem(id, single.missing) : `{"ok":${plainText(single.ok, options)}}`;
  return asBytes(`${head}${item}]}`);
}

interface ShownRevs {
  id: unknown;
  found: FoundRevs;
  head: Bytes;
  options: AttachmentOptions;
}

async function* revsPieces(
  registry: DatabaseRegistry,
  database: Database,
  { id, found, head, options }: ShownRevs,
): AsyncGenerator<Bytes> {
  yield head;
  let separator: Bytes = noBytes;
  for await (const each of openedInTurn(registry, database, found, options)) {
    yield separator;
    separator = asBytes(',');
    if ('missing' in each) {
      yield missingItem(id, each.missing);
      continue;
    }
    const whole = revPieces(registry, database, each.ok, options);
    if (typeof whole === 'string') yield asBytes(`{"ok":${whole}}`);
    else yield* orError(whole, id, each.ok.rev);
  }
  yield asBytes(']}');
}

/** A document, or in its place what is wrong with its attachments, if that shows early enough. */
async function* orError(pieces: AsyncIterable<Bytes>, id: unknown, rev: Rev): AsyncGenerator<Bytes> {
  let ahead: AsyncIterable<Bytes>;
  try {
    ahead = await begun(pieces);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const failure = { id, rev: formatRev(rev), error: error.error, reason: error.reason };
    return yield asBytes(`{"error":${toBytes(JSON.stringify(failure))}}`);
  }
  yield asBytes('{"ok":');
  yield* ahead;
  yield asBytes('}');
}

function missingItem(id: unknown, rev: Rev): Bytes {
  return asBytes(
    `{"error":${toBytes(JSON.stringify({ id, rev: formatRev(rev), error: 'not_found', reason: 'missing' }))}}`,
  );
}

/** All revisions of all entries, as parts of a multipart answer. */
async function* parts(
  registry: DatabaseRegistry,
  database: Database,
  docs: readonly unknown[],
  find: (entry: unknown) => Result,
  shown: AttachmentOptions,
): AsyncGenerator<OutgoingPart> {
  const slice = database.runtime.slice();
  for (const entry of docs) {
    const { since, found } = find(entry);
    if (!('revs' in found)) yield errorPart(toBytes(JSON.stringify(found)));
    else
      for await (const each of openedInTurn(registry, database, found, { ...shown, since, data: true }))
        yield 'missing' in each
          ? errorPart(asBytes(`{"rev":${quoteRev(each.missing)},"error":"not_found","reason":"missing"}`))
          : revPart(registry, database, each, { ...shown, since }, true);
    if (slice.isOver) await slice.next();
  }
}
