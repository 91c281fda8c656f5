import type { Runtime } from '../../base/runtime.js';
import { MultipartWriter, type OutgoingPart } from '../../base/multipart/multipart-writer.js';
import { attachmentDisposition } from '../../base/multipart/content-headers.js';
import { toBytes } from '../../base/bytes.js';
import type { Dispatcher } from 'undici';
import { PeerFailure, type DocRevision, type WriteFailure } from '../peer.js';
import type { Call, Connection } from './connection.js';
import { docPath } from './doc-path.js';
import { failureText, membersOf } from './members.js';

/** What a row of an answer may say that has nothing to do with the document. */
const passing: ReadonlySet<string> = new Set([
  'error',
  'insufficient_storage',
  'internal_server_error',
  'service_unavailable',
  'timeout',
  'unknown_error',
]);

/** Answers by which a whole request is refused for the sake of one document in it, or of their size together. */
const ofOneDocument: ReadonlySet<number> = new Set([400, 412, 413]);

/** A replicator database of CouchDB refuses the whole request where it doesn't admit one document. */
const replicatorDatabase = /(?:\/|%2F)_replicator\/?$/i;

const isOfOneDocument = ({ address }: Connection, status: number): boolean =>
  ofOneDocument.has(status) || (status === 403 && replicatorDatabase.test(address));

/** Saves documents with one request, and with ever smaller ones where that is refused, until it is clear by whom. */
export async function postDocs(
  connection: Connection,
  docs: readonly DocRevision[],
): Promise<WriteFailure[]> {
  const call: Call = {
    method: 'POST',
    path: '_bulk_docs',
    headers: { 'content-type': 'application/json' },
    body: () => bulkBody(docs),
  };
  const { status, value } = await connection.json(call);
  if (isOfOneDocument(connection, status)) {
    if (docs.length === 1) return [failureOf(docs[0]!, value, status)];
    const half = docs.length >> 1;
    const first = await postDocs(connection, docs.slice(0, half));
    return [...first, ...(await postDocs(connection, docs.slice(half)))];
  }
  if ((status !== 201 && status !== 202 && status !== 200) || !Array.isArray(value))
    throw connection.unexpected(call, status, value);
  return readRows(connection, docs, value);
}

/** Documents as they came, with what belongs around them. */
function bulkBody(docs: readonly DocRevision[]): Buffer {
  const pieces: Buffer[] = [bulkOpening];
  for (const doc of docs) {
    if (pieces.length > 1) pieces.push(comma);
    pieces.push(doc.json());
  }
  return Buffer.concat([...pieces, bulkClosing]);
}

const bulkOpening = Buffer.from('{"new_edits":false,"docs":[');
const comma = Buffer.from(',');
const bulkClosing = Buffer.from(']}');

/** With revisions made elsewhere an answer tells of failures only, or of every document, each by its id. */
function readRows(connection: Connection, docs: readonly DocRevision[], rows: unknown[]): WriteFailure[] {
  return rows.map(membersOf).flatMap((row) => {
    if (typeof row['error'] !== 'string') return [];
    const id = toBytes(String(row['id']));
    const named = docs.filter((each) => each.id === id);
    const doc = named.find(({ rev }) => `${rev.pos}-${rev.hash}` === row['rev']) ?? named[0];
    if (doc === undefined || passing.has(row['error']))
      throw connection.failure(
        { method: 'POST', path: '_bulk_docs' },
        `could not save a document: ${failureText(row['error'], row['reason'])}`,
      );
    return [failureOf(doc, row, 0)];
  });
}

function failureOf({ id, rev }: DocRevision, value: unknown, status: number): WriteFailure {
  const { error, reason } = membersOf(value);
  return { id, rev, error: String(error ?? status), reason: String(reason ?? `answered ${status}`) };
}

/** Saves a document whose attachments are read while they are sent. */
export async function putWithAttachments(
  connection: Connection,
  doc: DocRevision,
): Promise<WriteFailure | undefined> {
  const { headers, body } = requestOf(doc, connection.runtime);
  const call: Call = { method: 'PUT', path: docPath(doc.id), query: { new_edits: 'false' }, headers, body };
  const { status, value } = await connection.json(call);
  if (status === 201 || status === 202 || status === 200) return undefined;
  const failure = failureOf(doc, value, status);
  if (failure.error === 'missing_stub' && doc.carryingAll().carried.length > doc.carried.length)
    return await putWithAttachments(connection, doc.carryingAll());
  if (status < 400 || status >= 500) throw connection.unexpected(call, status, value);
  return failure;
}

function requestOf(doc: DocRevision, runtime: Runtime): Required<Pick<Call, 'headers' | 'body'>> {
  if (doc.carried.length === 0) {
    return {
      headers: { 'content-type': 'application/json' },
      body: () => doc.json(),
    };
  }
  const writer = new MultipartWriter('related', runtime.randomHex(16));
  const parts = partsOf(doc);
  const length = writer.length(parts);
  return {
    headers: { 'content-type': writer.contentType, 'content-length': String(length) },
    // What is known of the length is the sum of what documents say; a stream that says otherwise fails.
    body: () => writer.chunks(parts) as unknown as Dispatcher.DispatchOptions['body'],
  };
}

function partsOf(doc: DocRevision): OutgoingPart[] {
  const attachments = doc.carried.map(({ name, type, length, gzip, open }): OutgoingPart => ({
    headers: {
      'Content-Disposition': attachmentDisposition(name),
      'Content-Type': type,
      'Content-Length': length,
      'Content-Encoding': gzip ? 'gzip' : undefined,
    },
    content: { length, open: () => open() },
  }));
  return [{ headers: { 'Content-Type': 'application/json' }, text: doc.text() }, ...attachments];
}

/** The bytes of a stream, as many as were promised and no others. */
export async function* exactly(
  bytes: AsyncIterable<Buffer>,
  length: number,
  what: string,
): AsyncGenerator<Buffer> {
  let read = 0;
  try {
    for await (const chunk of bytes) {
      read += chunk.length;
      if (read > length) break;
      yield chunk;
    }
  } catch {
    throw new PeerFailure(`${what} broke off.`);
  }
  if (read !== length) throw new PeerFailure(`${what} did not have the length that its document says.`);
}
