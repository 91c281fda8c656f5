import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { missing, possibleAncestors } from '../revisions/tree.js';
import type { Database } from './database.js';

export interface RevsDiff {
  missing: Rev[];
  possibleAncestors: Rev[];
}

/**
 * Which of the named revisions of a document are not here, and which leaves they may descend from. Refuses an id that no
 * document of the database can have, so that who replicates hears of it before sending anything.
 */
export function revsDiff(database: Database, id: Bytes, revs: readonly Rev[]): RevsDiff {
  database.checkId(id);
  const doc = database.collection.docOnce(id);
  if (doc === undefined) return { missing: [...revs], possibleAncestors: [] };
  const absent = missing(doc.tree, revs);
  return {
    missing: absent,
    possibleAncestors: absent.length === 0 ? [] : possibleAncestors(doc.tree, absent),
  };
}
