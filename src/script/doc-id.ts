import { fromBytes, type Bytes } from '../base/bytes.js';

/** The id of a document, for messages. */
export function idOf(doc: Bytes): string {
  return String((JSON.parse(fromBytes(doc)) as { _id?: unknown })._id);
}
