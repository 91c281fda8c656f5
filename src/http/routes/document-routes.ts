import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, conflict, notFound } from '../../base/errors.js';
import { checkDbAdmin } from '../../auth/rights.js';
import type { Database } from '../../node/database.js';
import { isDesignId, isLocalId, knownId, type DocId } from '../../shard/doc-id.js';
import { plainInput, type DocumentInput, type NamedInput } from '../../shard/document-input.js';
import { largeDocumentBytes, readDocument, readLargeDocument } from '../../documents/read-document.js';
import { docText, quoteId, quoteRev } from '../../shard/doc-text.js';
import { findRevs, missingRevs, openDoc, type OpenedDoc } from '../../documents/open-doc.js';
import { contentOf } from '../../documents/attachments/read-attachment.js';
import type { Show } from '../../node/read-gate.js';
import { saveDoc } from '../../documents/save-docs.js';
import type { Follower } from '../../documents/attachments/attach.js';
import { scanDocument } from '../../json/scan.js';
import { parseRev, type Rev } from '../../revisions/rev.js';
import { splitContent } from '../../shard/content.js';
import { requireJson } from '../request/body.js';
import { answerWithData, etagOf, etagOfContent } from '../answer/document-answer.js';
import { checkQueryRevs, inputLimits, namedRev, newId, writableId } from '../request/edit-request.js';
import type { Exchange } from '../exchange.js';
import { savedStatus } from '../request/quorum.js';
import { withMultipart } from '../request/multipart-document.js';
import { namesTag } from '../request/negotiate.js';
import { answerOpenRevs, parseOpenRevs, parseRevs } from '../answer/open-revs-answer.js';
import { decodeComponent, encodePart } from '../request/path.js';
import { parseJsonText, type Query } from '../request/query.js';
import { postForm } from './form-upload.js';
import type { DatabaseHandler, Route } from './route.js';

type DocumentHandler = (exchange: Exchange, database: Database, id: Bytes) => void | Promise<void>;

/** GET, PUT, DELETE, COPY and forms of one document; `id` is the whole id, `_design/` and `_local/` included. */
export const documentRoute: Route<DocumentHandler> = {
  path: '/{db}/{docid}',
  allow: 'DELETE,GET,HEAD,POST,PUT,COPY',
  access: { GET: 'member', PUT: 'writer', DELETE: 'writer', COPY: 'writer', POST: 'writer' },
  methods: {
    GET: getDocument,
    PUT: putDocument,
    DELETE: deleteDocument,
    COPY: copyDocument,
    POST: postForm,
  },
};

/** What is copied from a design document may be an ordinary one: the target decides who may. */
export const designDocumentRoute: typeof documentRoute = {
  ...documentRoute,
  path: '/{db}/_design/{ddoc}',
  access: { GET: 'member', POST: 'writer', COPY: 'writer', PUT: 'design_writer', DELETE: 'design_writer' },
};

export const localDocumentRoute: typeof documentRoute = {
  ...documentRoute,
  path: '/{db}/_local/{docid}',
  access: {
    GET: 'local',
    PUT: 'local_writer',
    DELETE: 'local_writer',
    COPY: 'local_writer',
    POST: 'local_writer',
  },
};

function getDocument(exchange: Exchange, database: Database, id: Bytes): void | Promise<void> {
  exchange.services.metrics.documentReads++;
  const { query } = exchange;
  const show = exchange.services.registry.showFor(database, exchange.user);
  if (isLocalId(id)) return getLocal(exchange, database, id);
  if (query.size === 0) return answerDocument(exchange, openDoc(database, id, show ? { show } : plainRead));
  const options = { ...readOptions(query), show };
  const shown = attachmentOptions(query);
  const revs = query.every('open_revs').map(parseOpenRevs).at(-1);
  if (revs === undefined || revs.length === 0) {
    return answerWithData(exchange, database, openDoc(database, id, options), shown);
  }
  const found = findRevs(database, id, revs, { ...options, anyOrder: true });
  if (found === undefined) throw notFound('missing');
  return answerOpenRevs(exchange, database, found, shown);
}

const plainRead = {};

/** Local documents have no revisions that could be asked for. */
function getLocal(exchange: Exchange, database: Database, id: Bytes): void | Promise<void> {
  const { query } = exchange;
  const shown = attachmentOptions(query);
  const { rev, revs } = readOptions(query);
  const list = query.every('open_revs').map(parseOpenRevs).at(-1) ?? [];
  if (list === 'all' || (list.length === 0 && rev !== undefined)) throw notFound('missing');
  if (list.length === 0) return answerDocument(exchange, openLocal(database, id, revs ?? false));
  return answerOpenRevs(exchange, database, missingRevs(list), shown);
}

