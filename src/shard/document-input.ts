import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { RevPath } from '../revisions/tree.js';

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
  id: Bytes | undefined;
  rev: Rev | undefined;
  revisions: RevPath | undefined;
  deleted: boolean;
  /** Undefined where the document names none. */
  attachments: AttachmentInput[] | undefined;
  body: Bytes;
}

/** A document with an id, ready to be saved. */
export type NamedInput = DocumentInput & { id: Bytes };
