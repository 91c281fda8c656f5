import type { Bytes } from '../base/bytes.js';
import type { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Rev } from '../revisions/rev.js';
import type { NamedInput } from '../shard/document-input.js';
import type { Database } from './database.js';

/**
 * Decides what may be saved: rights, rules of the users database, validation functions. Gates are called before the
 * command is made, since they may take long and commands must not depend on anything outside them.
 */
export interface SaveGate {
  /** Whether the gate applies to a document. Called for each one, so it has to be fast; never for local documents. */
  concerns(database: Database, id: Bytes): boolean;
  /** Whether it is asked to admit local documents. Nothing else is asked about them. */
  concernsLocal?(database: Database): boolean;
  /** An error for users who may not even learn whether the document is in conflict. Called before it is looked up. */
  admit?(database: Database, input: NamedInput, user: UserContext): RequestError | undefined;
  /**
   * Gives the document as it is to be saved, changed or not, or throws a `RequestError` for it. Never asked for a document
   * that is in conflict, nor for a replicated revision that is there already. Attachments are in their place by now:
   * `input.body` is the content with them (`shard/content.ts`).
   */
  check?(database: Database, input: NamedInput, context: GateContext): NamedInput | Promise<NamedInput>;
  /** The same for documents of one request together, where that is cheaper: refusals stand in the result. */
  checkAll?(
    database: Database,
    docs: readonly GatedDoc[],
    user: UserContext,
  ): Promise<(NamedInput | RequestError)[]>;
  /** Something that is different when the gate may judge these documents differently; they pass again then. */
  stamp?(database: Database, inputs: readonly NamedInput[]): unknown;
  /** Of the functions that it judges by: commands carry it, and are not applied where it is not the one that the group knows. */
  digest?(database: Database): Bytes;
}

/** A document on its way, and the revision that it continues. */
export interface GatedDoc {
  input: NamedInput;
  previous: PreviousRev | undefined;
}

export interface GateContext {
  user: UserContext;
  newEdits: boolean;
  /** The revision that the document continues. None for a new document, nor for one that recreates a deleted one. */
  previous: PreviousRev | undefined;
}

export interface PreviousRev {
  rev: Rev;
  deleted: boolean;
  /** Its text and attachments, see `shard/content.ts`. */
  content: Bytes;
}
