import { toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, Refusal } from '../../base/errors.js';
import type { Database } from '../../cluster/database.js';
import { quoteRev } from '../../cluster/doc-text.js';
import { openRevs, type OpenedRev } from '../../cluster/open-doc.js';
import { formatRev, parseRev } from '../../revisions/rev.js';
import type { Exchange } from '../exchange.js';
import { contentTypeFor } from '../negotiate.js';
import { sendMultipart, type JsonPart } from '../open-revs-answer.js';
import type { DatabaseRoute } from '../route.js';
import { writePieces } from '../stream.js';

/** Many revisions in one request: what replicators read by. */
export const bulkGetRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_bulk_get', allow: 'POST', access: 'member', methods: { POST: bulkGet } },
];

async function bulkGet(exchange: Exchange, database: Database): Promise<void> {
  const { docs } = await exchange.jsonObject();
  if (!Array.isArray(docs)) throw badRequest("Missing JSON list of 'docs'.");
  const options = { latest: exchange.query.isTrue('latest'), revs: exchange.query.isTrue('revs') };
  const accept = exchange.header('accept') ?? '';
  const multipart = accept.includes('application/json') ? undefined : /multipart\/(mixed|related|\*)/.exec(accept)?.[1];
  const found = (entry: unknown): Result => openEntry(database, entry, options);
  if (multipart !== undefined) {
    const type = multipart === 'related' ? 'multipart/related' : 'multipart/mixed';
    sendMultipart(exchange, type, docs.flatMap((entry) => partsOf(found(entry))));
    return;
  }
  exchange.head(200, { 'Content-Type': contentTypeFor(exchange.request.headers.accept) });
  if (await writePieces(exchange.response, pieces(docs, found))) exchange.response.end(']}\n', 'latin1');
}

interface Failure {
  id: unknown;
  rev: unknown;
  error: string;
  reason: string;
}

interface Result {
  id: unknown;
  opened: OpenedRev[] | Failure;
}

/** A bad entry spoils only itself. */
function openEntry(database: Database, entry: unknown, options: { latest: boolean; revs: boolean }): Result {
  const { id, rev, atts_since: since } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  const fail = (failedRev: unknown, error: string, reason: string): Result => ({ id, opened: { id, rev: failedRev, error, reason } });
  if (typeof id !== 'string') return { id: null, opened: { id: null, rev: null, error: 'bad_request', reason: 'document must be a JSON object' } };
  try {
    if (since !== undefined) checkSince(since);
    const wanted = rev === undefined ? 'all' : [parseRev(String(rev))];
    const opened = openRevs(database, toBytes(id.toWellFormed()), wanted, options);
    return opened === undefined ? fail('undefined', 'not_found', 'missing') : { id, opened };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return fail(rev ?? (Array.isArray(since) ? since[0] : since), error.error, error.reason);
  }
}

function checkSince(since: unknown): void {
  if (!Array.isArray(since)) throw badRequest('att_since value must be array of revs.');
  for (const rev of since) parseRev(String(rev));
}

const pieceBytes = 64 * 1024;

function* pieces(docs: readonly unknown[], found: (entry: unknown) => Result): Generator<Bytes> {
  let text = '{"results": [';
  let separator = '';
  for (const entry of docs) {
    const { id, opened } = found(entry);
    const items = Array.isArray(opened) ? opened.map((each) => itemOf(id, each)) : [`{"error":${toBytes(JSON.stringify(opened))}}`];
    text += `${separator}{"id":${toBytes(JSON.stringify(id))},"docs":[${items.join(',')}]}`;
    separator = ',\n';
    if (text.length < pieceBytes) continue;
    yield text;
    text = '';
  }
  yield text;
}

function itemOf(id: unknown, opened: OpenedRev): Bytes {
  if ('ok' in opened) return `{"ok":${opened.ok}}`;
  const failure = { id, rev: formatRev(opened.missing), error: 'not_found', reason: 'missing' };
  return `{"error":${toBytes(JSON.stringify(failure))}}`;
}

function partsOf({ opened }: Result): JsonPart[] {
  if (!Array.isArray(opened)) return [{ json: toBytes(JSON.stringify(opened)), error: true }];
  return opened.map((each) =>
    'ok' in each ? { json: each.ok } : { json: `{"rev":${quoteRev(each.missing)},"error":"not_found","reason":"missing"}`, error: true },
  );
}
