import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { missing, possibleAncestors } from '../revisions/tree.js';
import type { Database } from './database.js';

export interface RevsDiff {
  missing: readonly Rev[];
  possibleAncestors: readonly Rev[];
}

const none: readonly Rev[] = [];

/**
 * Which of the named revisions of a document are not here, and which leaves they may descend from. Refuses an id that no
 * document of the database can have, so that who replicates hears of it before sending anything.
 */
export function revsDiff(database: Database, id: Bytes, revs: readonly Rev[]): RevsDiff {
  database.checkId(id);
  // Of a document that is deleted at this very moment, revisions may be asked for in vain; they do no harm.
  const tree = database.collection.treeOnce(id);
  if (tree === undefined) return { missing: revs, possibleAncestors: none };
  const absent = missing(tree, revs);
  return { missing: absent, possibleAncestors: absent.length === 0 ? none : possibleAncestors(tree, absent) };
}
