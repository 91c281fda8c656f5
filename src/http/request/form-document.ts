import { RequestError } from '../../base/errors.js';
import { boundaryOf, fieldOf, filenameOf } from '../../base/multipart/content-headers.js';
import { readMultipart, type Part } from '../../base/multipart/multipart-reader.js';
import { checkAttachmentName } from '../../documents/attachments/attachment-input.js';
import type { AttachmentInput } from '../../shard/document-input.js';
import type { Exchange } from '../exchange.js';
import { bodyProblem, openBody } from './body.js';
import { PartsInMemory } from './parts-in-memory.js';

/** A form is read into memory; larger attachments have requests of their own. */
const formBytesMax = 64 * 1024 * 1024;

/** The fields of a form that HTML pages send to a document. */
export interface DocumentForm {
  /** The text of `_doc`: the document. */
  doc: Buffer | undefined;
  /** The text of `_rev`: the revision that attachments are added to. */
  rev: string | undefined;
  /** The files of `_attachments`. */
  attachments: AttachmentInput[];
}

/** Reads a `multipart/form-data` body. Fields of other names are ignored. */
export async function readForm(exchange: Exchange): Promise<DocumentForm> {
  const type = exchange.header('content-type') ?? '';
  if (!/^\s*multipart\/form-data\b/i.test(type))
    throw new RequestError('bad_content_type', 'Content-Type must be multipart/form-data');
  const form: DocumentForm = { doc: undefined, rev: undefined, attachments: [] };
  const tooLarge = `A form may have ${formBytesMax} bytes at most.`;
  const reader = new PartsInMemory(exchange.bodyShare, formBytesMax, tooLarge);
  try {
    for await (const part of readMultipart(
      openBody(exchange.request, exchange.bodyBytesMax),
      boundaryOf(type),
    ))
      addField(form, part, await reader.read(part));
  } catch (error) {
    throw bodyProblem(error);
  }
  reader.end();
  return form;
}

function addField(form: DocumentForm, { headers }: Part, bytes: Buffer): void {
  const name = fieldOf(headers);
  if (name === '_doc') form.doc = bytes;
  if (name === '_rev') form.rev = bytes.toString('utf8').trim();
  const file = filenameOf(headers);
  if (name !== '_attachments' || file === undefined || file === '') return;
  checkAttachmentName(file);
  const type = headers.get('content-type') ?? 'application/octet-stream';
  form.attachments.push({ name: file, revpos: undefined, kind: 'data', type, data: bytes });
}
