import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  noBytes,
  toBytes,
  type Bytes,
} from '../base/bytes.js';

/** An attachment of one revision. The bytes themselves are a blob, addressed by its digest. */
export interface Attachment {
  name: string;
  type: string;
  /** The generation of the revision that brought it. */
  revpos: number;
  /** MD5 of the stored bytes, in base64: what clients call its digest. */
  md5: string;
  /** Of the plain bytes. */
  length: number;
  /** Of the stored bytes; differs where they are compressed. */
  storedLength: number;
  gzip: boolean;
  /** SHA-256 of the stored bytes, in hex: where they are kept. */
  blob: string;
}

/**
 * What is kept of a revision: its JSON text and, before it, its attachments if it has any.
 *
 *   {…}                                          without attachments: the text alone, which begins with a brace
 *   \x01 length(varint) attachments(JSON) {…}    with attachments
 *
 * So the many documents without attachments pay nothing for them.
 */
const mark = '\x01';

type Row = [
  name: string,
  type: string,
  revpos: number,
  md5: string,
  length: number,
  storedLength: number,
  gzip: 0 | 1,
  blob: string,
];

export function encodeContent(attachments: readonly Attachment[], body: Bytes): Bytes {
  if (attachments.length === 0) return body;
  const rows = attachments.map(({ name, type, revpos, md5, length, storedLength, gzip, blob }): Row => [
    name,
    type,
    revpos,
    md5,
    length,
    storedLength,
    gzip ? 1 : 0,
    blob,
  ]);
  return asBytes(mark + lengthPrefixed(toBytes(JSON.stringify(rows))) + body);
}

export const hasAttachments = (content: Bytes): boolean => content.charCodeAt(0) === 1;

export function splitContent(content: Bytes): { attachments: Attachment[]; body: Bytes } {
  if (!hasAttachments(content)) return { attachments: [], body: content };
  const reader = new ByteReader(content);
  reader.at = 1;
  const rows = JSON.parse(fromBytes(reader.take(reader.varint()))) as Row[];
  const attachments = rows.map(([name, type, revpos, md5, length, storedLength, gzip, blob]) => ({
    name,
    type,
    revpos,
    md5,
    length,
    storedLength,
    gzip: gzip === 1,
    blob,
  }));
  return { attachments, body: reader.rest() };
}

export const attachmentsOf = (content: Bytes): Attachment[] =>
  hasAttachments(content) ? splitContent(content).attachments : [];

/** What of the attachments makes the revision the one it is: not where they are kept, nor since when. */
export function attachmentsIdentity(attachments: readonly Attachment[]): Bytes {
  if (attachments.length === 0) return noBytes;
  return toBytes(JSON.stringify(attachments.map(({ name, type, md5, length }) => [name, type, md5, length])));
}
