import type { OutgoingHttpHeaders } from 'node:http';
import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { FunctionError, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { isLocalId } from '../../shard/doc-id.js';
import { readDocument } from '../../documents/read-document.js';
import { openDoc, type OpenedDoc } from '../../documents/open-doc.js';
import { saveDoc } from '../../documents/save-docs.js';
import { scanDocument } from '../../json/scan.js';
import { formatRev } from '../../revisions/rev.js';
import { splitArray } from '../../script/project.js';
import { docText } from '../../shard/doc-text.js';
import { callFunction, functionOf, functionTag, incomplete } from '../request/design-call.js';
import { inputLimits } from '../request/edit-request.js';
import type { Exchange } from '../exchange.js';
import { answerFunction, type FunctionAnswer } from '../answer/function-answer.js';
import { functionBody, functionRequest } from '../request/function-request.js';
import { namesTag } from '../request/negotiate.js';
import { encodePart } from '../request/path.js';
import { savedStatus } from '../request/quorum.js';
import { everyMethod, type DatabaseRoute } from './route.js';

/** Functions of design documents that answer requests: shows and updates. */
export const designRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_design/{ddoc}/_show/{func}',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: show, POST: show },
  },
  {
    path: '/{db}/_design/{ddoc}/_show/{func}/*',
    allow: 'GET,HEAD,POST',
    access: 'member',
    methods: { GET: show, POST: show },
  },
  {
    path: '/{db}/_design/{ddoc}/_update/{func}',
    allow: 'POST,PUT,DELETE',
    access: { GET: 'member', POST: 'writer', PUT: 'writer', DELETE: 'writer' },
    methods: { GET: refuseGet, POST: update, PUT: update, DELETE: update },
  },
  {
    path: '/{db}/_design/{ddoc}/_update/{func}/*',
    allow: 'POST,PUT,DELETE',
    access: { GET: 'member', POST: 'writer', PUT: 'writer', DELETE: 'writer' },
    methods: { GET: refuseGet, POST: update, PUT: update, DELETE: update },
  },
  incomplete('_show', 'show_error', ...everyMethod),
  incomplete('_update', 'update_error', ...everyMethod),
];

/** The document that the address names behind the function; its id may have slashes. */
function documentOf(
  { parts, services, user }: Exchange,
  database: Database,
): { id: Bytes | undefined; doc: OpenedDoc | undefined } {
  if (parts.length < 6) return { id: undefined, doc: undefined };
  const id = asBytes(parts.slice(5).join('/'));
  if (isLocalId(id)) return { id, doc: undefined };
  try {
    const show = services.registry.showFor(database, user);
    return { id, doc: openDoc(database, id, { revs: true, show }) };
  } catch (error) {
    if (error instanceof RequestError && error.error === 'not_found') return { id, doc: undefined };
    throw error;
  }
}

const textOf = (doc: OpenedDoc | undefined): Bytes =>
  doc === undefined ? asBytes('null') : docText(doc.id, doc.rev, doc.content, doc.extra);

async function show(exchange: Exchange, database: Database): Promise<void> {
  const found = functionOf(exchange, database, 'shows');
  const { id, doc } = documentOf(exchange, database);
  const etag = functionTag(exchange, found.design, doc === undefined ? '' : formatRev(doc.rev));
  const headers: OutgoingHttpHeaders = { ETag: etag, Vary: 'Accept' };
  if (exchange.method !== 'POST' && namesTag(exchange.header('if-none-match'), etag))
    return exchange.empty(304, headers);
  const request = functionRequest(exchange, database, { id, body: await functionBody(exchange) });
  const answer = await callFunction(exchange, database, found, asBytes(`[${textOf(doc)},${request}]`)).catch(
    (error: unknown) => {
      // Most shows don't expect that there is no document, and what they throw then says nothing.
      const isOwn = error instanceof FunctionError && error.error !== 'compilation_error';
      const isThrown = isOwn || (error instanceof RequestError && error.error === 'render_error');
      throw isThrown && doc === undefined && id !== undefined
        ? new RequestError('not_found', 'document not found')
        : error;
    },
  );
  answerFunction(exchange, JSON.parse(fromBytes(answer)) as FunctionAnswer, 200, headers);
}

function refuseGet(exchange: Exchange, database: Database): never {
  functionOf(exchange, database, 'updates');
  throw new FunctionError('method_not_allowed', 'Update functions do not allow GET');
}

async function update(exchange: Exchange, database: Database): Promise<void> {
  const found = functionOf(exchange, database, 'updates');
  const { id, doc } = documentOf(exchange, database);
  const request = functionRequest(exchange, database, { id, body: await functionBody(exchange) });
  const result = await callFunction(exchange, database, found, asBytes(`[${textOf(doc)},${request}]`));
  const [changed, answer] = splitArray(result) as [Bytes, Bytes];
  // Anything but an object means that there is nothing to save.
  const isSaved = changed.startsWith('{');
  const headers = isSaved ? await saveChanged(exchange, database, changed) : {};
  const standard = isSaved ? await savedStatus(exchange, database, 201) : 200;
  answerFunction(exchange, JSON.parse(fromBytes(answer)) as FunctionAnswer, standard, headers);
}

/** Saves what an update function gave back, and gives the headers that tell of it. */
async function saveChanged(
  exchange: Exchange,
  database: Database,
  text: Bytes,
): Promise<OutgoingHttpHeaders> {
  const { registry } = exchange.services;
  const input = readDocument(scanDocument(Buffer.from(text, 'latin1')), inputLimits(exchange));
  const { id } = input;
  if (id === undefined) throw new RequestError('illegal_docid', 'Document id must not be empty');
  const named = { ...input, id: database.docId(id) };
  const saved = await saveDoc(registry, database, named, { user: exchange.user, newEdits: true });
  const [shownId, rev] = [encodePart(id), toBytes(formatRev(saved))];
  return {
    'X-Svc-Id': shownId,
    'X-Svc-Update-NewRev': rev,
    'X-Couch-Id': shownId,
    'X-Couch-Update-NewRev': rev,
  };
}