function readOptions(query: Query): Parameters<typeof openDoc>[2] {
  const meta = query.isTrue('meta');
  return {
    rev: query.every('rev').map(parseRev).at(-1),
    latest: query.isTrue('latest'),
    deleted: query.isTrue('deleted'),
    revs: query.isTrue('revs'),
    revsInfo: meta || query.isTrue('revs_info'),
    conflicts: meta || query.isTrue('conflicts'),
    deletedConflicts: meta || query.isTrue('deleted_conflicts'),
    localSeq: query.isTrue('local_seq'),
  };
}

function attachmentOptions(query: Query): Parameters<typeof answerWithData>[3] {
  return {
    data: query.isTrue('attachments'),
    since: query
      .every('atts_since')
      .map((text) => parseRevs(parseJsonText(text)))
      .at(-1),
    encodingInfo: query.isTrue('att_encoding_info'),
  };
}

function openLocal(database: Database, id: Bytes, revs: boolean): OpenedDoc {
  const found = database.collection.local(id);
  if (found === undefined) throw notFound('missing');
  const rev = { pos: 0, hash: String(found.rev) };
  const extra = revs ? asBytes(`,"_revisions":{"start":0,"ids":["${found.rev}"]}`) : noBytes;
  return { id, rev, content: found.body, extra, plain: true };
}

function answerDocument(exchange: Exchange, { id, rev, content, extra }: OpenedDoc): void {
  const etag = etagOfContent(id, rev, content);
  if (namesTag(exchange.header('if-none-match'), etag)) exchange.empty(304, { ETag: etag });
  else exchange.document(docText(id, rev, content, extra), { ETag: etag });
}

/** POST /{db}: a document whose id may be left to the server. */
export const postDocument: DatabaseHandler = async (exchange, database) => {
  requireJson(exchange.request);
  const input = await readInput(exchange);
  const named: NamedInput = { ...input, id: database.docId(input.id ?? newId(exchange)) };
  await save(exchange, database, named, { newEdits: true, created: 201 });
};

async function putDocument(exchange: Exchange, database: Database, given: Bytes): Promise<void> {
  checkQueryRevs(exchange);
  // What a read would be asked for may not be wrong in a write either.
  exchange.query.every('open_revs').forEach(parseOpenRevs);
  attachmentOptions(exchange.query);
  const id = writableId(exchange, database, given);
  if (exchange.header('content-type')?.startsWith('multipart/related;')) {
    await withMultipart(exchange, async (bytes, follower) =>
      putInput(exchange, database, id, await readBytes(exchange, bytes), follower),
    );
    return;
  }
  await putInput(exchange, database, id, await readInput(exchange));
}

async function putInput(
  exchange: Exchange,
  database: Database,
  id: DocId,
  input: DocumentInput,
  follower?: Follower,
): Promise<void> {
  checkQueryRevs(exchange);
  const rev = namedRev(exchange, input.rev);
  const newEdits = exchange.query.get('new_edits') !== 'false';
  if (!newEdits && rev === undefined && input.revisions === undefined) {
    throw badRequest('When `new_edits: false`, the document needs `_rev` or `_revisions` specified');
  }
  const created = input.deleted ? 200 : 201;
  await save(exchange, database, { ...input, id, rev }, { newEdits, created, etag: true, follower });
}

function readBytes(exchange: Exchange, bytes: Buffer): DocumentInput | Promise<DocumentInput> {
  const limits = inputLimits(exchange);
  return bytes.length > largeDocumentBytes
    ? readLargeDocument(bytes, limits, exchange.runtime)
    : readDocument(scanDocument(bytes), limits);
}

async function readInput(exchange: Exchange): Promise<DocumentInput> {
  return await readBytes(exchange, await exchange.body());
}

interface SaveOptions {
  newEdits: boolean;
  created: number;
  etag?: boolean;
  follower?: Follower | undefined;
}

