import type { Bytes } from '../base/bytes.js';
import type { RowOptions, RowText } from './change-rows.js';
import type { Choice } from './choose-changes.js';

/** What stands before and behind each row. */
export interface Framing {
  before: Bytes;
  /** `seq` is JSON. */
  after: (seq: Bytes) => Bytes;
}

/** The ends of a short row. */
export interface PlainFraming {
  /** Up to the sequence. */
  opening: Bytes;
  /** Behind the hash of the revision. */
  end: Bytes;
  deletedEnd: Bytes;
}

/** What a feed shows, and how. */
export interface ChangesView extends RowOptions, Choice {
  row: RowText;
  framing: Framing;
  /** Set where rows have no documents, and their ends no sequences: such rows have a short way. */
  plain: PlainFraming | undefined;
  /** With the documents: the bytes of their attachments. */
  attachments: boolean;
  /** Every so many rows have a sequence, the others null. */
  seqInterval: number;
  /** The first row that has one; rows are counted from 0. */
  seqFirst: number;
}
