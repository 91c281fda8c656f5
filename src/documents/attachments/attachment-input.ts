import { badRequest, RequestError } from '../../base/errors.js';
import type { AttachmentInput } from '../../shard/document-input.js';
import { parseValue, scanBulk } from '../../json/scan.js';

const defaultType = 'application/octet-stream';

/** Reads them in the order of the text, which is that of the parts behind it: objects would put numbers first. */
export function readAttachments(bytes: Buffer): AttachmentInput[] {
  const scanned = scanBulk(bytes, '');
  if (scanned === undefined)
    throw new RequestError('doc_validation', 'Bad special document member: _attachments');
  return scanned.members.flatMap(({ name, valueStart, valueEnd }) => {
    const entry = parseValue(bytes, valueStart, valueEnd);
    // As in CouchDB, what is no object is left out.
    const isEntry = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    return isEntry ? [readAttachment(name.toWellFormed(), entry as Record<string, unknown>)] : [];
  });
}

/** What fits into the address of a request with every byte escaped. */
const attachmentNameBytesMax = 16_384;

export function checkAttachmentName(name: string): void {
  if (name === '') throw badRequest('Attachment name must not be empty');
  if (name.startsWith('_'))
    throw badRequest(`Attachment name '${name}' starts with prohibited character '_'`);
  if (Buffer.byteLength(name) > attachmentNameBytesMax)
    throw badRequest(`Attachment name is longer than ${attachmentNameBytesMax} bytes`);
}

function readAttachment(name: string, entry: Record<string, unknown>): AttachmentInput {
  checkAttachmentName(name);
  const {
    stub,
    follows,
    data,
    content_type: type = defaultType,
    revpos,
    encoding,
    encoded_length: encodedLength,
    digest,
    length,
  } = entry as Record<string, unknown>;
  if (typeof type !== 'string' || /[\0-\x1f\x7f]/.test(type))
    throw badRequest(`Invalid content type of attachment ${name}`);
  const base = { name, revpos: readRevpos(name, revpos) };
  if (stub === true) return { ...base, kind: 'stub' };
  if (follows === true)
    return {
      ...base,
      kind: 'follows',
      type,
      gzip: readEncoding(name, encoding),
      md5: typeof digest === 'string' ? digest.replace(/^md5-/, '') : undefined,
      length: typeof length === 'number' ? length : undefined,
      encodedLength: typeof encodedLength === 'number' ? encodedLength : undefined,
    };
  if (typeof data !== 'string') throw badRequest(`Invalid attachment data for ${name}`);
  // Plain bytes, whatever `encoding` says: a document that was read with `att_encoding_info` names the one of the store.
  return { ...base, kind: 'data', type, data: decodeBase64(name, data) };
}

/** Whether the bytes come gzipped. */
function readEncoding(name: string, encoding: unknown): boolean {
  if (encoding === 'gzip') return true;
  if (encoding === undefined || encoding === 'identity') return false;
  throw badRequest(`Attachment ${name} has an encoding other than gzip and identity`);
}

function readRevpos(name: string, revpos: unknown): number | undefined {
  if (revpos === undefined) return undefined;
  if (typeof revpos !== 'number' || !Number.isSafeInteger(revpos) || revpos < 0)
    throw badRequest(`Invalid revpos of attachment ${name}`);
  return revpos;
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 with its own alphabet; white space between the characters is passed over. */
function decodeBase64(name: string, text: string): Buffer {
  let plain = text;
  if (!base64.test(plain)) {
    plain = text.replace(/\s+/g, '');
    if (!base64.test(plain)) throw badRequest(`Invalid attachment data for ${name}`);
  }
  if (plain.length % 4 !== 0) throw badRequest(`Invalid attachment data for ${name}`);
  return Buffer.from(plain, 'base64');
}

export const missingStub = (id: string, name: string): RequestError =>
  new RequestError('missing_stub', `Invalid attachment stub in ${id} for ${name}`);
