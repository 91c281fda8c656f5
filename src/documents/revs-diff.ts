import type { Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { compareRevs, type Rev } from '../revisions/rev.js';
import { missing, possibleAncestors } from '../revisions/tree.js';
import type { Database } from '../node/database.js';
import type { Show } from '../node/read-gate.js';

export interface RevsDiff {
  missing: readonly Rev[];
  possibleAncestors: readonly Rev[];
}

const none: readonly Rev[] = [];

/**
 * Which of the named revisions of a document are not here, and which leaves they may descend from. Refuses an id that no
 * document of the database can have, so that replicators get the error before they send anything. A document that `show`
 * hides is as if it were not there.
 */
export function revsDiff(database: Database, id: Bytes, revs: readonly Rev[], show?: Show): RevsDiff {
  database.checkPlace(id);
  if (show !== undefined && isHidden(database, id, show)) return { missing: revs, possibleAncestors: none };
  // Of a document that is deleted at this very moment, revisions may be asked for in vain; they do no harm.
  const tree = database.collection.treeOnce(id);
  if (tree === undefined) return { missing: revs, possibleAncestors: none };
  const absent = missing(tree, revs).sort(compareRevs);
  return { missing: absent, possibleAncestors: absent.length === 0 ? none : possibleAncestors(tree, absent) };
}

function isHidden(database: Database, id: Bytes, show: Show): boolean {
  const found = database.collection.winner(id);
  if (found === undefined) return false;
  return show(id, database.collection.winnerBody(database.shardOf(id), found)) instanceof RequestError;
}
