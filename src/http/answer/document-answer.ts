import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import {
  docPieces,
  emptyDataText,
  followingText,
  isWanted,
  type DataWanted,
} from '../../documents/doc-pieces.js';
import { isLocalId } from '../../shard/doc-id.js';
import { docText, quoteRev } from '../../shard/doc-text.js';
import type { FoundRevs, OpenedDoc, OpenedRev } from '../../documents/open-doc.js';
import { knownSince, readEncoded } from '../../documents/attachments/read-attachment.js';
import { formatRev, type Rev } from '../../revisions/rev.js';
import { attachmentsOf, type Attachment } from '../../shard/content.js';
import type { Exchange } from '../exchange.js';
import { attachmentDisposition } from '../../base/multipart/content-headers.js';
import { MultipartWriter, type OutgoingPart } from '../../base/multipart/multipart-writer.js';
import { namesTag, takesMultipart } from '../request/negotiate.js';
import { begun, writeBuffers, writePiece } from './stream.js';

/** A revision in quotes, which is how JSON has it too unless its hash is odd. */
export const etagOf = (rev: Rev): string =>
  rev.hash.length === 32 ? quoteRev(rev) : toBytes(`"${formatRev(rev)}"`);

/** Local documents can be written again and again with the same revision: what they hold tells their versions apart. */
export const etagOfContent = (id: Bytes, rev: Rev, content: Bytes): string =>
  isLocalId(id) ? `"${createHash('md5').update(content, 'latin1').digest('base64url')}"` : etagOf(rev);

/** What a request says of the attachments it wants. */
export interface AttachmentOptions {
  /** All with their bytes. */
  data: boolean;
  /** Only those that came after these revisions. */
  since: readonly Rev[] | undefined;
  encodingInfo: boolean;
}

/** Attachments travel in parts as they are stored, so that their encoding is always told there. */
const inParts = (options: AttachmentOptions): AttachmentOptions => ({ ...options, encodingInfo: true });

/** Which attachments of a document are to come with their bytes; undefined where none are. */
function wantedOf(
  database: Database,
  doc: OpenedDoc,
  { data, since, encodingInfo }: AttachmentOptions,
): DataWanted | undefined {
  if (!data && since === undefined) return undefined;
  const wanted = {
    after: since === undefined || since.length === 0 ? -1 : knownSince(database, doc.id, doc.rev, since),
    encodingInfo,
  };
  return attachmentsOf(doc.content).some((each) => isWanted(each, wanted)) ? wanted : undefined;
}

/** A document without the bytes of its attachments. */
export const plainText = (doc: OpenedDoc, { encodingInfo }: AttachmentOptions): Bytes =>
  docText(doc.id, doc.rev, doc.content, doc.extra, encodingInfo);

/** Answers with one document. */
export async function answerWithData(
  exchange: Exchange,
  database: Database,
  doc: OpenedDoc,
  options: AttachmentOptions,
): Promise<void> {
  const etag = doc.plain ? etagOfContent(doc.id, doc.rev, doc.content) : undefined;
  const headers: OutgoingHttpHeaders = etag === undefined ? {} : { ETag: etag };
  if (etag !== undefined && namesTag(exchange.header('if-none-match'), etag))
    return exchange.empty(304, headers);
  const multipart =
    (options.data || options.since !== undefined) &&
    takesMultipart(exchange.header('accept') ?? '*/*', 'related');
  const shown = multipart ? inParts(options) : options;
  const wanted = wantedOf(database, doc, shown);
  if (wanted === undefined) return exchange.document(plainText(doc, shown), headers);
  const { registry } = exchange.services;
  if (multipart) {
    const writer = new MultipartWriter('related', exchange.runtime.randomHex(16));
    const parts = partsOf(registry, database, doc, wanted);
    const release = await registry.pins.hold(database, heldOf(database, [{ ok: doc }], shown));
    try {
      return await sendParts(exchange, writer, parts, headers);
    } finally {
      release();
    }
  }
  const pieces = await begun(docPieces(registry, database, doc, wanted));
  exchange.jsonHead(200, headers);
  for await (const piece of pieces) {
    if (!(await writePiece(exchange, piece))) return;
  }
  exchange.endJson(asBytes('\n'));
}

/** Opens revisions one by one. The attachments that come with one are held until the next is asked for. */
export async function* openedInTurn(
  registry: DatabaseRegistry,
  database: Database,
  { revs, open }: FoundRevs,
  options: AttachmentOptions,
): AsyncGenerator<OpenedRev> {
  const slice = database.runtime.slice();
  for (const each of revs) {
    const opened = open(each);
    const held = heldOf(database, [opened], options);
    if (held.length === 0) yield opened;
    else {
      const release = await registry.pins.hold(database, held);
      try {
        yield opened;
      } finally {
        release();
      }
    }
    if (slice.isOver) await slice.next();
  }
}

