import { asBytes, type Bytes } from '../base/bytes.js';
import { rawName, rawValue } from '../json/raw-value.js';
import { splitContent } from './content.js';
import { isDesignId } from './doc-id.js';
import type { DocWriter, StoredDoc } from './stored-doc.js';

/**
 * Each group knows the digest of the database's validation functions, and an edit carries the digest of those that it was
 * checked against. Where they differ, `apply` answers `retry`, and the writer validates again: functions run before a command
 * is made, and may have changed when it is applied.
 *
 * A request that changes a function first sets its own token in every group. From then on no document is accepted that
 * was checked against the earlier functions. Then it changes the design document, by a command that carries the token:
 * a group accepts such a change in no other way. At last it sets the new digest, in every group that still has the
 * token. Design documents without validation functions need none of it.
 */
const tokenBytes = 17;

/** `random` are 16 bytes. A digest has another length. */
export const validatorsToken = (random: Bytes): Bytes => asBytes(`\x01${random}`);

const isToken = (value: Bytes): boolean => value.length === tokenBytes;

/** Whether a command with `given` may change validation functions of a group that knows `known`. */
export const mayChangeValidators = (given: Bytes | undefined, known: Bytes): boolean =>
  given === known && isToken(known);

const functionPath = [rawName('validate_doc_update', undefined)];

/** Whether the content of a design document has a validation function. */
const hasValidator = (content: Bytes): boolean =>
  rawValue(splitContent(content).body, functionPath)?.startsWith('"') === true;

/** Leaves of a design document that are looked at; one with more counts as one with a function. */
const leavesMax = 50;

/** Whether a design document has a validation function, in the winning revision or in one that may win. */
export function validates(writer: Pick<DocWriter, 'bodyOf'>, doc: StoredDoc | undefined): boolean {
  const leaves = doc?.tree.filter(({ leaf, deleted }) => leaf && !deleted) ?? [];
  return leaves.length > leavesMax || leaves.some((leaf) => hasValidator(writer.bodyOf(doc!, leaf)));
}

/** Whether an edit of a design document may change the validation functions. */
export const editValidates = (
  edit: { id: Bytes; deleted: boolean; body: Bytes },
  writer: Pick<DocWriter, 'bodyOf'>,
  old: StoredDoc | undefined,
): boolean => isDesignId(edit.id) && ((!edit.deleted && hasValidator(edit.body)) || validates(writer, old));
