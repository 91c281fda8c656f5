import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { headerText } from '../../base/header-text.js';
import { badRequest, conflict, notFound, RequestError } from '../../base/errors.js';
import { checkAttachmentName } from '../../documents/attachments/attachment-input.js';
import { NewBlobs } from '../../documents/attachments/new-blobs.js';
import type { Database } from '../../node/database.js';
import { knownId } from '../../shard/doc-id.js';
import { plainInput } from '../../shard/document-input.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import { contentOf, findAttachment } from '../../documents/attachments/read-attachment.js';
import { saveDoc } from '../../documents/save-docs.js';
import {
  attachmentTooLarge,
  storeAttachment,
  type StoredAttachment,
} from '../../documents/attachments/store-attachment.js';
import { discardUnneeded } from '../../node/sweep-blobs.js';
import { parseRev, type Rev } from '../../revisions/rev.js';
import { encodeContent, splitContent, type Attachment } from '../../shard/content.js';
import { answerAttachment } from '../answer/attachment-answer.js';
import { bodyProblem } from '../request/body.js';
import { etagOf } from '../answer/document-answer.js';
import { ifMatchRev, namedRev, writableId } from '../request/edit-request.js';
import type { Exchange } from '../exchange.js';
import { savedStatus } from '../request/quorum.js';
import { encodePart, isText } from '../request/path.js';
import type { Route } from './route.js';

type AttachmentHandler = (
  exchange: Exchange,
  database: Database,
  id: Bytes,
  name: string,
) => void | Promise<void>;

/** HEAD, GET, PUT and DELETE of one attachment. */
export const attachmentRoute: Route<AttachmentHandler> = {
  path: '/{db}/{docid}/{attname}',
  allow: 'DELETE,GET,HEAD,PUT',
  access: { GET: 'member', PUT: 'writer', DELETE: 'writer' },
  methods: { GET: getAttachment, PUT: putAttachment, DELETE: deleteAttachment },
};

export const designAttachmentRoute: typeof attachmentRoute = {
  ...attachmentRoute,
  path: '/{db}/_design/{ddoc}/{attname}',
  access: { GET: 'member', PUT: 'db_admin', DELETE: 'db_admin' },
};

/** The parts of the path behind the document are the name, slashes and all. */
export function attachmentName(parts: readonly Bytes[]): string {
  const name = asBytes(parts.join('/'));
  if (!isText(name)) throw badRequest('Attachment name is not UTF-8 encoded');
  return fromBytes(name);
}

async function getAttachment(exchange: Exchange, database: Database, id: Bytes, name: string): Promise<void> {
  const revText = exchange.query.get('rev');
  const rev = revText === undefined ? ifMatchRev(exchange) : parseRev(revText);
  const show = exchange.services.registry.showFor(database, exchange.user);
  await answerAttachment(exchange, database, id, findAttachment(database, id, name, rev, show));
}

async function putAttachment(exchange: Exchange, database: Database, id: Bytes, name: string): Promise<void> {
  checkAttachmentName(name);
  const rev = namedRev(exchange, undefined);
  const isGzip = isGzipped(exchange);
  const parent = parentOf(database, id, rev);
  if (parent === 'missing_rev') return answerMissingRev(exchange);
  const docid = writableId(exchange, database, id);
  const stored = await upload(exchange, name, parent.pos + 1, isGzip);
  const blobs = new NewBlobs();
  blobs.add(stored);
  try {
    checkMd5(exchange, stored);
    const others = parent.attachments.filter((each) => each.name !== name);
    const content = encodeContent([stored.attachment, ...others], parent.body);
    const input = { ...plainInput(docid, rev, content), deleted: parent.deleted };
    const { services, user } = exchange;
    const saved = await saveDoc(services.registry, database, input, { user, newEdits: true, blobs });
    const location = `/${encodePart(toBytes(database.name))}/${encodePart(id)}/${encodePart(toBytes(name))}`;
    const status = await savedStatus(exchange, database, 201);
    answerSaved(exchange, status, id, saved, { Location: exchange.location(location) });
  } finally {
    blobs.release();
    await discardUnneeded(exchange.services.registry, blobs.stored);
  }
}

const answerMissingRev = (exchange: Exchange): void =>
  exchange.json(409, { error: 'not_found', reason: 'missing_rev' });

interface Parent {
  pos: number;
  deleted: boolean;
  attachments: readonly Attachment[];
  body: Bytes;
}

/** The revision that the attachment is put on; a document that is not there, or deleted, is begun. */
function parentOf(database: Database, id: Bytes, rev: Rev | undefined): Parent | 'missing_rev' {
  const found = database.collection.winner(id);
  if (rev === undefined) {
    if (found !== undefined && !found.deleted) throw conflict();
    return { pos: found?.pos ?? 0, deleted: false, attachments: [], body: asBytes('{}') };
  }
  try {
    const { content, deleted } = contentOf(database, id, rev);
    return { pos: rev.pos, deleted, ...splitContent(content) };
  } catch (error) {
    if (error instanceof RequestError && error.error === 'not_found') return 'missing_rev';
    throw error;
  }
}

function answerSaved(
  exchange: Exchange,
  status: number,
  id: Bytes,
  rev: Rev,
  headers: Record<string, string>,
): void {
  exchange.text(status, asBytes(`{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(rev)}}`), {
    ...headers,
    ETag: etagOf(rev),
  });
}

/** Whether the bytes come compressed. */
function isGzipped(exchange: Exchange): boolean {
  const encoding = (exchange.header('content-encoding') ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new RequestError('bad_content_type', 'Only gzip and identity content-encodings are supported');
  }
  return encoding === 'gzip';
}

async function upload(
  exchange: Exchange,
  name: string,
  revpos: number,
  gzip: boolean,
): Promise<StoredAttachment> {
  const { registry, config } = exchange.services;
  const type = headerText(exchange.header('content-type') ?? 'application/octet-stream');
  if (Number(exchange.header('content-length') ?? 0) > config.number('couchdb/max_attachment_size'))
    throw attachmentTooLarge(name);
  // The request itself must stay open for the answer, whatever becomes of the bytes.
  const bytes = exchange.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    return await storeAttachment(registry, { name, type, revpos, gzip, bytes });
  } catch (error) {
    throw bodyProblem(error);
  }
}

function checkMd5(exchange: Exchange, { sentMd5 }: StoredAttachment): void {
  const announced = exchange.header('content-md5');
  if (announced !== undefined && announced.trim() !== sentMd5)
    throw badRequest('Possible message integrity error.');
}

async function deleteAttachment(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  name: string,
): Promise<void> {
  checkAttachmentName(name);
  const rev = namedRev(exchange, undefined);
  if (rev === undefined) {
    findAttachment(database, id, name, undefined);
    throw conflict();
  }
  const parent = parentOf(database, id, rev);
  if (parent === 'missing_rev') return answerMissingRev(exchange);
  const { attachments, body, deleted } = parent;
  const others = attachments.filter((each) => each.name !== name);
  if (others.length === attachments.length) throw notFound('Document is missing attachment');
  // A branch that ends deleted stays so.
  const input = { ...plainInput(knownId(id), rev, encodeContent(others, body)), deleted };
  const { services, user } = exchange;
  if (exchange.query.first('batch') === 'ok') {
    services.batches.add(database, user, input);
    exchange.text(202, asBytes(`{"ok":true,"id":${quoteId(id)}}`));
    return;
  }
  answerSaved(
    exchange,
    200,
    id,
    await saveDoc(services.registry, database, input, { user, newEdits: true }),
    {},
  );
}
