import type { Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Database } from './database.js';

/**
 * What somebody may see of a document: its content (`shard/content.ts`) whole or with members left out, or the reason
 * why nothing is shown.
 */
export type Show = (id: Bytes, content: Bytes) => Bytes | RequestError;

/** Somebody with a say in who sees what of a database. */
export interface ReadGate {
  /** Undefined where this user sees everything, as nearly always; asked for every read, so it has to be quick. */
  showFor(database: Database, user: UserContext): Show | undefined;
}

/** The one that stands before a database for this user; undefined where nothing is hidden. */
export function showFor(gates: readonly ReadGate[], database: Database, user: UserContext): Show | undefined {
  for (const gate of gates) {
    const show = gate.showFor(database, user);
    if (show !== undefined) return show;
  }
  return undefined;
}

/** Refuses who may not see a document of that id, however it looks: for what is made of design documents. */
export function checkVisible(show: Show | undefined, id: Bytes): void {
  shown(show, id, '{}');
}

/** The content as it may be seen; refuses where it may not be. */
export function shown(show: Show | undefined, id: Bytes, content: Bytes): Bytes {
  if (show === undefined) return content;
  const visible = show(id, content);
  if (visible instanceof RequestError) throw visible;
  return visible;
}
