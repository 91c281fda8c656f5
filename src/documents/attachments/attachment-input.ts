import { badRequest, RequestError } from '../../base/errors.js';
import type { AttachmentInput } from '../../shard/document-input.js';
import { membersInSteps } from '../../json/scan-steps.js';
import { parseValue, scanBulk, type Member } from '../../json/scan.js';

const defaultType = 'application/octet-stream';

/** Reads them in the order of the text, which is that of the parts behind it: objects would put numbers first. */
export function readAttachments(bytes: Buffer): AttachmentInput[] {
  return membersOf(bytes).flatMap(({ name, valueStart, valueEnd }) =>
    readEntry(name, parseValue(bytes, valueStart, valueEnd)),
  );
}

const stepEntries = 256;
/** Entries from this size on are not parsed with their data, which is decoded in steps. */
const largeEntryBytes = 256 * 1024;

/** The same in small steps, for large documents. */
export function* readAttachmentsInSteps(bytes: Buffer): Generator<void, AttachmentInput[]> {
  const attachments: AttachmentInput[] = [];
  const members = checkedMembers(yield* membersInSteps(bytes));
  for (const [at, { name, valueStart, valueEnd }] of members.entries()) {
    const value = bytes.subarray(valueStart, valueEnd);
    const large = value.length < largeEntryBytes ? undefined : yield* readLargeEntry(value);
    const entry = large?.entry ?? parseValue(value, 0, value.length);
    attachments.push(...readEntry(name, entry, large?.data));
    if (at % stepEntries === 0) yield;
  }
  return attachments;
}

const membersOf = (bytes: Buffer): readonly Member[] => checkedMembers(scanBulk(bytes, '')?.members);

function checkedMembers(members: readonly Member[] | undefined): readonly Member[] {
  if (members === undefined)
    throw new RequestError('doc_validation', 'Bad special document member: _attachments');
  return members;
}

/** As in CouchDB, what is no object is left out. */
function readEntry(name: string, entry: unknown, data?: Buffer): AttachmentInput[] {
  const isEntry = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
  return isEntry ? [readAttachment(name.toWellFormed(), entry as Record<string, unknown>, data)] : [];
}

/** An entry without its data, and the data. Undefined where those are anything but plain base64, or are not what is large. */
function* readLargeEntry(value: Buffer): Generator<void, { entry: unknown; data: Buffer } | undefined> {
  const member = (yield* membersInSteps(value))?.find(({ name }) => name === 'data');
  if (member === undefined || value[member.valueStart] !== quote) return undefined;
  yield;
  const data = yield* decodeInSteps(value.subarray(member.valueStart + 1, member.valueEnd - 1));
  if (data === undefined) return undefined;
  const rest = [value.subarray(0, member.valueStart + 1), value.subarray(member.valueEnd - 1)];
  const entry = Buffer.concat(rest);
  return { entry: parseValue(entry, 0, entry.length), data };
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

function readAttachment(name: string, entry: Record<string, unknown>, decoded?: Buffer): AttachmentInput {
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
  const base = { name, revpos: readRevpos(revpos) };
  if (stub === true) return { ...base, kind: 'stub' };
  if (typeof type !== 'string' || /[\0-\x1f\x7f]/.test(type))
    throw badRequest(`Invalid content type of attachment ${name}`);
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
  return { ...base, kind: 'data', type, data: decoded ?? decodeBase64(name, data) };
}

/** Whether the bytes come gzipped. */
function readEncoding(name: string, encoding: unknown): boolean {
  if (encoding === 'gzip') return true;
  if (encoding === undefined || encoding === 'identity') return false;
  throw badRequest(`Attachment ${name} has an encoding other than gzip and identity`);
}

/** Not a number where it cannot be one: no attachment is there since then. */
function readRevpos(revpos: unknown): number | undefined {
  if (revpos === undefined) return undefined;
  const isPosition = typeof revpos === 'number' && Number.isSafeInteger(revpos) && revpos >= 0;
  return isPosition ? revpos : Number.NaN;
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

const base64Only = /^[A-Za-z0-9+/]*$/;
/** Characters that are decoded in a step; a multiple of four. */
const stepCharacters = 256 * 1024;

/** Base64 without anything in between; undefined where it is not that. */
function* decodeInSteps(text: Buffer): Generator<void, Buffer | undefined> {
  if (text.length % 4 !== 0) return undefined;
  const data = Buffer.allocUnsafe((text.length / 4) * 3);
  let length = 0;
  for (let at = 0; at < text.length; at += stepCharacters) {
    const piece = text.latin1Slice(at, Math.min(at + stepCharacters, text.length));
    if (!(at + stepCharacters < text.length ? base64Only : base64).test(piece)) return undefined;
    length += data.write(piece, length, 'base64');
    yield;
  }
  return data.subarray(0, length);
}

const quote = 0x22;

export const missingStub = (id: string, name: string): RequestError =>
  new RequestError('missing_stub', `Invalid attachment stub in ${id} for ${name}`);
