import { hash } from 'node:crypto';
import { isRawHash, type Rev } from './rev.js';

/** What makes a revision the one it is. Texts are byte strings: one character for each byte of the UTF-8. */
export type Edit = {
  readonly deleted: boolean;
  readonly parent?: Rev | undefined;
  readonly body: string;
  /** Whatever identifies the attachments: names, types, digests, in an order the caller keeps. */
  readonly attachments?: string | undefined;
};

/**
 * The hash of a new revision: MD5 over the edit, so that the same edit made on two replicas is the same revision and
 * no conflict. Each part is preceded by its length, since otherwise a body could end like another's attachments.
 * Changing this text breaks nothing that is stored, but from then on equal edits by old and new servers conflict.
 */
export function newRevHash({ deleted, parent, body, attachments = '' }: Edit): string {
  const parentHash = parent === undefined ? '' : byteString(parent.hash);
  const head = `${deleted ? 1 : 0},${parent?.pos ?? 0},${parentHash.length},${body.length},${attachments.length}:`;
  return hash('md5', Buffer.from(head + parentHash + body + attachments, 'latin1'), 'hex');
}

const byteString = (text: string): string => (isRawHash(text) ? text : Buffer.from(text).toString('latin1'));