/** The attachments that an answer with these revisions carries. */
function heldOf(database: Database, opened: readonly OpenedRev[], options: AttachmentOptions): Attachment[] {
  return opened.flatMap((each) => {
    if ('missing' in each) return [];
    const wanted = wantedOf(database, each.ok, options);
    return wanted === undefined ? [] : attachmentsOf(each.ok.content).filter((one) => isWanted(one, wanted));
  });
}

/** How long an answer of more parts than these will be is not found out beforehand: that would keep others waiting. */
const measuredPartsMax = 1_000;

/** Sends a multipart answer as fast as the client takes it. */
export async function sendParts(
  exchange: Exchange,
  writer: MultipartWriter,
  parts: readonly OutgoingPart[] | AsyncIterable<OutgoingPart>,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const length = 'length' in parts && parts.length <= measuredPartsMax ? writer.length(parts) : undefined;
  const chunks = exchange.method === 'HEAD' ? undefined : await begun(writer.chunks(parts));
  exchange.head(200, {
    'Content-Type': writer.contentType,
    ...(length === undefined ? {} : { 'Content-Length': length }),
    ...headers,
  });
  if (chunks === undefined || (await writeBuffers(exchange, chunks))) exchange.response.end();
}

/** A document as the first part, and the wanted attachments as those behind it. */
function partsOf(
  registry: DatabaseRegistry,
  database: Database,
  doc: OpenedDoc,
  wanted: DataWanted,
): OutgoingPart[] {
  const attachments = attachmentsOf(doc.content).filter((each) => isWanted(each, wanted));
  return [
    { headers: { 'Content-Type': 'application/json' }, text: followingText(doc, wanted) },
    ...attachments.map((each) => attachmentPart(registry, database, doc.id, each)),
  ];
}

/** The stored bytes: the digest in the document is theirs, and a replicator compares the two. */
function attachmentPart(
  registry: DatabaseRegistry,
  database: Database,
  id: Bytes,
  attachment: Attachment,
): OutgoingPart {
  return {
    headers: {
      'Content-Disposition': attachmentDisposition(attachment.name),
      'Content-Type': attachment.type,
      'Content-Length': attachment.storedLength,
      'Content-Encoding': attachment.gzip ? 'gzip' : undefined,
    },
    content: {
      length: attachment.storedLength,
      open: () => readEncoded(registry, database, id, attachment),
    },
  };
}

/** A revision as a part of a `multipart/mixed` answer: one with attachments is a multipart of its own. */
export function revPart(
  registry: DatabaseRegistry,
  database: Database,
  opened: OpenedRev,
  options: AttachmentOptions,
  named: boolean,
): OutgoingPart {
  if ('missing' in opened) return errorPart(asBytes(`{"missing":${quoteRev(opened.missing)}}`));
  const doc = opened.ok;
  const shown = inParts({ ...options, data: true });
  const wanted = wantedOf(database, doc, shown);
  const json = { 'Content-Type': 'application/json' };
  if (wanted === undefined) return { headers: json, text: plainText(doc, shown) };
  // CouchDB's replicator, which reads one document at a time, waits for minutes when all parts behind it are empty.
  if (
    !named &&
    attachmentsOf(doc.content).every((each) => each.storedLength === 0 || !isWanted(each, wanted))
  )
    return { headers: json, text: emptyDataText(doc, wanted) };
  const headers = named ? { 'X-Doc-Id': fromBytes(doc.id), 'X-Rev-Id': formatRev(doc.rev) } : {};
  return {
    headers,
    multipart: new MultipartWriter('related', database.runtime.randomHex(16)),
    parts: partsOf(registry, database, doc, wanted),
  };
}

export const errorPart = (json: Bytes): OutgoingPart => ({
  headers: { 'Content-Type': 'application/json; error="true"' },
  text: json,
});

/** One revision inside a JSON answer: its text, or with the bytes of its attachments, piece by piece. */
export function revPieces(
  registry: DatabaseRegistry,
  database: Database,
  doc: OpenedDoc,
  options: AttachmentOptions,
): Bytes | AsyncGenerator<Bytes> {
  const wanted = wantedOf(database, doc, options);
  return wanted === undefined ? plainText(doc, options) : docPieces(registry, database, doc, wanted);
}
