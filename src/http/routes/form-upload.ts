import { asBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import { checkDbAdmin } from '../../auth/rights.js';
import { openDoc } from '../../documents/open-doc.js';
import { readDocument } from '../../documents/read-document.js';
import { saveDoc } from '../../documents/save-docs.js';
import { scanDocument } from '../../json/scan.js';
import type { Database } from '../../node/database.js';
import { parseRev } from '../../revisions/rev.js';
import { splitContent } from '../../shard/content.js';
import { isDesignId, knownId } from '../../shard/doc-id.js';
import { plainInput, type DocumentInput, type NamedInput } from '../../shard/document-input.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import { etagOf } from '../answer/document-answer.js';
import type { Exchange } from '../exchange.js';
import { inputLimits, writableId } from '../request/edit-request.js';
import { readForm, type DocumentForm } from '../request/form-document.js';

/**
 * POST of an HTML form to a document: a new revision from the field `_doc`, or the revision named by `_rev` with more
 * attachments. Browsers send forms to other sites without asking, so the page must be one of this server.
 */
export async function postForm(exchange: Exchange, database: Database, id: Bytes): Promise<void> {
  checkReferer(exchange);
  const docid = writableId(exchange, database, id);
  if (isDesignId(id)) checkDbAdmin(exchange.user, database.security);
  const form = await readForm(exchange);
  const input =
    form.doc === undefined ? storedInput(exchange, database, id, form) : sentInput(exchange, form.doc);
  const { registry } = exchange.services;
  const named: NamedInput = { ...input, id: docid, attachments: withFiles(input, form) };
  const rev = await saveDoc(registry, database, named, { user: exchange.user, newEdits: true });
  exchange.text(201, asBytes(`{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(rev)}}`), {
    ETag: etagOf(rev),
  });
}

function checkReferer(exchange: Exchange): void {
  const referer = exchange.header('referer');
  if (referer === undefined) throw badRequest('Referer header required.');
  const host = exchange.services.policy.hostOf(exchange.request);
  if (!URL.canParse(referer) || new URL(referer).host !== host)
    throw badRequest('Referer header must match host.');
}

const sentInput = (exchange: Exchange, doc: Buffer): DocumentInput =>
  readDocument(scanDocument(doc), inputLimits(exchange));

function storedInput(exchange: Exchange, database: Database, id: Bytes, form: DocumentForm): DocumentInput {
  if (form.rev === undefined) throw badRequest('The form has neither `_doc` nor `_rev`.');
  const rev = parseRev(form.rev);
  const show = exchange.services.registry.showFor(database, exchange.user);
  const { attachments, body } = splitContent(openDoc(database, id, { rev, show }).content);
  const stubs = attachments.map(({ name }) => ({ name, revpos: undefined, kind: 'stub' }) as const);
  return { ...plainInput(knownId(id), rev, body), attachments: stubs };
}

/** A file takes the place of an attachment of the same name. */
function withFiles({ attachments = [] }: DocumentInput, form: DocumentForm): DocumentInput['attachments'] {
  const files = new Set(form.attachments.map(({ name }) => name));
  return [...form.attachments, ...attachments.filter(({ name }) => !files.has(name))];
}
