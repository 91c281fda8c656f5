import { asBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Database } from './database.js';

/**
 * What a user may see of a document: its content (`shard/content.ts`), whole or with members left out, or the reason why
 * nothing is shown.
 */
export type Show = (id: Bytes, content: Bytes) => Bytes | RequestError;

/** Decides which users see what of a database. */
export interface ReadGate {
  /** Undefined where this user sees everything, as nearly always; asked for every read, so it has to be quick. */
  showFor(database: Database, user: UserContext): Show | undefined;
}

/** The first gate's filter for this user; undefined if nothing is hidden. */
export function showFor(gates: readonly ReadGate[], database: Database, user: UserContext): Show | undefined {
  for (const gate of gates) {
    const show = gate.showFor(database, user);
    if (show !== undefined) return show;
  }
  return undefined;
}

/** Throws if the user may not see a document of that id, whatever its content: for what is made of design documents. */
export function checkVisible(show: Show | undefined, id: Bytes): void {
  shown(show, id, asBytes('{}'));
}

/** The content as it may be seen; refuses where it may not be. */
export function shown(show: Show | undefined, id: Bytes, content: Bytes): Bytes {
  if (show === undefined) return content;
  const visible = show(id, content);
  if (visible instanceof RequestError) throw visible;
  return visible;
}
