import type { Runtime } from '../base/runtime.js';
import { fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { badRequest, RequestError } from '../base/errors.js';
import { canonicalBody } from '../json/canonical.js';
import { scanInSteps } from '../json/scan-steps.js';
import { settleInSteps } from '../json/settle.js';
import { unsettled } from '../json/walker.js';
import { parseValue, type Member, type ScannedObject, type ScannedValue } from '../json/scan.js';
import { legalId } from '../shard/doc-id.js';
import type { AttachmentInput, DocumentInput } from '../shard/document-input.js';
import { readAttachments, readAttachmentsInSteps } from './attachments/attachment-input.js';
import { parseHash, parseRev } from '../revisions/rev.js';
import type { RevPath } from '../revisions/tree.js';

export interface InputLimits {
  document_bytes_max: number;
  id_bytes_max: number;
}

/** Larger texts are read in slices: `readLargeDocument`. */
export const largeDocumentBytes = 1024 * 1024;

/** Of a value that takes more than this many times what a document may have, not even the end is looked for. */
const slackFactor = 2;

/** Reads one document of a large text, without keeping others waiting. */
export async function readLargeDocument(
  bytes: Buffer,
  limits: InputLimits,
  runtime: Runtime,
): Promise<DocumentInput> {
  const tooLarge = (): RequestError => new RequestError('document_too_large', '');
  const slice = runtime.slice();
  const scanned = await slice.finish(
    scanInSteps(bytes, slackFactor * limits.document_bytes_max, '_attachments', tooLarge),
  );
  if (scanned.kind !== 'object') return readDocument(scanned, limits);
  const isUnsettled = (scanned.flags & unsettled) !== 0;
  const body = isUnsettled ? await slice.finish(settleInSteps(scanned, isDropped)) : undefined;
  const named = scanned.special.find(({ name }) => name === '_attachments');
  if (named === undefined) return readDocument(scanned, limits, body);
  const value = bytes.subarray(named.valueStart, named.valueEnd);
  return readDocument(scanned, limits, body, await slice.finish(readAttachmentsInSteps(value)));
}

/** Reads one document out of scanned text. What is wrong with it is refused by name. */
export function readDocument(
  scanned: ScannedValue,
  limits: InputLimits,
  body?: Bytes,
  attachments?: AttachmentInput[],
): DocumentInput {
  if (scanned.kind !== 'object') throw badRequest('Document must be a JSON object');
  const input: DocumentInput = {
    id: undefined,
    rev: undefined,
    revisions: undefined,
    deleted: false,
    attachments,
    body: noBytes,
  };
  for (const member of scanned.special) readSpecial(input, scanned, member, limits);
  input.body = body ?? canonicalBody(scanned, isDropped);
  if (input.body.length > limits.document_bytes_max) {
    throw new RequestError('document_too_large', fromBytes(input.id ?? noBytes));
  }
  return input;
}

/** Members that a read may have added; clients send them back, and they mean nothing. */
const ignored = new Set(['_revs_info', '_local_seq', '_conflicts', '_deleted_conflicts']);
/** Members with an underscore that belong to the document all the same. */
const kept = new Set([
  '_access',
  '_replication_id',
  '_replication_state',
  '_replication_state_time',
  '_replication_state_reason',
  '_replication_stats',
]);
const isDropped = (name: string): boolean => name.startsWith('_') && !kept.has(name);

function readSpecial(
  input: DocumentInput,
  { bytes }: ScannedObject,
  member: Member,
  limits: InputLimits,
): void {
  const { name, valueStart, valueEnd } = member;
  if (kept.has(name) || ignored.has(name)) return;
  if (name === '_attachments') {
    input.attachments ??= readAttachments(bytes.subarray(valueStart, valueEnd));
    return;
  }
  // What is large is none of these, and is not parsed to find that out. Ids have a limit of their own.
  if (valueEnd - valueStart > specialBytesMax && !(name === '_id' && bytes[valueStart] === 0x22))
    throw new RequestError('doc_validation', `The member ${name.slice(0, 100)} is too large.`);
  if (name === '_revisions') {
    input.revisions =
      plainRevisions(bytes.latin1Slice(valueStart, valueEnd)) ??
      readRevisions(parseValue(bytes, valueStart, valueEnd));
    // It counts in place of a revision that was named before, also where it says that there is none.
    if (input.revisions === undefined) input.rev = undefined;
    return;
  }
  const plain = plainString(bytes, valueStart, valueEnd);
  const value = plain === undefined ? parseValue(bytes, valueStart, valueEnd) : undefined;
  switch (name) {
    case '_id':
      if (plain === undefined && typeof value !== 'string')
        throw new RequestError('illegal_docid', 'Document id must be a string');
      input.id = legalId(plain ?? toBytes((value as string).toWellFormed()), limits.id_bytes_max);
      return;
    case '_rev':
      if (plain === undefined && typeof value !== 'string') throw badRequest('Invalid rev format');
      input.rev = parseRev(plain === undefined ? (value as string) : fromBytes(plain));
      return;
    case '_deleted':
      if (typeof value !== 'boolean')
        throw new RequestError('doc_validation', 'Bad special document member: _deleted');
      input.deleted = value;
      return;
    default:
      throw new RequestError('doc_validation', `Bad special document member: ${name}`);
  }
}

/** A history of tens of thousands of revisions fits. */
const specialBytesMax = 4 * 1024 * 1024;

/** A string without escapes is its own UTF-8: ids and revisions hardly ever are anything else. */
function plainString(bytes: Buffer, start: number, end: number): Bytes | undefined {
  if (bytes[start] !== 0x22) return undefined;
  const text = bytes.latin1Slice(start + 1, end - 1);
  return text.includes('\\') ? undefined : text;
}

/** Histories in the usual form, hash after hash. */
function plainRevisions(text: Bytes): RevPath | undefined {
  const [found, start, ids] = (text.length <= plainRevisionsMax && usualRevisions.exec(text)) || [];
  if (found === undefined || ids!.length > Number(start) * quotedHashLength) return undefined;
  const hashes: string[] = [];
  for (let at = 1; at < ids!.length; at += quotedHashLength) hashes.push(ids!.slice(at, at + 32));
  return { start: Number(start), hashes };
}

const usualRevisions = /^\{"start":(\d{1,9}),"ids":\[((?:"[0-9a-f]{32}",)*"[0-9a-f]{32}")\]\}$/;
/** Longer ones are left to the general parser. */
const plainRevisionsMax = 64 * 1024;
/** With its quotation marks and the comma behind it. */
const quotedHashLength = 35;

/** A history without ids is that of a new document. */
function readRevisions(value: unknown): RevPath | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RequestError('doc_validation', 'Bad special document member: _revisions');
  const { start, ids } = value as { start?: unknown; ids?: unknown };
  if (typeof start !== 'number' || !Number.isSafeInteger(start) || start < 0) {
    throw new RequestError('doc_validation', "_revisions.start isn't an integer.");
  }
  if (!Array.isArray(ids)) throw new RequestError('doc_validation', "_revisions.ids isn't a array.");
  const hashes = ids.map((id) => {
    if (typeof id !== 'string') throw new RequestError('doc_validation', "RevId isn't a string");
    if (id.length === 32 && !/^[0-9a-f]*$/i.test(id))
      throw new RequestError('doc_validation', "RevId isn't a valid hexadecimal");
    return parseHash(id);
  });
  // Generation 0 is that of local documents: CouchDB's replicator sends the history of its checkpoints too.
  if (hashes.length === 0) return undefined;
  // There is nothing below the first generation.
  return { start, hashes: hashes.slice(0, Math.max(1, start)) };
}
