import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { RevPath } from '../revisions/tree.js';
import type { DocId, LegalId } from './doc-id.js';

/** An attachment as a document names it: with its bytes, as one the document has already, or as one that follows. */
export type AttachmentInput = { name: string; revpos: number | undefined } & (
  | { kind: 'data'; type: string; data: Buffer }
  | {
      kind: 'follows';
      type: string;
      gzip: boolean;
      md5: string | undefined;
      length: number | undefined;
      encodedLength: number | undefined;
    }
  | { kind: 'stub' }
);

/** A document as a client sent it: its own members as canonical text, the service's as values. */
export interface DocumentInput {
  id: LegalId | undefined;
  rev: Rev | undefined;
  revisions: RevPath | undefined;
  deleted: boolean;
  /** Undefined where the document names none. */
  attachments: AttachmentInput[] | undefined;
  body: Bytes;
}

/** A document with an id that is still to be checked. */
export type SentInput = Omit<DocumentInput, 'id'> & { id: Bytes };

/** A document with an id, ready to be saved. */
export type NamedInput = DocumentInput & { id: DocId };

/** A revision that the server makes, without attachments to be read. */
export const plainInput = (
  id: DocId,
  rev: Rev | undefined,
  body: Bytes,
  deleted: boolean = false,
): NamedInput => ({ id, rev, revisions: undefined, deleted, attachments: undefined, body });
