import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { splitContent, type Attachment } from '../shard/content.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { attachmentEntry, docText, type EntryForm } from '../shard/doc-text.js';
import type { OpenedDoc } from './open-doc.js';
import { readPlain } from './attachments/read-attachment.js';

/** Which attachments of a document are shown with their bytes. */
export interface DataWanted {
  /** Those that came after this generation. */
  after: number;
  encodingInfo: boolean;
}

export const isWanted = (attachment: Attachment, { after }: DataWanted): boolean => attachment.revpos > after;

/**
 * A document as JSON whose attachments carry their bytes as base64, piece by piece, behind what goes `before` it. Holds
 * the attachments until it has ended or is left.
 */
export async function* docPieces(
  registry: DatabaseRegistry,
  database: Database,
  doc: OpenedDoc,
  wanted: DataWanted,
  before: Bytes = noBytes,
): AsyncGenerator<Bytes> {
  const { attachments } = splitContent(doc.content);
  const release = await registry.pins.hold(
    database,
    attachments.filter((each) => isWanted(each, wanted)),
  );
  try {
    yield* heldPieces(registry, database, doc, wanted, before);
  } finally {
    release();
  }
}

async function* heldPieces(
  registry: DatabaseRegistry,
  database: Database,
  doc: OpenedDoc,
  wanted: DataWanted,
  before: Bytes,
): AsyncGenerator<Bytes> {
  const { attachments, body } = splitContent(doc.content);
  const whole = docText(doc.id, doc.rev, body, asBytes(`${doc.extra},"_attachments":{`));
  // The text ends with the brace of the document, behind which there is nothing: it comes last.
  let text = before + whole.slice(0, -1);
  let separator = '';
  for (const attachment of attachments) {
    if (!isWanted(attachment, wanted)) {
      text += separator + attachmentEntry(attachment, 'stub', wanted.encodingInfo);
    } else {
      const entry = attachmentEntry(attachment, 'data', wanted.encodingInfo);
      const [head, tail] = entry.split(dataMark) as [Bytes, Bytes];
      yield asBytes(text + separator + head);
      yield* base64(await readPlain(registry, database, doc.id, attachment));
      text = tail;
    }
    separator = ',';
  }
  yield asBytes(`${text}}}`);
}

/** Stands in an entry where the bytes go. No JSON text holds it. */
const dataMark = '\0';

async function* base64(chunks: AsyncIterable<Buffer>): AsyncGenerator<Bytes> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = Buffer.from(bytes.subarray(whole));
    if (whole > 0) yield asBytes(bytes.toString('base64', 0, whole));
  }
  if (rest.length > 0) yield asBytes(rest.toString('base64'));
}

/** The document's text with the wanted attachments announced as following. */
export const followingText = (doc: OpenedDoc, wanted: DataWanted): Bytes => textWith(doc, wanted, 'follows');

/** The text of a document whose wanted attachments are all empty, with their bytes, of which there are none. */
export const emptyDataText = (doc: OpenedDoc, wanted: DataWanted): Bytes => textWith(doc, wanted, 'data');

function textWith(doc: OpenedDoc, wanted: DataWanted, wantedForm: EntryForm): Bytes {
  const { attachments, body } = splitContent(doc.content);
  const entries = attachments.map((each): Bytes => {
    const form: EntryForm = isWanted(each, wanted) ? wantedForm : 'stub';
    return asBytes(attachmentEntry(each, form, wanted.encodingInfo).replace(dataMark, ''));
  });
  return docText(doc.id, doc.rev, body, asBytes(`${doc.extra},"_attachments":{${entries.join(',')}}`));
}