async function save(
  exchange: Exchange,
  database: Database,
  input: NamedInput,
  options: SaveOptions,
): Promise<void> {
  const { registry } = exchange.services;
  const { newEdits, follower } = options;
  const mayBatch = follower === undefined && exchange.method !== 'COPY';
  const batch = mayBatch && exchange.query.first('batch') === 'ok';
  if (batch && newEdits) return saveLater(exchange, database, input);
  const saved = await saveDoc(registry, database, input, { user: exchange.user, newEdits, follower });
  // A revision that exists elsewhere is not put off, but answered in the form that `batch=ok` has.
  if (batch) return answerBatched(exchange, input.id);
  await answerSaved(exchange, database, input, saved, options);
}

/** The gates refuse documents now: later there would be no response to report it in. */
function saveLater(exchange: Exchange, database: Database, input: NamedInput): void {
  if (isDesignId(input.id)) checkDbAdmin(exchange.user, database.security);
  exchange.services.batches.add(database, exchange.user, input);
  answerBatched(exchange, input.id);
}

function answerBatched(exchange: Exchange, id: Bytes): void {
  exchange.text(202, asBytes(`{"ok":true,"id":${quoteId(id)}}`));
}

async function answerSaved(
  exchange: Exchange,
  database: Database,
  { id, body }: NamedInput,
  rev: Rev,
  { created, etag }: Omit<SaveOptions, 'newEdits'>,
): Promise<void> {
  const status = exchange.method === 'COPY' ? created : await savedStatus(exchange, database, created);
  exchange.text(status, asBytes(`{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(rev)}}`), {
    Location: exchange.location(`/${encodePart(toBytes(database.name))}/${encodePart(id)}`),
    ...(etag ? { ETag: etagOfContent(id, rev, body) } : {}),
  });
}

/** A deletion is an edit that leaves nothing but the mark; whatever body the request has is not looked at. */
async function deleteDocument(exchange: Exchange, database: Database, id: Bytes): Promise<void> {
  checkDeletable(database, id, exchange.services.registry.showFor(database, exchange.user));
  const rev = namedRev(exchange, undefined);
  const input = plainInput(knownId(id), rev, asBytes('{}'), true);
  if (rev === undefined && !isLocalId(id)) throw conflict();
  if (exchange.query.first('batch') === 'ok') return saveLater(exchange, database, input);
  const { registry } = exchange.services;
  const saved = await saveDoc(registry, database, input, { user: exchange.user, newEdits: true });
  exchange.text(
    await savedStatus(exchange, database, 200),
    asBytes(`{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(saved)}}`),
    {
      ETag: etagOf(saved),
    },
  );
}

function checkDeletable(database: Database, id: Bytes, show: Show | undefined): void {
  if (isLocalId(id)) {
    if (database.collection.local(id) === undefined) throw notFound('missing');
    return;
  }
  const found = database.collection.winner(id);
  if (found === undefined) throw notFound('missing');
  if (found.deleted) throw notFound(show === undefined ? 'deleted' : 'missing');
}

/** The target stands in the `Destination` header, with its revision where it exists: `id?rev=…`. */
async function copyDocument(exchange: Exchange, database: Database, id: Bytes): Promise<void> {
  const rev = namedRev(exchange, undefined);
  const destination = exchange.header('destination');
  if (destination === undefined) throw badRequest('Destination header is mandatory for COPY.');
  const target = parseDestination(destination);
  database.checkPlace(id);
  const targetId = writableId(exchange, database, target.id);
  const source = isLocalId(id)
    ? { ...copiedLocal(database, id, rev), deleted: false }
    : contentOf(database, id, rev, exchange.services.registry.showFor(database, exchange.user));
  const body = isLocalId(target.id) ? splitContent(source.content).body : source.content;
  const input = plainInput(targetId, target.rev, body, source.deleted);
  await save(exchange, database, input, { newEdits: true, created: 201, etag: true });
}

/** Local documents have no revisions to choose from. */
function copiedLocal(database: Database, id: Bytes, rev: Rev | undefined): OpenedDoc {
  if (rev !== undefined) throw notFound('missing');
  return openLocal(database, id, false);
}

function parseDestination(header: string): { id: Bytes; rev: Rev | undefined } {
  const [path = '', query] = header.split('?');
  if (/^https?:\/\//i.test(path)) throw badRequest('Destination URL must be relative.');
  // As in CouchDB, a percent sign without digits stands for itself.
  const id = decodeComponent(path, true, true);
  if (query === undefined) return { id, rev: undefined };
  // Nothing but a revision can be said of the target.
  const rev = /^rev=([^&]*)$/.exec(query)?.[1];
  if (rev === undefined) throw badRequest('Invalid rev format');
  return { id, rev: parseRev(fromBytes(decodeComponent(rev))) };
}
